#include "tools/input/salvage.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "format/codec/row_codec.h"
#include "format/ring/census_pages.h"
#include "format/ring/ring_reader.h"
#include "throttle/interval_reducer.h"
#include "tools/input/ring_copy.h"

namespace heaprec::tools {
namespace {

using format::FileHeader;
using format::SampleRecord;
using format::Stream;

constexpr size_t kNoCap = size_t{1} << 40;              // more than a ring can hold
constexpr uint64_t kDefaultIntervalNs = 1'000'000'000;  // if the header has none

bool IsPossible(const SampleRecord& record) {
  return std::isfinite(record.weight) && record.weight > 0 && record.kind < format::kKinds;
}

class Gatherer final : public format::RecordVisitor {
 public:
  RingDefinitions definitions;
  std::vector<SampleRecord> samples;
  std::vector<format::PointRecord> points;  // light points
  std::vector<format::PointRecord> outside;
  std::vector<format::WindowRecord> windows;
  std::vector<format::StateRecord> states;
  std::vector<std::vector<uint64_t>> amounts;  // of each state
  std::vector<std::pair<format::EventRecord, std::string>> events;
  std::vector<format::DeathRecord> deaths;
  std::vector<NativePoint> native_points;
  std::vector<format::KeyedCensusRow> census;
  uint64_t invalid = 0;
  uint32_t threads = 0;  // number of threads defined in the ring

