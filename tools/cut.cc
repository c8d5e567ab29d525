#include "tools/cut.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "format/ring_reader.h"

namespace heaprec::tools {
namespace {

using format::Books;
using format::Loss;
using format::Stream;

uint64_t CommonInterval(const format::FileHeader& header) {
  uint64_t common = std::max<uint64_t>(header.interval_ns, 1);
  if (header.census != format::CensusMode::kOff) common = std::lcm(common, format::kCensusSlotNs);
  if (header.exceptions.interval_ns > 0) common = std::lcm(common, header.exceptions.interval_ns);
  if (header.native.interval_ns > 0) common = std::lcm(common, header.native.interval_ns);
  if (header.mapped.interval_ns > 0) common = std::lcm(common, header.mapped.interval_ns);
  return common;
}

// Where the file begins in its recording, by the intervals of all streams: not at 0 where its front was left out.
uint64_t FileBegin(const format::FileHeader& header) {
  uint64_t begin_ns = UINT64_MAX;
  for (const Stream stream : format::kAllStreams) {
    const uint64_t interval_ns = header.CapOf(stream).interval_ns;
    if (interval_ns > 0) begin_ns = std::min(begin_ns, header.start.next_interval[stream] * interval_ns);
  }
  return begin_ns == UINT64_MAX ? 0 : begin_ns;
}

// The same for the same cut of the same recording.
format::RecordingId IdOf(const format::RecordingId& id, uint64_t from_ns, uint64_t to_ns) {
  std::string text(id.begin(), id.end());
  text += std::to_string(from_ns) + "-" + std::to_string(to_ns);
  const std::array<uint64_t, 2> halves{format::ClassKey(text), format::ClassKey(text + "'")};
  format::RecordingId result{};
  std::memcpy(result.data(), halves.data(), result.size());
  return result;
}

}  // namespace

Cut::Cut(const format::FileHeader& header, uint64_t from_ns, uint64_t to_ns)
    : header_(header), from_ns_(from_ns), to_ns_(to_ns), before_(header.start.books) {
  const uint64_t common = CommonInterval(header);
  shift_ns_ = std::max(from_ns, FileBegin(header)) / common * common;
  header_.start = {};
  header_.recording_id = IdOf(header.recording_id, from_ns, to_ns);
  header_.start_epoch_ns += shift_ns_;
  header_.start_monotonic_ns += shift_ns_;
  header_.ring_path.clear();
}

std::optional<format::Block> Cut::Of(const format::Block& block) {
  last_ns_ = std::max(last_ns_, block.end_ns);
  const auto within = [this](uint64_t time_ns) { return time_ns >= from_ns_ && time_ns < to_ns_; };
  format::Block cut;
  cut.chunk = block.chunk;
  cut.offset = block.offset;
  cut.dictionaries = block.dictionaries;
  cut.end_ns = Since(std::min(block.end_ns, to_ns_));
  for (format::Window window : block.windows) {
    window.start_ns = Since(window.start_ns);
    cut.windows.push_back(window);
  }
  for (format::HeapState state : block.states) {
    if (!within(state.time_ns)) continue;
    state.time_ns = Since(state.time_ns);
    cut.states.push_back(std::move(state));
  }
  for (format::Sample sample : block.samples) {
    if (!within(sample.time_ns)) continue;
    sample.time_ns = Since(sample.time_ns);
    cut.samples.push_back(sample);
  }
  AddIntervals(block, &cut);
  if (header_.follows()) AddFates(block, &cut);
  AddBooks(block, &cut);
  AddCensus(block, &cut);
  // Windows alone are kept too: a later block's samples may be of them.
  if (cut.samples.empty() && cut.states.empty() && cut.intervals.empty() && cut.windows.empty() && cut.fates.empty() &&
      cut.survivors.empty() && cut.census_totals.empty()) {
    return std::nullopt;
  }
  return cut;
}

// Of an interval that a border cuts, nobody knows what was counted on which side: it counts nothing, and its samples
// stand for themselves, as those of a salvaged interval do.
void Cut::AddIntervals(const format::Block& block, format::Block* cut) {
  for (format::Interval interval : block.intervals) {
    const uint64_t length = std::max<uint64_t>(header_.CapOf(interval.stream).interval_ns, 1);
    const uint64_t begin = interval.index * length, end = begin + length;
    if (end <= from_ns_ || begin >= to_ns_) continue;
    Books& books = books_[interval.stream];
    if (begin < from_ns_ || end > to_ns_) {
      uint64_t kept = 0;
      double weight = 0;
      for (const format::Sample& sample : cut->samples) {
        if (sample.stream() != interval.stream || (sample.time_ns + shift_ns_) / length != interval.index) continue;
        ++kept;
        weight += sample.weight;
      }
      if (kept == 0) continue;
      interval.candidates = interval.bytes = 0;
      // All that were thrown is one number of the whole recording: what is not known of it is estimated.
      if (interval.stream == Stream::kExceptions) interval.candidates = static_cast<uint64_t>(std::llround(weight));
      interval.held = interval.kept = kept;
    }
    books.candidates += interval.candidates;
    books.candidate_bytes += interval.bytes;
    books.written += interval.kept;
    books.second_stage += interval.held - std::min(interval.held, interval.kept);
    interval.index -= shift_ns_ / length;
    cut->intervals.push_back(interval);
  }
}

// A chunk says at its start who is alive.
void Cut::NoteSurvivors(const format::Block& block) {
  if (chunk_ != block.chunk && !has_begun_) {
    alive_.clear();
    for (const format::Survivor& survivor : block.survivors) alive_[survivor.sample.id] = survivor;
  }
  chunk_ = block.chunk;
}

void Cut::NoteFate(const format::Fate& fate) {
  Apply(fate);
  if (fate.kind != format::FateKind::kReleased) return;
  for (auto& [id, survivor] : alive_) {
    if (survivor.sample.stream() == fate.stream && survivor.sample.time_ns < fate.time_ns)
      survivor.threshold = std::max(survivor.threshold, fate.threshold);
  }
}

// Whether the sample is one that is alive.
bool Cut::Apply(const format::Fate& fate) {
  const auto found = alive_.find(fate.sample);
  if (found == alive_.end()) return false;
  format::Survivor& survivor = found->second;
  if (fate.kind == format::FateKind::kShrunk) {
    survivor.gone = survivor.sample.size - std::min(survivor.sample.size, fate.left);
  } else {
    alive_.erase(found);
  }
  return true;
}

// A sample that a border leaves out has no fate in the cut either.
void Cut::AddFates(const format::Block& block, format::Block* cut) {
  NoteSurvivors(block);
  for (const format::Sample& sample : block.samples) {
    const bool is_left_out = (has_begun_ && sample.time_ns < from_ns_) || sample.time_ns >= to_ns_;
    if (!is_left_out && header_.BoundOf(sample.stream()) > 0) alive_[sample.id] = {sample, 0, 0, 0};
  }
  const auto is_within = [this](const format::Fate& fate) { return fate.time_ns >= from_ns_ && fate.time_ns < to_ns_; };
  for (const format::Fate& fate : block.fates) {
    if (!has_begun_ && fate.time_ns < from_ns_) NoteFate(fate);
  }
  const bool begins = !cut->samples.empty() || !cut->states.empty() || !cut->intervals.empty() ||
                      std::ranges::any_of(block.fates, is_within);
  if (!has_begun_ && !begins) return;
  AddSurvivors(block, cut);
  has_begun_ = true;
  for (format::Fate fate : block.fates) {
    if (!is_within(fate) || !Apply(fate)) continue;
    fate.time_ns = Since(fate.time_ns);
    books_[fate.stream].not_followed += fate.kind == format::FateKind::kNotFollowed ? 1 : 0;
    cut->fates.push_back(fate);
  }
}

// Who is alive when the span begins stands in the cut's first block, and who is when a chunk does in that one.
void Cut::AddSurvivors(const format::Block& block, format::Block* cut) {
  const auto add = [&](format::Survivor survivor) {
    survivor.sample.time_ns = Since(survivor.sample.time_ns);
    cut->survivors.push_back(survivor);
  };
  if (!has_begun_) {
    for (const auto& [id, survivor] : alive_) {
      if (survivor.sample.time_ns < from_ns_) add(survivor);
    }
    return;
  }
  for (const format::Survivor& survivor : block.survivors) {
    if (alive_.count(survivor.sample.id) > 0) add(survivor);
  }
}

// Losses and thinned points are known from block to block only: the cut has those of the blocks that end within it.
void Cut::AddBooks(const format::Block& block, format::Block* cut) {
  if (block.end_ns <= from_ns_) before_ = block.books;
  for (const Stream stream : format::kAllStreams) {
    Books& books = books_[stream];
    const Books& now = block.books[stream];
    const Books& before = before_[stream];
    if (block.end_ns > from_ns_ && block.end_ns <= to_ns_) {
      books.thinned = now.thinned - before.thinned;
      for (size_t reason = 0; reason < format::kLosses; ++reason) {
        books.lost[reason] = now.lost[reason] - before.lost[reason];
        books.lost_weight[reason] = std::max(0.0, now.lost_weight[reason] - before.lost_weight[reason]);
      }
    }
    books.committed = books.written + books.second_stage + books.lost[static_cast<size_t>(Loss::kWriteFailed)];
    books.points = books.committed + books.thinned + books.LostPoints();
  }
  cut->books = books_;
}

// Of seconds that lie within the span. What was a candidate is known from block to block, as losses are; where all are
// walked it is what was found.
void Cut::AddCensus(const format::Block& block, format::Block* cut) {
  const auto add = [this](const std::vector<format::CensusRow>& rows, std::vector<format::CensusRow>* into) {
    for (format::CensusRow row : rows) {
      if (row.time_ns < from_ns_ || row.time_ns + format::kCensusSlotNs > to_ns_) continue;
      row.time_ns = Since(row.time_ns);
      into->push_back(row);
    }
  };
  add(block.census, &cut->census);
  add(block.census_totals, &cut->census_totals);
  if (block.end_ns <= from_ns_) census_before_ = block.census_books;
  if (block.end_ns > from_ns_ && block.end_ns <= to_ns_) {
    const uint64_t walks = census_.walks, walked = census_.walked_bytes - census_.lost_bytes;
    for (const auto counter : format::kCensusCounters) {
      census_.*counter = block.census_books.*counter - std::min(block.census_books.*counter, census_before_.*counter);
    }
    census_.walks = walks;
    census_.walked_bytes = walked + census_.lost_bytes;
  }
  for (const format::CensusRow& row : cut->census_totals) {
    census_.walks += row.walks;
    census_.walked_bytes += row.bytes.counted;
  }
  if (header_.census == format::CensusMode::kAll) {
    census_.tlabs = census_.walks;
    census_.tlab_bytes = census_.walked_bytes + census_.broken_bytes;
    census_.outside = census_.outside_bytes = 0;
  }
  cut->census_books = census_;
}

std::optional<format::Ending> Cut::EndingOf(const std::optional<format::Ending>& ending) const {
  if (ending && ending->time_ns < to_ns_) return format::Ending{Since(ending->time_ns), ending->reason};
  if (to_ns_ > last_ns_) return std::nullopt;
  return format::Ending{Since(to_ns_), "trim"};
}

}  // namespace heaprec::tools
