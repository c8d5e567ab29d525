#include "tools/analysis/health/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "format/reader/chunk_span.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using format::LifecycleKind;

namespace {

using format::Index;
using format::kNone;
using format::Stream;
using format::StreamCounters;

constexpr size_t kMaxFindings = 100;
// Tolerance for the bytes of a row (docs/format/recording.md#rows), several times the expected error.
constexpr double kRowRounding = 3e-3;
// Maximum number of threads that were handling a point but do not appear in the recording.
constexpr uint64_t kSilentThreads = 64;

constexpr uint64_t StreamCounters::*kCounters[] = {&StreamCounters::candidates,  &StreamCounters::candidate_bytes,
                                                   &StreamCounters::points,      &StreamCounters::thinned,
                                                   &StreamCounters::committed,   &StreamCounters::written,
                                                   &StreamCounters::second_stage};

bool Fits(Index index, size_t size) { return index == kNone || index < size; }

uint64_t LostOf(const StreamCounters& counters, format::LossReason loss) {
  return counters.lost[static_cast<size_t>(loss)];
}

bool Apart(uint64_t a, uint64_t b, uint64_t slack) { return (a > b ? a - b : b - a) > slack; }

std::string Named(Stream stream, const std::string& sentence) { return TraitsOf(stream).prefix + sentence; }

using format::CensusRow;

// Compares sums of the same numbers, added in different orders.
bool Near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({std::abs(a), std::abs(b), 1.0}); }

struct CensusSums {
  format::CensusSum objects, bytes;
};

CensusSums SumOf(std::span<const CensusRow> rows) {
  CensusSums sums;
  for (const CensusRow& row : rows) {
    sums.objects += row.objects;
    sums.bytes += row.bytes;
  }
  return sums;
}

}  // namespace

// Block counters begin with the recording, which may have begun before this file.
Verification::Verification(const format::FileHeader& header) : header_(header), census_(header) {
  for (const Stream stream : format::kAllStreams) {
    streams_[stream].counters = header.start.counters[stream];
    lifecycle_events_.emplace_back(header, stream);
  }
}

void Verification::Find(uint64_t offset, std::string what) {
  if (findings_.size() < kMaxFindings) {
    findings_.push_back({offset, std::move(what)});
  } else {
    ++more_;
  }
}

void Verification::Look(const format::Block& block, const Recording& recording) {
  // After skipped bytes, and in salvaged blocks, counters do not continue those of the previous block.
  const auto gaps =
      static_cast<size_t>(std::ranges::count(recording.skipped(), false, &format::SkippedRange::repaired));
  const bool is_gap = gaps > gaps_before_;
  gaps_before_ = gaps;
  if (blocks_++ == 0 || block.chunk != chunk_) nodes_seen_ = frames_seen_ = 0;
  if (block.chunk < chunk_) Find(block.offset, fmt::format("chunk {} follows chunk {}", block.chunk, chunk_));
  chunk_ = block.chunk;
  // Salvaged blocks may be older than the last flush.
  if (block.end_ns < end_ns_ && !recording.salvage().ring_found) {
    Find(block.offset, fmt::format("flushed at {} ns, earlier than the previous block", block.end_ns));
  }
  end_ns_ = std::max(end_ns_, block.end_ns);
  LookAtNames(block);
  LookAtSamples(block);
  LookAtRows(block);
  for (const Stream stream : format::kAllStreams) LookAtStream(block, stream, is_gap);
  const auto find = [&](std::string what) { Find(block.offset, std::move(what)); };
  for (LifecycleCheck& of_stream : lifecycle_events_) {
    of_stream.Look(block, is_gap || recording.salvage().ring_found, find);
  }
  census_.Look(block, find);
}

void Verification::LookAtNames(const format::Block& block) {
  const format::Dictionaries& names = *block.dictionaries;
  threads_ = std::max(threads_, names.threads.size());
  bool right = true;
  for (; nodes_seen_ < names.stacks.size(); ++nodes_seen_) {
    const format::StackNode& node = names.stacks[nodes_seen_];
    right &= node.frame < names.frames.size() && (node.parent == kNone || node.parent < nodes_seen_);
  }
  for (; frames_seen_ < names.frames.size(); ++frames_seen_) {
    right &= Fits(names.frames[frames_seen_].method, names.methods.size());
  }
  if (!right) Find(block.offset, "the stack tree refers to entries outside the dictionaries");
}