  void OnClass(uint64_t key, std::string_view name) override { definitions.classes.emplace(key, name); }
  void OnMethod(uint64_t key, std::string_view class_name, std::string_view name,
                std::string_view descriptor) override {
    definitions.methods.try_emplace(
        key, format::Method{std::string(class_name), std::string(name), std::string(descriptor)});
  }
  void OnStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated, uint32_t,
               uint64_t) override {
    definitions.stacks.try_emplace(key, KeyedStack{{leaf_first.begin(), leaf_first.end()}, truncated});
  }
  void OnThread(uint64_t key, const format::ThreadRecord& record, std::string_view name) override {
    threads += definitions.threads.try_emplace(key, format::ThreadOf(record, name)).second ? 1 : 0;
  }
  void OnWindow(const format::WindowRecord& record) override { windows.push_back(record); }
  void OnState(const format::StateRecord& record, std::span<const uint64_t> account) override {
    states.push_back(record);
    amounts.emplace_back(account.begin(), account.end());
  }
  void OnEvent(const format::EventRecord& record, std::string_view text, uint32_t) override {
    events.emplace_back(record, text);
  }
  void OnDeath(const format::DeathRecord& record, uint32_t, uint64_t) override { deaths.push_back(record); }
  void OnSample(const SampleRecord& record, uint32_t, uint64_t, uint64_t) override {
    if (IsPossible(record)) {
      samples.push_back(record);
    } else {
      ++invalid;
    }
  }
  void OnPoint(const format::PointRecord& record, uint32_t, uint64_t) override { points.push_back(record); }
  void OnOutside(const format::PointRecord& record, uint32_t, uint64_t) override { outside.push_back(record); }
  void OnNativePoint(const format::NativePointRecord* record, std::span<const uint64_t> pcs,
                     std::span<const format::RingFrame> java) override {
    if (record->header.is_taken != 0) return;
    native_points.push_back({*record, {pcs.begin(), pcs.end()}, {java.begin(), java.end()}});
  }
};

void GatherRing(const RingCopy& ring, const FileEnd& end, Gatherer* into, SalvageReport* report) {
  for (uint32_t lane = 0; lane < ring.view().lane_count(); ++lane) {
    const uint64_t in_file = lane < end.lane_positions.size() ? end.lane_positions[lane] : 0;
    // Begins at the tail even if the file has less: earlier bytes may be overwritten already.
    const uint64_t from = std::max(in_file, ring.tail(lane));
    if (from >= ring.head(lane)) continue;
    const auto reached = format::WalkLane(ring.view(), lane, from, ring.head(lane), *into);
    if (!reached.ok()) report->errors.push_back(reached.error().message);
  }
  const format::RingCensusPages* const census = ring.view().census();
  if (census == nullptr) return;
  for (const format::RingCensusPage& page : census->pages) {
    if (page.number.load() <= end.census_page) continue;
    format::VisitNames(page, *into);
    std::ranges::copy(format::CensusRowsOf(page), std::back_inserter(into->census));
  }
}

// The process may have died between the commit of a sample and the mark on its point.
void AddNativePoints(NativePointNames& names, Gatherer* gathered) {
  if (gathered->native_points.empty()) return;
  std::unordered_set<uint64_t> ids;
  for (const SampleRecord& sample : gathered->samples) ids.insert(sample.id);
  for (const NativePoint& point : gathered->native_points) {
    if (ids.insert(point.record.id).second) {
      gathered->samples.push_back(names.SampleOf(point, &gathered->definitions));
    }
  }
}

void GatherFile(format::ByteSource* file, RingDefinitions* definitions) {
  auto reader = format::Reader::Open(file);
  if (!reader.ok()) return;
  while (definitions->is_incomplete()) {
    const auto block = (*reader)->Next();
    if (!block) return;
    definitions->TakeFrom(*block);
  }
}

uint64_t IntervalNs(const FileHeader& header, Stream stream) {
  const uint64_t interval_ns = header.CapOf(stream).interval_ns;
  return interval_ns > 0 ? interval_ns : kDefaultIntervalNs;
}

throttle::ReducerConfig BoundsOf(const FileHeader& header, Stream stream) {
  const size_t cap = header.CapOf(stream).interval_cap;
  return {.interval_ns = IntervalNs(header, stream),
          .cap = cap > 0 ? cap : kNoCap,
          .recording = format::SeedOf(stream, header.recording_id),
          .max_samples = stream == Stream::kAllocations ? header.max_samples : 0,
          .duration_ns = header.duration_ns};
}

// The ring's data of one interval.
struct Held {
  std::vector<const SampleRecord*> samples;
  std::vector<const format::PointRecord*> points;  // light points
  std::vector<const format::PointRecord*> outside;
};

// Makes blocks from a stream's data, with indices of one set of dictionaries.
class BlockMaker {
 public:
  BlockMaker(const FileHeader& header, Stream stream, const FileEnd& end, KeyedDictionaries* dictionaries,
             SalvageReport* report)
      : header_(header),
        stream_(stream),
        dictionaries_(*dictionaries),
        report_(*report),
        reducer_(BoundsOf(header, stream)) {
    const FileEnd::StreamEnd& before = end.streams[stream];
    reducer_.NoteIntervalsWithPoints(before.intervals_with_points);
    for (const uint64_t time_ns : before.latest_times) reducer_.NoteSample(before.next_interval - 1, time_ns);
  }

