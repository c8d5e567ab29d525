#include "recorder/writer/collector.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heaprec::writer {
namespace {

uint64_t FirstWord(const format::RecordingId& id) {
  uint64_t first = 0;
  std::memcpy(&first, id.data(), sizeof(first));
  return first;
}

// Older ones are referred to by stale arms at most: those samples then carry their weight themselves.
constexpr size_t kMostWindows = 4096;
// Each round finds what the one before was missing; new stacks may come meanwhile, and those wait for the next Scan.
constexpr int kMostRounds = 3;

}  // namespace

Collector::Collector(buffer::Ring& ring, const format::RecordingId& id)
    : ring_(ring),
      view_(format::RingView::Of({ring.bytes(), ring.size()}).value()),
      id_word_(FirstWord(id)),
      reducer_(ring.header().interval_ns, ring.header().interval_cap),
      lanes_(ring.lane_count()) {}

void Collector::NewChunk(format::ChunkWriter* chunk, uint32_t sequence) {
  chunk_ = chunk;
  sequence_ = sequence;
  definitions_.NewChunk(chunk);
  // Samples may wait for many chunks (an interval of an hour, a disk that stays full): what they need comes along.
  for (const Lane& lane : lanes_) {
    for (const Held& held : lane.held) {
      (void)definitions_.Class(held.record.class_key);
      (void)definitions_.Stack(held.record.stack_key);
      (void)definitions_.Thread(held.record.thread_key);
    }
  }
}

void Collector::Scan() {
  ScanLanes();
  // Definitions are committed before what uses them, so those that a stack was missing are in the lanes by now.
  for (int round = 0; round < kMostRounds && !waiting_.empty(); ++round) {
    const std::vector<WaitingStack> waiting = std::exchange(waiting_, {});
    ScanLanes();
    for (const WaitingStack& stack : waiting) definitions_.DefineStack(stack.key, stack.frames, stack.truncated);
  }
}

void Collector::ScanLanes() {
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (lane.damaged) continue;
    // Acquire: what was published before this head is whole (pairs with the release in LaneLease::Commit).
    const uint64_t head = ring_.lane(i).head.load(std::memory_order_acquire);
    if (head == lane.scanned) continue;
    auto reached = format::WalkLane(view_, i, lane.scanned, head, *this);
    if (reached.ok()) {
      lane.scanned = *reached;
    } else {
      lane.damaged = true;
    }
  }
}

uint64_t Collector::next_close_ns() const {
  return ring_.header().start_monotonic_ns + (next_interval_ + 1) * ring_.header().interval_ns;
}

std::vector<Collector::Writer> Collector::WritersAtWork() {
  std::vector<Writer> writers;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const format::LaneHeader& lane = ring_.lane(i);
    // The head is read first: if it moves after this, the writer has published since.
    const uint64_t head = lane.head.load(std::memory_order_acquire);
    if (lane.lease.load(std::memory_order_acquire) != 0) writers.push_back({i, head});
  }
  return writers;
}

bool Collector::StillAtWork(const Writer& writer) {
  const format::LaneHeader& lane = ring_.lane(writer.lane);
  return lane.lease.load(std::memory_order_acquire) != 0 && lane.head.load(std::memory_order_acquire) == writer.head;
}

ClosedInterval Collector::CloseNext(size_t cap) {
  const uint64_t begin_ns = next_interval_ * ring_.header().interval_ns;
  const std::vector<Held> taken = TakeUntil(next_close_ns());
  std::vector<throttle::TimedPoint> points;
  points.reserve(taken.size());
  for (const Held& held : taken) {
    points.push_back({held.record.id, held.record.weight_bytes, TimeOf(held.record, begin_ns)});
  }
  const throttle::IntervalReduction reduction =
      reducer_.Reduce(next_interval_, points, cap, throttle::ReductionSeed(id_word_, next_interval_));

  ClosedInterval closed;
  closed.totals.index = next_interval_;
  closed.totals.held = taken.size();
  closed.totals.kept = reduction.kept.size();
  closed.totals.tau = reduction.tau;
  closed.samples.reserve(reduction.kept.size());
  for (const throttle::KeptPoint& point : reduction.kept) {
    closed.samples.push_back(ToSample(taken[point.index].record, points[point.index].time_ns, point.weight));
  }
  std::sort(closed.samples.begin(), closed.samples.end(),
            [](const format::Sample& a, const format::Sample& b) { return a.time_ns < b.time_ns; });
  ++next_interval_;
  return closed;
}