void Verification::LookAtSamples(const format::Block& block) {
  const format::Dictionaries& names = *block.dictionaries;
  uint64_t last_ns = 0;
  std::vector<uint64_t> ids;
  for (const format::Sample& sample : block.samples) {
    const auto find = [&](const char* what) { Find(block.offset, fmt::format("sample {}: {}", sample.id, what)); };
    if (sample.time_ns < last_ns) find("earlier than the previous sample");
    last_ns = sample.time_ns;
    if (!std::isfinite(sample.weight) || !(sample.weight > 0)) find("invalid weight");
    if (!Fits(sample.class_id, names.classes.size())) find("class index out of range");
    if (!Fits(sample.thread, names.threads.size())) find("thread index out of range");
    if (!Fits(sample.stack, names.stacks.size())) find("stack index out of range");
    ids.push_back(sample.id);
  }
  std::ranges::sort(ids);
  if (std::ranges::adjacent_find(ids) != ids.end()) Find(block.offset, "the block has the same sample twice");
}

// All points of the block's intervals are in its rows, unless samples or rows were lost, which the block says. A
// recording may have no rows; one of limited size may stop having them.
void Verification::LookAtRows(const format::Block& block) {
  has_rows_ |= !block.rows.empty();
  if (!has_rows_ || (block.rows.empty() && (header_.max_samples > 0 || block.row_interval))) return;
  uint64_t points = 0, buffered = 0;
  double bytes = 0, weight = 0;
  bool has_all = true;
  for (const format::Row& row : block.rows) {
    points += row.points;
    bytes += row.bytes;
  }
  for (const format::Interval& interval : block.intervals) {
    const bool is_lost = interval.kept == 0 && interval.tau == 0;
    if (interval.stream != Stream::kAllocations || is_lost) continue;
    buffered += interval.buffered;
    has_all &= interval.kept == interval.buffered && interval.tau == 0;
  }
  for (const format::Window& window : block.windows) {
    if (window.point_lambda > 0) light_windows_.insert(window.id);
  }
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != Stream::kAllocations) continue;
    weight += sample.weight;
    // With few points, all may have been kept by chance. Their weights still exceed those of the rows.
    has_all &= !light_windows_.contains(sample.window);
  }
  if (points != buffered) {
    Find(block.offset,
         fmt::format("rows: {}, but the intervals have {}", CountOf(points, "point"), CountOf(buffered, "point")));
  } else if (has_all && std::abs(bytes - weight) > kRowRounding * weight) {
    Find(block.offset, fmt::format("rows: {:.0f} bytes, but the samples represent {:.0f}", bytes, weight));
  }
}

void Verification::LookAtStream(const format::Block& block, Stream stream, bool is_gap) {
  StreamState& state = streams_[stream];
  const format::StreamCap cap = header_.CapOf(stream);
  std::map<uint64_t, uint64_t> there;  // samples by interval
  uint64_t samples = 0;
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != stream) continue;
    ++samples;
    if (cap.interval_ns > 0) ++there[sample.time_ns / cap.interval_ns];
  }
  uint64_t kept = 0;
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != stream) continue;
    const auto find = [&](const std::string& what) {
      Find(block.offset, Named(stream, fmt::format("interval {}: {}", interval.index, what)));
    };
    if (state.any_interval && interval.index < state.next_interval) find("follows a later interval");
    state.next_interval = interval.index + 1;
    state.any_interval = true;
    if (interval.kept > interval.buffered) find("more samples kept than buffered");
    if (cap.interval_cap > 0 && interval.kept > cap.interval_cap) find("more samples kept than the cap allows");
    if (cap.interval_ns > 0 && there[interval.index] != interval.kept) {
      find(fmt::format("{} kept, but the block has {}", CountOf(interval.kept, "sample"), there[interval.index]));
    }
    kept += interval.kept;
    state.second_stage += interval.buffered - std::min(interval.buffered, interval.kept);
  }
  if (kept != samples && state.any_interval) {
    Find(block.offset, Named(stream, fmt::format("{}, but the intervals kept {}", CountOf(samples, "sample"), kept)));
  }
  state.samples += samples;
  const StreamCounters& now = block.counters[stream];
  // Committed samples that only a lost ring had are counted as killed, so `committed` may decrease by that number.
  const uint64_t killed = now.Since(state.counters).lost[static_cast<size_t>(format::LossReason::kKilled)];
  for (const auto counter : kCounters) {
    if (now.*counter + (counter == &StreamCounters::committed ? killed : 0) < state.counters.*counter) {
      Find(block.offset, Named(stream, "a recorder counter decreased"));
      break;
    }
  }
  if (!is_gap && now.written - state.counters.written != samples) {
    Find(block.offset, Named(stream, fmt::format("recorder counters say {} written, but the block has {}",
                                                 CountOf(now.written - state.counters.written, "sample"), samples)));
  }
  state.counters = now;
}

