#include "tools/input/salvage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "format/ring_reader.h"
#include "throttle/interval_reducer.h"
#include "tools/input/definitions.h"
#include "tools/input/keyed_dictionaries.h"

namespace heaprec::tools {
namespace {

using format::FileHeader;
using format::SampleRecord;

constexpr size_t kNoCap = size_t{1} << 40;              // more than a ring can hold
constexpr uint64_t kDefaultIntervalNs = 1'000'000'000;  // if the header has none

bool IsPossible(const SampleRecord& record) {
  return std::isfinite(record.weight_bytes) && record.weight_bytes > 0 && record.kind < format::kKinds;
}

class Gatherer final : public format::RecordVisitor {
 public:
  Definitions definitions;
  std::vector<SampleRecord> samples;
  std::vector<format::WindowRecord> windows;
  uint64_t invalid = 0;

  void OnClass(uint64_t key, std::string_view name) override { definitions.classes.emplace(key, name); }
  void OnMethod(uint64_t key, std::string_view class_name, std::string_view name,
                std::string_view descriptor) override {
    definitions.methods.try_emplace(
        key, format::Method{std::string(class_name), std::string(name), std::string(descriptor)});
  }
  void OnStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated) override {
    definitions.stacks.try_emplace(key, KeyedStack{{leaf_first.begin(), leaf_first.end()}, truncated});
  }
  void OnThread(uint64_t key, const format::ThreadRecord& record, std::string_view name) override {
    definitions.threads.try_emplace(
        key, format::Thread{record.java_tid, record.os_tid, record.is_virtual != 0, std::string(name)});
  }
  void OnWindow(const format::WindowRecord& record) override { windows.push_back(record); }
  void OnSample(const SampleRecord& record, uint32_t, uint64_t, uint64_t) override {
    if (IsPossible(record)) {
      samples.push_back(record);
    } else {
      ++invalid;
    }
  }
};

void GatherRing(const RingCopy& ring, const FileEnd& end, Gatherer* into, SalvageReport* report) {
  for (uint32_t lane = 0; lane < ring.view().lane_count(); ++lane) {
    const uint64_t in_file = lane < end.lane_positions.size() ? end.lane_positions[lane] : 0;
    // Past the tail even if the file has less: those bytes may be overwritten already.
    const uint64_t from = std::max(in_file, ring.tail(lane));
    if (from >= ring.head(lane)) continue;
    const auto reached = format::WalkLane(ring.view(), lane, from, ring.head(lane), *into);
    if (!reached.ok()) report->errors.push_back(reached.error().message);
  }
}

void GatherFile(format::ByteSource* file, Definitions* definitions) {
  auto reader = format::Reader::Open(file);
  if (!reader.ok()) return;
  while (definitions->wants_anything()) {
    const auto block = (*reader)->Next();
    if (!block) return;
    definitions->TakeFrom(*block);
  }
}

uint64_t IntervalNs(const FileHeader& header) {
  return header.interval_ns > 0 ? header.interval_ns : kDefaultIntervalNs;
}

uint64_t SinceStart(uint64_t monotonic_ns, const FileHeader& header) {
  return monotonic_ns > header.start_monotonic_ns ? monotonic_ns - header.start_monotonic_ns : 0;
}

uint64_t SeedOf(const format::RecordingId& recording, uint64_t interval) {
  uint64_t first = 0;
  std::memcpy(&first, recording.data(), sizeof(first));
  return throttle::ReductionSeed(first, interval);
}

// Makes blocks of what was gathered, under indices of one set of dictionaries.
class BlockMaker {
 public:
  BlockMaker(const FileHeader& header, const FileEnd& end, KeyedDictionaries* dictionaries, SalvageReport* report)
      : header_(header),
        in_file_(end.books.written),
        dictionaries_(*dictionaries),
        report_(*report),
        reducer_(IntervalNs(header), header.interval_cap > 0 ? header.interval_cap : kNoCap) {
    for (const uint64_t time_ns : end.latest_times) reducer_.Note(end.next_interval - 1, time_ns);
  }