// In ticks, as the file has it: a salvager that counts the file's samples then counts what the drain counted.
uint64_t Collector::TimeOf(const format::SampleRecord& record, uint64_t not_before_ns) const {
  return std::max(SinceStart(record.monotonic_ns), not_before_ns) / format::kTickNs * format::kTickNs;
}

std::vector<Collector::Held> Collector::TakeUntil(uint64_t end_ns) {
  std::vector<Held> taken;
  for (Lane& lane : lanes_) {
    while (!lane.held.empty() && lane.held.front().record.monotonic_ns < end_ns) {
      taken.push_back(lane.held.front());
      lane.held.pop_front();
    }
  }
  return taken;
}

std::vector<uint64_t> Collector::Positions() const {
  std::vector<uint64_t> positions;
  positions.reserve(lanes_.size());
  for (const Lane& lane : lanes_) positions.push_back(lane.held.empty() ? lane.scanned : lane.held.front().begin);
  return positions;
}

void Collector::Release(const std::vector<uint64_t>& positions) {
  for (uint32_t i = 0; i < positions.size(); ++i) {
    // Release: we have read what is given back (pairs with the acquire of tail in LaneLease).
    ring_.lane(i).tail.store(positions[i], std::memory_order_release);
  }
}

format::Sample Collector::ToSample(const format::SampleRecord& record, uint64_t time_ns, double weight) {
  UseWindow(record.window);
  format::Sample sample;
  sample.id = record.id;
  sample.time_ns = time_ns;
  sample.kind = static_cast<format::Kind>(record.kind);
  sample.thread = definitions_.Thread(record.thread_key);
  sample.class_id = definitions_.Class(record.class_key);
  sample.stack = definitions_.Stack(record.stack_key);
  sample.size = record.size;
  sample.tlab_size = record.tlab_size;
  sample.window = record.window;
  sample.weight_bytes = weight;
  return sample;
}

uint64_t Collector::SinceStart(uint64_t monotonic_ns) const {
  const uint64_t start = ring_.header().start_monotonic_ns;
  return monotonic_ns > start ? monotonic_ns - start : 0;
}

void Collector::OnClass(uint64_t key, std::string_view name) { definitions_.DefineClass(key, name); }

void Collector::OnMethod(uint64_t key, std::string_view class_name, std::string_view name,
                         std::string_view descriptor) {
  definitions_.DefineMethod(key, class_name, name, descriptor);
}

void Collector::OnStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated) {
  if (definitions_.KnowsMethods(leaf_first)) return definitions_.DefineStack(key, leaf_first, truncated);
  waiting_.push_back({key, {leaf_first.begin(), leaf_first.end()}, truncated});
}

void Collector::OnThread(uint64_t key, const format::ThreadRecord& record, std::string_view name) {
  definitions_.DefineThread(key, {record.java_tid, record.os_tid, record.is_virtual != 0, std::string(name)});
}

void Collector::OnWindow(const format::WindowRecord& record) {
  format::Window window;
  window.id = record.id;
  window.start_ns = SinceStart(record.start_monotonic_ns);
  window.lambda = record.lambda;
  windows_.insert_or_assign(window.id, KnownWindow{window, -1});
  UseWindow(window.id);
  if (windows_.size() > kMostWindows) windows_.erase(windows_.begin());
}

void Collector::UseWindow(uint32_t id) {
  const auto known = windows_.find(id);
  if (known == windows_.end() || known->second.chunk == sequence_) return;
  chunk_->Add(known->second.window);
  known->second.chunk = sequence_;
}

void Collector::OnSample(const format::SampleRecord& record, uint32_t lane, uint64_t begin, uint64_t /*end*/) {
  lanes_[lane].held.push_back({record, begin});
}

}  // namespace heaprec::writer