void Verification::Close(const Recording& recording) {
  // A recording killed before its first block has at most what is in the ring.
  if (blocks_ == 0 && !recording.running() && !recording.salvage().ring_found)
    Find(recording.bytes_read(), "no block could be read");
  for (const Stream stream : format::kAllStreams) CloseStream(recording, stream);
  // If the recording began before this file or continues in another one, the counters include more than the file.
  const bool is_whole = recording.ending() && recording.is_settled() && !IsLaterPart(header_) &&
                        !recording.misses_own_bytes() && recording.tail_bytes() == 0;
  census_.Close(recording.census_counters(), is_whole,
                [&](std::string what) { Find(recording.bytes_read(), std::move(what)); });
}

// A thread that was stopped while it handled a point has counted the point, but not the outcome. A recorder that ends
// waits for such threads; a kill, or a copy of a running recording, does not.
void Verification::CloseStream(const Recording& recording, Stream stream) {
  const StreamCounters& counters = recording.counters(stream);
  uint64_t slack = std::max<uint64_t>(recording.lane_count(), 1);
  if (!recording.ending() || !recording.is_settled()) slack += kSilentThreads + threads_;
  const auto find = [&](const std::string& what) { Find(recording.bytes_read(), Named(stream, what)); };
  const uint64_t known = counters.SettledPoints();
  // Points counted as killed include those being handled.
  const uint64_t under_way = LostOf(counters, format::LossReason::kKilled) > 0 ? 0 : slack;
  if (Apart(counters.points, known, under_way)) {
    find(fmt::format("{} points, but {} committed + {} thinned + {} lost", counters.points, counters.committed,
                     counters.thinned, counters.LostPoints()));
  }
  const uint64_t failed = LostOf(counters, format::LossReason::kWriteFailed);
  const uint64_t accounted = counters.SettledSamples();
  if (recording.is_settled() && Apart(counters.committed, accounted, slack)) {
    find(fmt::format("{} committed, but {} written + {} dropped in the second stage + {} not written",
                     counters.committed, counters.written, counters.second_stage, failed));
  }
  if (recording.misses_own_bytes()) return;
  const StreamState& state = streams_[stream];
  if (state.samples != counters.written) {
    find(fmt::format("{} written, but the file has {}", CountOf(counters.written, "sample"), state.samples));
  }
  if (failed == 0 && state.second_stage != counters.second_stage) {
    find(fmt::format("{} dropped in the second stage, but the intervals say {}", counters.second_stage,
                     state.second_stage));
  }
}

void CensusCheck::Look(const format::Block& block, const Find& find) {
  const CensusSums rows = SumOf(block.census), totals = SumOf(block.census_totals);
  if (rows.objects.counted != totals.objects.counted || rows.bytes.counted != totals.bytes.counted) {
    find(fmt::format("census: {} objects with {} bytes by class, but {} with {} in total", rows.objects.counted,
                     rows.bytes.counted, totals.objects.counted, totals.bytes.counted));
  }
  if (!Near(rows.objects.estimate(), totals.objects.estimate()) ||
      !Near(rows.bytes.estimate(), totals.bytes.estimate())) {
    find("census: the classes do not add up to the total");
  }
  const auto is_exact = [](const CensusRow& row) {
    return row.objects.weight_excess == 0 && row.bytes.weight_excess == 0;
  };
  if (header_.census == format::CensusMode::kAll && !std::ranges::all_of(block.census_totals, is_exact)) {
    find("census: weights, although every TLAB was walked");
  }
  for (const CensusRow& row : block.census_totals) {
    walks_ += row.walks;
    bytes_ += row.bytes.counted;
  }
  if (block.census_counters == format::CensusCounters{}) return;
  for (const auto counter : format::kCensusCounterFields) {
    if (block.census_counters.*counter >= counters_.*counter) continue;
    find("census: a recorder counter decreased");
    break;
  }
  counters_ = block.census_counters;
}

void CensusCheck::Close(const format::CensusCounters& counters, bool is_whole, const Find& find) const {
  if (!is_whole || header_.census == format::CensusMode::kOff) return;
  if (bytes_ + counters.lost_bytes != counters.walked_bytes) {
    find(fmt::format("census: {} bytes walked, but {} recorded and {} lost", counters.walked_bytes, bytes_,
                     counters.lost_bytes));
  }
  if (header_.census != format::CensusMode::kAll) return;
  const uint64_t candidates = counters.tlab_bytes + counters.outside_bytes;
  if (candidates != counters.walked_bytes + counters.aborted_bytes) {
    find(fmt::format("census: {} bytes due, but {} walked and {} not walked", candidates, counters.walked_bytes,
                     counters.aborted_bytes));
  }
}