  // One interval's samples, reduced.
  format::Block Make(uint64_t interval, const std::vector<const SampleRecord*>& held) {
    std::vector<throttle::TimedPoint> points;
    points.reserve(held.size());
    for (const SampleRecord* sample : held) {
      points.push_back({sample->id, sample->weight_bytes, TimeOf(*sample, interval * IntervalNs(header_))});
    }
    const throttle::IntervalReduction reduction =
        reducer_.Reduce(interval, points, Cap(held.size()), SeedOf(header_.recording_id, interval));

    format::Block block;
    for (const throttle::KeptPoint& point : reduction.kept) {
      block.samples.push_back(SampleOf(*held[point.index], points[point.index].time_ns, point.weight));
    }
    std::stable_sort(block.samples.begin(), block.samples.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    block.intervals.push_back({interval, 0, 0, held.size(), block.samples.size(), reduction.tau});
    block.end_ns = block.samples.empty() ? 0 : block.samples.back().time_ns;
    report_.held += held.size();
    report_.events += block.samples.size();
    return block;
  }

 private:
  uint64_t TimeOf(const SampleRecord& from, uint64_t earliest_ns) const {
    return std::max(SinceStart(from.monotonic_ns, header_), earliest_ns) / format::kTickNs * format::kTickNs;
  }

  // As the drain has it: the interval's, and what samples= leaves.
  size_t Cap(size_t held) const {
    const size_t cap = header_.interval_cap > 0 ? header_.interval_cap : held;
    if (header_.max_samples == 0) return cap;
    const uint64_t so_far = in_file_ + report_.events;
    return std::min<size_t>(cap, header_.max_samples > so_far ? header_.max_samples - so_far : 0);
  }

  format::Sample SampleOf(const SampleRecord& from, uint64_t time_ns, double weight) {
    format::Sample sample;
    sample.id = from.id;
    sample.time_ns = time_ns;
    sample.kind = static_cast<format::Kind>(from.kind);
    sample.thread = dictionaries_.Thread(from.thread_key);
    sample.class_id = dictionaries_.Class(from.class_key);
    sample.stack = dictionaries_.Stack(from.stack_key);
    sample.size = from.size;
    sample.tlab_size = from.tlab_size;
    sample.window = from.window;
    sample.weight_bytes = weight;
    const bool stack_is_lost = sample.stack == format::kNone && !(from.stack_key == format::StackKey{0, 0});
    if (sample.thread == format::kNone || sample.class_id == format::kNone || stack_is_lost) ++report_.unnamed;
    return sample;
  }

  const FileHeader& header_;
  const uint64_t in_file_;
  KeyedDictionaries& dictionaries_;
  SalvageReport& report_;
  throttle::IntervalReducer reducer_;
};

// The drain's books after these blocks: the ring's own, but written is what the file and this salvage hold.
void CarryBooks(const format::Books& ring, const format::Books& file, Salvaged* salvaged) {
  salvaged->books = ring;
  salvaged->books.written = file.written;
  salvaged->books.second_stage = file.second_stage;
  for (format::Block& block : salvaged->blocks) {
    salvaged->books.written += block.intervals.front().kept;
    salvaged->books.second_stage += block.intervals.front().held - block.intervals.front().kept;
    block.books = salvaged->books;
  }
}

using HeldByInterval = std::map<uint64_t, std::vector<const SampleRecord*>>;

HeldByInterval GroupByInterval(const std::vector<SampleRecord>& samples, const FileHeader& header, uint64_t earliest) {
  HeldByInterval intervals;
  for (const SampleRecord& sample : samples) {
    const uint64_t own = SinceStart(sample.monotonic_ns, header) / IntervalNs(header);
    intervals[std::max(own, earliest)].push_back(&sample);
  }
  return intervals;
}

void Define(Gatherer* gathered, format::ByteSource* file) {
  for (const SampleRecord& sample : gathered->samples) gathered->definitions.Want(sample);
  gathered->definitions.WantMethodsOfStacks();
  if (gathered->definitions.wants_anything()) GatherFile(file, &gathered->definitions);
}

}  // namespace

Salvaged Salvage(const RingCopy& ring, const FileHeader& header, const FileEnd& end, format::ByteSource* file) {
  Salvaged result;
  result.report.ring_found = true;
  Gatherer gathered;
  GatherRing(ring, end, &gathered, &result.report);
  result.report.invalid = gathered.invalid;
  Define(&gathered, file);

  result.dictionaries = std::make_unique<format::Dictionaries>();
  KeyedDictionaries dictionaries(&gathered.definitions, result.dictionaries.get());
  BlockMaker maker(header, end, &dictionaries, &result.report);
  for (const auto& [interval, held] : GroupByInterval(gathered.samples, header, end.next_interval)) {
    format::Block block = maker.Make(interval, held);
    block.chunk = end.next_chunk;
    block.offset = end.offset;
    block.lane_positions = end.lane_positions;
    block.dictionaries = result.dictionaries.get();
    result.blocks.push_back(std::move(block));
  }
  CarryBooks(ring.books(), end.books, &result);
  if (result.blocks.empty()) return result;
  for (const format::WindowRecord& window : gathered.windows) {
    result.blocks.front().windows.push_back({window.id, SinceStart(window.start_monotonic_ns, header), window.lambda});
  }
  return result;
}

}  // namespace heaprec::tools