  // Makes a block with one interval's samples, reduced.
  format::Block Make(uint64_t interval, const Held& held) {
    std::vector<throttle::BufferedPoint> points;
    format::RowTable rows;
    points.reserve(held.samples.size());
    for (const SampleRecord* sample : held.samples) {
      points.push_back({sample->id, sample->weight,
                        TimeOf(*sample, header_.start_monotonic_ns, interval * IntervalNs(header_, stream_)),
                        sample->class_key, sample->call_path, sample->stack_key.low, sample->thread_key});
      if (stream_ != Stream::kAllocations) continue;
      rows.Add(dictionaries_.Class(sample->class_key), dictionaries_.Path(sample->stack_key), sample->size,
               sample->point_weight);
    }
    for (const format::PointRecord* point : held.points) {
      rows.Add(dictionaries_.Class(point->class_key), dictionaries_.Path(point->stack_key), point->size, point->weight);
    }
    format::RowTable outside;
    for (const format::PointRecord* counted : held.outside) {
      outside.AddCounted(dictionaries_.Class(counted->class_key), static_cast<uint64_t>(counted->weight),
                         counted->size);
    }
    throttle::IntervalReduction reduction = reducer_.Reduce(interval, points);
    if (points.empty() && !held.points.empty()) {
      reducer_.NoteIntervalsWithPoints(1);
      reduction.tau = std::numeric_limits<double>::infinity();
    }

    format::Block block;
    block.rows = rows.Take();
    block.outside = outside.Take();
    for (const throttle::KeptPoint& point : reduction.kept) {
      const SampleRecord& record = *held.samples[point.index];
      block.samples.push_back(SampleOf(record, NamesOf(record), points[point.index].time_ns, point.weight));
    }
    std::stable_sort(block.samples.begin(), block.samples.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    const size_t count = held.samples.size() + held.points.size();
    block.intervals.push_back({interval, 0, 0, count, block.samples.size(), reduction.tau, stream_});
    // After the interval's beginning, even without samples: blocks are in the order of their intervals.
    block.end_ns = block.samples.empty() ? interval * IntervalNs(header_, stream_) + 1 : block.samples.back().time_ns;
    report_.held += count;
    report_.events += block.samples.size();
    return block;
  }

 private:
  format::SampleNames NamesOf(const SampleRecord& from) {
    const format::SampleNames names{dictionaries_.Class(from.class_key), dictionaries_.Thread(from.thread_key),
                                    dictionaries_.Stack(from.stack_key)};
    const bool stack_is_lost = names.stack == format::kNone && !(from.stack_key == format::StackKey{0, 0});
    if (names.thread == format::kNone || names.class_id == format::kNone || stack_is_lost) ++report_.unnamed;
    return names;
  }

  const FileHeader& header_;
  const Stream stream_;
  KeyedDictionaries& dictionaries_;
  SalvageReport& report_;
  throttle::IntervalReducer reducer_;
};

// A running recorder commits samples after its counters were read and before its lanes were: all samples in `blocks`
// are committed. Samples that waited for an interval longer than another stream's may have left the ring
// (LaneConsumer), and a kill lost them. Each gets the mean weight of those in the ring; if there are none, all together
// get the weight of no interval.
void SettleSamples(const std::vector<format::Block>& blocks, const FileHeader& header, const FileEnd& end,
                   Stream stream, bool is_running, format::StreamCounters* counters) {
  uint64_t in_ring = 0;
  double weight = 0;
  for (const format::Block& block : blocks) {
    if (block.intervals.front().stream != stream) continue;
    in_ring += block.intervals.front().buffered;
    for (const format::Sample& sample : block.samples) weight += sample.weight;
  }
  const uint64_t found = counters->SettledSamples() + in_ring;
  if (found > counters->committed) {
    counters->points += found - counters->committed;
  } else if (found < counters->committed && !is_running) {
    const uint64_t lost = counters->committed - found;
    const uint64_t counted = counters->Since(header.start.counters[stream]).Counted(stream);
    const FileEnd::StreamEnd& rows = end.streams[stream];
    const uint64_t in_rows = format::CountsEvents(stream) ? rows.candidates : rows.bytes;
    constexpr auto kKilled = static_cast<size_t>(format::LossReason::kKilled);
    counters->lost[kKilled] += lost;
    counters->lost_weight[kKilled] += in_ring > 0 ? static_cast<double>(lost) * weight / static_cast<double>(in_ring)
                                                  : static_cast<double>(counted - std::min(counted, in_rows));
  } else {
    return;
  }
  counters->committed = found;
}

// Points in progress: their threads had counted them, and not yet committed or discarded their samples. A kill loses
// them; their weight is unknown. `most`: maximum at a time. If there are more, the counters are wrong, which `verify`
// reports.
void SettlePoints(const format::StreamCounters& file, bool is_running, uint64_t most,
                  format::StreamCounters* counters) {
  const uint64_t known = counters->SettledPoints();
  if (!is_running && counters->points > known) {
    counters->lost[static_cast<size_t>(format::LossReason::kKilled)] += std::min(counters->points - known, most);
  } else {
    counters->points = std::max(known, file.points);
  }
}

// Calls that mmap's hooks had noted, and the drain had not processed yet.
void AddLostMappings(const format::RingMappingCalls& calls, format::StreamCounters* counters) {
  constexpr auto kKilled = static_cast<size_t>(format::LossReason::kKilled);
  const uint64_t noted = calls.noted, taken = calls.taken, noted_bytes = calls.noted_bytes, bytes = calls.taken_bytes;
  if (noted <= taken) return;
  const uint64_t lost_bytes = noted_bytes - std::min(noted_bytes, bytes);
  counters->candidates += noted - taken;
  counters->candidate_bytes += lost_bytes;
  counters->points += noted - taken;
  counters->lost[kKilled] += noted - taken;
  counters->lost_weight[kKilled] += static_cast<double>(lost_bytes);
}

// The drain's counters after these blocks: the ring's own, except `written`, which counts the file and this salvage.
// Only the ring has the second-stage count of blocks that could not be written; for a last block that was, the file may
// have it.
void CarryCounters(const RingCopy& ring, const FileHeader& header, const FileEnd& end, bool is_running,
                   uint64_t most_under_way, Salvaged* salvaged) {
  const format::PerStream<format::StreamCounters>& file = end.counters;
  for (const Stream stream : format::kAllStreams) {
    salvaged->counters[stream] = ring.counters(stream);
    salvaged->counters[stream].written = file[stream].written;
    salvaged->counters[stream].second_stage =
        std::max(file[stream].second_stage, salvaged->counters[stream].second_stage);
    salvaged->counters[stream].untracked = file[stream].untracked;
    SettleSamples(salvaged->blocks, header, end, stream, is_running, &salvaged->counters[stream]);
    SettlePoints(file[stream], is_running, most_under_way, &salvaged->counters[stream]);
  }
  if (!is_running) AddLostMappings(ring.view().header().mapping_calls, &salvaged->counters[Stream::kMapping]);
  for (format::Block& block : salvaged->blocks) {
    const format::Interval& interval = block.intervals.front();
    salvaged->counters[interval.stream].written += interval.kept;
    salvaged->counters[interval.stream].second_stage += interval.buffered - interval.kept;
    block.counters = salvaged->counters;
  }
}

std::map<uint64_t, Held> GroupByInterval(const Gatherer& gathered, const FileHeader& header, Stream stream,
                                         uint64_t earliest) {
  std::map<uint64_t, Held> intervals;
  const auto held_at = [&](uint64_t monotonic_ns) -> Held& {
    const uint64_t own = format::SinceStart(monotonic_ns, header.start_monotonic_ns) / IntervalNs(header, stream);
    return intervals[std::max(own, earliest)];
  };
  for (const SampleRecord& sample : gathered.samples) {
    if (format::StreamOf(static_cast<format::Kind>(sample.kind)) != stream) continue;
    held_at(sample.monotonic_ns).samples.push_back(&sample);
  }
  if (stream != Stream::kAllocations) return intervals;
  for (const format::PointRecord& point : gathered.points) held_at(point.monotonic_ns).points.push_back(&point);
  for (const format::PointRecord& counted : gathered.outside) held_at(counted.monotonic_ns).outside.push_back(&counted);
  return intervals;
}

void Define(Gatherer* gathered, format::ByteSource* file) {
  for (const SampleRecord& sample : gathered->samples)
    gathered->definitions.Require(sample.class_key, sample.thread_key, sample.stack_key);
  for (const format::PointRecord& point : gathered->points)
    gathered->definitions.Require(point.class_key, 0, point.stack_key);
  for (const format::PointRecord& counted : gathered->outside) gathered->definitions.Require(counted.class_key, 0, {});
  for (const format::KeyedCensusRow& keyed : gathered->census)
    gathered->definitions.Require(keyed.class_key, keyed.thread_key, {});
  for (const auto& [record, text] : gathered->events)
    gathered->definitions.Require(record.class_key, record.thread_key, record.stack_key);
  gathered->definitions.RequireMethodsOfStacks();
  if (gathered->definitions.is_incomplete()) GatherFile(file, &gathered->definitions);
}

// Deaths of tracked samples: some are in the file already, and most are of samples that were not kept. `tracked`:
// samples of the file and of the other blocks.
std::vector<format::LifecycleEvent> LifecycleEventsOf(const Gatherer& gathered, const FileHeader& header,
                                                      TrackedIds tracked,
                                                      std::vector<format::LifecycleEvent> lifecycle_events) {
  for (const format::DeathRecord& record : gathered.deaths) {
    const format::LifecycleEvent lifecycle = format::LifecycleOf(record, header.start_monotonic_ns);
    if (tracked.Take(lifecycle)) lifecycle_events.push_back(lifecycle);
  }
  std::ranges::stable_sort(lifecycle_events, {}, &format::LifecycleEvent::time_ns);
  return lifecycle_events;
}

// Returns events for untracked samples of the other blocks, and adds tracked ones to `tracked`.
std::vector<format::LifecycleEvent> Untracked(const Gatherer& gathered, const FileHeader& header, Salvaged* salvaged,
                                              TrackedIds* tracked) {
  std::unordered_set<uint64_t> without_place;
  for (const SampleRecord& record : gathered.samples) {
    if (record.tracking_index == 0) without_place.insert(record.id);
  }
  std::vector<format::LifecycleEvent> lifecycle_events;
  for (const format::Block& block : salvaged->blocks) {
    for (const format::Sample& sample : block.samples) {
      if (header.MaxTracked(sample.stream()) == 0) continue;
      if (without_place.count(sample.id) == 0) {
        tracked->Add(sample);
      } else {
        lifecycle_events.push_back({sample.id, block.end_ns, format::LifecycleKind::kUntracked, 0, 0, sample.stream()});
        ++salvaged->counters[sample.stream()].untracked;
      }
    }
  }
  return lifecycle_events;
}

void AddCensus(const Gatherer& gathered, KeyedDictionaries* dictionaries, format::Block* block) {
  for (const format::KeyedCensusRow& keyed : gathered.census) {
    format::CensusRow& row = (keyed.is_total ? block->census_totals : block->census).emplace_back(keyed.row);
    row.thread = dictionaries->Thread(keyed.thread_key);
    row.class_id = dictionaries->Class(keyed.class_key);
    block->end_ns = std::max(block->end_ns, row.time_ns);
  }
}

void Append(format::Block block, const FileEnd& end, Salvaged* salvaged) {
  block.chunk = end.next_chunk;
  block.offset = end.offset;
  block.lane_positions = end.lane_positions;
  block.dictionaries = salvaged->dictionaries.get();
  salvaged->blocks.push_back(std::move(block));
}

// Adds a separate block after the others, without moved lanes and without intervals.
void AddRest(const Gatherer& gathered, const FileHeader& header, const FileEnd& end, KeyedDictionaries* dictionaries,
             Salvaged* salvaged) {
  format::Block block;
  if (header.tracks()) {
    TrackedIds tracked = end.tracked;
    std::vector<format::LifecycleEvent> lifecycle_events = Untracked(gathered, header, salvaged, &tracked);
    block.lifecycle_events = LifecycleEventsOf(gathered, header, std::move(tracked), std::move(lifecycle_events));
  }
  if (!block.lifecycle_events.empty()) block.end_ns = block.lifecycle_events.back().time_ns;
  for (size_t i = 0; i < gathered.states.size(); ++i) {
    if (end.states.Has(gathered.states[i].id)) continue;
    block.states.push_back(format::StateOf(gathered.states[i], gathered.amounts[i], header.start_monotonic_ns));
  }
  for (const auto& [record, text] : gathered.events) {
    if (end.states.Has(record.id)) continue;
    const format::SampleNames names{dictionaries->Class(record.class_key), dictionaries->Thread(record.thread_key),
                                    dictionaries->Stack(record.stack_key)};
    block.states.push_back(format::EventOf(record, text, names, header.start_monotonic_ns));
  }
  for (const format::ProcessState& state : block.states) block.end_ns = std::max(block.end_ns, state.time_ns);
  AddCensus(gathered, dictionaries, &block);
  if (block.states.empty() && block.lifecycle_events.empty() && gathered.census.empty()) return;
  std::sort(block.states.begin(), block.states.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  if (!salvaged->blocks.empty()) block.end_ns = std::max(block.end_ns, salvaged->blocks.back().end_ns);
  block.counters = salvaged->counters;
  block.census_counters = salvaged->census;
  Append(std::move(block), end, salvaged);
}

}  // namespace

void CountUnrecordedAsLost(format::CensusMode mode, bool was_cut_off, uint64_t recorded_bytes,
                           format::CensusCounters* counters) {
  counters->lost_bytes =
      std::max(counters->lost_bytes, counters->walked_bytes - std::min(counters->walked_bytes, recorded_bytes));
  const uint64_t due = counters->tlab_bytes + counters->outside_bytes;
  const uint64_t known = counters->walked_bytes + counters->aborted_bytes;
  if (!was_cut_off || mode != format::CensusMode::kAll || due <= known) return;
  counters->walked_bytes += due - known;
  counters->lost_bytes += due - known;
}

// A thread counts its first point before it has a lane or a name in the ring, so starting threads are unknown: this
// allows for kMostNewThreads of them.
uint64_t MaxPointsUnderWay(size_t lanes, size_t threads) {
  constexpr uint64_t kMostNewThreads = 256;
  return std::max<uint64_t>(kMostNewThreads, lanes) + threads;
}

// An id may be late by the states in progress in other lanes, and never comes if its state was lost: the ring has space
// for at most this many.
void StateIds::Add(uint64_t id) {
  constexpr uint64_t kMaxMissing = 4096;
  if (next_ == 0) next_ = id;
  missing_.erase(id);
  if (id < next_) return;
  const uint64_t from = id - next_ > kMaxMissing ? id - kMaxMissing : next_;
  for (uint64_t between = from; between < id; ++between) missing_.insert(between);
  while (missing_.size() > kMaxMissing) missing_.erase(missing_.begin());
  next_ = id + 1;
}

Salvaged Salvage(const RingCopy& ring, const FileHeader& header, const FileEnd& end, format::ByteSource* file,
                 bool is_running) {
  Salvaged result;
  result.report.ring_found = true;
  result.report.write_errno = ring.write_errno();
  Gatherer gathered;
  GatherRing(ring, end, &gathered, &result.report);
  NativePointNames names(ring.view().modules());
  names.NameStacksOf(&gathered.definitions);
  AddNativePoints(names, &gathered);
  result.report.invalid = gathered.invalid;
  Define(&gathered, file);

  result.dictionaries = std::make_unique<format::Dictionaries>();
  KeyedDictionaries dictionaries(&gathered.definitions, result.dictionaries.get());
  for (const Stream stream : format::kAllStreams) {
    BlockMaker maker(header, stream, end, &dictionaries, &result.report);
    const uint64_t earliest = end.streams[stream].next_interval;
    for (const auto& [interval, held] : GroupByInterval(gathered, header, stream, earliest)) {
      Append(maker.Make(interval, held), end, &result);
    }
  }
  std::stable_sort(result.blocks.begin(), result.blocks.end(),
                   [](const format::Block& a, const format::Block& b) { return a.end_ns < b.end_ns; });
  const uint64_t most_under_way = MaxPointsUnderWay(ring.view().lane_count(), std::max(end.threads, gathered.threads));
  CarryCounters(ring, header, end, is_running, most_under_way, &result);
  result.census = ring.census();
  AddRest(gathered, header, end, &dictionaries, &result);
  if (result.blocks.empty()) return result;
  for (const format::WindowRecord& window : gathered.windows) {
    result.blocks.front().windows.push_back(format::WindowOf(window, header.start_monotonic_ns));
  }
  return result;
}

}  // namespace heaprec::tools