void LifecycleCheck::Look(const format::Block& block, bool is_gap, const Find& find) {
  const bool begins_chunk = !any_block_ || block.chunk != chunk_;
  // If the start of the recording is missing, the first chunk has a live checkpoint.
  if (!any_block_) knows_all_ = true;
  const format::StreamCounters& now = block.counters[stream_];
  constexpr auto kFailed = static_cast<size_t>(format::LossReason::kWriteFailed);
  // A block that could not be written also lost its lifecycle events.
  if (is_gap || now.lost[kFailed] != before_.lost[kFailed]) knows_all_ = false;
  any_block_ = true;
  chunk_ = block.chunk;
  const auto is_of_stream = [this](const format::LifecycleEvent& lifecycle) { return lifecycle.stream == stream_; };
  if (!tracks_) {
    if (std::ranges::any_of(block.lifecycle_events, is_of_stream) || HasCheckpoint(block))
      find("lifecycle events, although nothing is tracked");
    return;
  }
  if (HasCheckpoint(block) && !begins_chunk) find("live checkpoint after the first block of a chunk");
  CheckCheckpoint(block, find);
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() == stream_) alive_.insert(sample.id);
  }
  uint64_t untracked = 0, last_ns = 0;
  for (const format::LifecycleEvent& lifecycle : block.lifecycle_events) {
    if (lifecycle.stream != stream_) continue;
    if (lifecycle.time_ns < last_ns)
      find(fmt::format("lifecycle event of sample {}: earlier than the previous one", lifecycle.sample));
    last_ns = lifecycle.time_ns;
    if (lifecycle.kind == LifecycleKind::kUntracked) ++untracked;
    CheckLifecycleEvent(lifecycle, find);
  }
  if (!is_gap && now.untracked - before_.untracked != untracked) {
    find(fmt::format("recorder counters say {} not tracked, but the block has {}",
                     CountOf(now.untracked - before_.untracked, "sample"), untracked));
  }
  before_ = now;
}

bool LifecycleCheck::HasCheckpoint(const format::Block& block) const {
  return std::ranges::any_of(block.live_checkpoint, [this](const auto& one) { return one.sample.stream() == stream_; });
}

void LifecycleCheck::CheckCheckpoint(const format::Block& block, const Find& find) {
  if (!HasCheckpoint(block)) return;
  std::unordered_set<uint64_t> now;
  for (const format::CheckpointSample& checkpoint_sample : block.live_checkpoint) {
    if (checkpoint_sample.sample.stream() != stream_) continue;
    const uint64_t id = checkpoint_sample.sample.id;
    if (!now.insert(id).second) find(fmt::format("live checkpoint: sample {} appears twice", id));
    if (!std::isfinite(checkpoint_sample.threshold) || checkpoint_sample.threshold < 0) {
      find(fmt::format("live checkpoint: sample {} has an invalid threshold", id));
    }
  }
  if (knows_all_ && !alive_.empty() && now != alive_) find("live checkpoint: its samples are not the live ones");
  alive_ = std::move(now);
  knows_all_ = true;
}

void LifecycleCheck::CheckLifecycleEvent(const format::LifecycleEvent& lifecycle, const Find& find) {
  const bool shrinks = lifecycle.kind == LifecycleKind::kShrunk;
  const bool is_known = shrinks ? alive_.contains(lifecycle.sample) : alive_.erase(lifecycle.sample) > 0;
  if (shrinks && lifecycle.left == 0)
    find(fmt::format("lifecycle event of sample {}: shrank to 0 bytes", lifecycle.sample));
  if (!is_known && knows_all_) {
    find(fmt::format("lifecycle event of sample {}: not tracked, or already ended", lifecycle.sample));
  }
  const bool has_threshold = std::isfinite(lifecycle.threshold) && lifecycle.threshold > 0;
  if (has_threshold != (lifecycle.kind == LifecycleKind::kEvicted)) {
    find(fmt::format("lifecycle event of sample {}: invalid threshold", lifecycle.sample));
  }
}

namespace {

// Tolerance for sums of rows that were each rounded (docs/format/recording.md#rows), several times the expected error.
constexpr double kRounding = 3e-3, kSpreadRounding = 0.15;

bool Near(double a, double b, double rounding) { return std::abs(a - b) <= rounding * std::abs(b); }

// Whether two variances of a sum, of which `squared` is the square, differ by a standard deviation of less than a
// millionth of it. If weights hardly exceed sizes, variances are rounding errors of floating-point numbers.
bool IsNegligible(double a, double b, double squared) { return std::abs(a - b) <= 1e-12 * squared; }

std::string KeyOf(const format::Row& row, const Names& names) {
  const format::Dictionaries& all = names.dictionaries();
  std::string key = row.class_id < all.classes.size() ? all.classes[row.class_id] : std::string(kUnknown);
  const bool truncated = ForEachFrame(names, row.stack, 0, [&](const format::Frame& frame) {
    const format::Method* const method = names.MethodOf(frame.method);
    if (method != nullptr) key += fmt::format("\n{}.{}{}", method->class_name, method->name, method->descriptor);
    key += fmt::format(":{}:{}", frame.bci, frame.line);
  });
  return truncated ? key + "\n" : key;
}

struct Sums {
  std::map<std::string, format::Row> rows, outside;
  uint64_t intervals = 0, candidates = 0, bytes = 0, buffered = 0, kept = 0;
  format::PerStream<format::StreamCounters> counters;

  void Add(const format::Block& block) {
    Names names;
    names.Enter(block);
    for (const format::Row& row : block.rows) rows[KeyOf(row, names)] += row;
    for (const format::Row& row : block.outside) outside[KeyOf(row, names)] += row;
    for (const format::Interval& interval : block.intervals) {
      ++intervals;
      candidates += interval.candidates;
      bytes += interval.bytes;
      buffered += interval.buffered;
      kept += interval.kept;
    }
    counters = block.counters;
  }

  // Returns nullptr if the sums are equal.
  const char* DifferenceTo(const Sums& other) const {
    if (rows.size() != other.rows.size()) return "other rows";
    for (const auto& [key, row] : rows) {
      const auto found = other.rows.find(key);
      if (found == other.rows.end()) return "other rows";
      const format::Row& same = found->second;
      if (row.points != same.points || row.seen != same.seen) return "a different number of points or bytes";
      if (!Near(row.bytes, same.bytes, kRounding) || !Near(row.objects, same.objects, kRounding))
        return "other weights";
      const double bytes = row.bytes * row.bytes, objects = row.objects * row.objects;
      for (const auto& [sum, squared] : {std::pair(&format::Row::bytes_variance, bytes),
                                         {&format::Row::objects_variance, objects},
                                         {&format::Row::covariance, row.bytes * row.objects},
                                         {&format::Row::bytes_fourth, 1e-12 * bytes * bytes},
                                         {&format::Row::objects_fourth, 1e-12 * objects * objects}}) {
        if (!Near(row.*sum, same.*sum, kSpreadRounding) && !IsNegligible(row.*sum, same.*sum, squared))
          return "other variances";
      }
    }
    const auto is_same = [](const auto& a, const auto& b) {
      return a.first == b.first && a.second.points == b.second.points && a.second.seen == b.second.seen;
    };
    if (!std::ranges::equal(outside, other.outside, is_same)) return "different counts outside of TLABs";
    if (std::tie(intervals, candidates, bytes, buffered, kept) !=
        std::tie(other.intervals, other.candidates, other.bytes, other.buffered, other.kept))
      return "other intervals";
    for (const format::Stream stream : format::kAllStreams) {
      if (!(counters[stream] == other.counters[stream])) return "other counters";
    }
    return nullptr;
  }
};

}  // namespace

void CheckRollUps(const Recording& recording, const std::function<void(uint64_t offset, std::string what)>& find) {
  const auto again = recording.Again();
  if (!again.ok()) return;
  format::ByteSource& bytes = (*again)->bytes();
  const format::FileHeader& header = recording.header();
  for (uint64_t begin = (*again)->bytes_read();;) {
    const auto chunk = format::FindChunk(&bytes, header, begin, UINT64_MAX);
    if (!chunk) return;
    begin = chunk->next;
    if (chunk->roll_up == 0) continue;
    Sums blocks, roll_up;
    const auto reader = format::ReadFrom(&bytes, header, chunk->begin);
    while (reader->position() < chunk->end) {
      const auto block = reader->Next();
      if (!block || !reader->skipped().empty()) return;
      blocks.Add(*block);
    }
    format::ChunkDecoder decoder;
    const auto block = format::ReadRollUp(&bytes, header, *chunk, &decoder);
    if (block) roll_up.Add(*block);
    const char* const difference = block ? roll_up.DifferenceTo(blocks) : "it cannot be decoded";
    if (difference != nullptr) {
      find(chunk->roll_up, fmt::format("roll-up of chunk {} against its blocks: {}", chunk->sequence, difference));
    }
  }
}

}  // namespace heaprec::tools
