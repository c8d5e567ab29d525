#include "recorder/buffer/lane_lease.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "tests/format/ring_image.h"

namespace heaprec::buffer {
namespace {

using format::RecordType;
using format::SampleRecord;

std::unique_ptr<Ring> MakeRing(uint32_t lanes, uint32_t lane_bytes) {
  RingOptions options;
  options.lane_count = lanes;
  options.lane_bytes = lane_bytes;
  options.caps[format::Stream::kAllocations] = {1'000'000'000, 150};
  return std::move(Ring::Create(options).value());
}

// Writes one sample whose fields are functions of its id, so that a torn one shows.
bool WriteSample(LaneLease& lease, uint64_t id) {
  std::byte* record = lease.Reserve(RecordType::kSample, sizeof(SampleRecord));
  if (record == nullptr) return false;
  SampleRecord sample{};
  sample.id = id;
  sample.size = ~id;
  sample.stack_key = {id * 3, id * 5};
  CopyFixed(record, sample);
  lease.Commit();
  return true;
}

struct SampleSink final : format::testing::CountingVisitor {
  void OnSample(const SampleRecord& record, uint32_t, uint64_t, uint64_t) override {
    torn += record.size != ~record.id || record.stack_key != format::StackKey{record.id * 3, record.id * 5};
    ids.push_back(record.id);
  }
  std::vector<uint64_t> ids;
  int torn = 0;
};

// Takes everything out of the ring, as the drain does.
void Drain(Ring& ring, std::vector<uint64_t>& positions, SampleSink& sink) {
  const auto view = format::RingView::Of({ring.bytes(), ring.size()});
  REQUIRE(view.ok());
  for (uint32_t i = 0; i < ring.lane_count(); ++i) {
    const uint64_t head = ring.lane(i).head.load(std::memory_order_acquire);
    const auto reached = format::WalkLane(*view, i, positions[i], head, sink);
    REQUIRE(reached.ok());
    positions[i] = *reached;
    ring.lane(i).tail.store(*reached, std::memory_order_release);
  }
}

}  // namespace

TEST_CASE("A lease is exclusive, and a thread that finds a lane busy takes another one") {
  auto ring = MakeRing(2, 4096);
  LaneLease first(*ring, 0, 100);
  LaneLease second(*ring, 0, 100);
  LaneLease third(*ring, 0, 100);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first.index() != second.index());
  CHECK_FALSE(third.ok());
  CHECK(third.found_busy_only());
}

TEST_CASE("The end of a lease frees the lane") {
  auto ring = MakeRing(1, 4096);
  { const LaneLease lease(*ring, 0, 100); }
  CHECK(LaneLease(*ring, 0, 100).ok());
}

TEST_CASE("A full lane is skipped and does not count as busy") {
  auto ring = MakeRing(1, 4096);
  uint64_t written = 0;
  {
    LaneLease lease(*ring, 0, 100);
    while (WriteSample(lease, written)) ++written;
  }
  CHECK(written == 4096 / sizeof(SampleRecord));
  LaneLease full(*ring, 0, 100);
  CHECK_FALSE(full.ok());
  CHECK_FALSE(full.found_busy_only());
}

TEST_CASE("Reserved records are invisible until they are committed") {
  auto ring = MakeRing(1, 4096);
  LaneLease lease(*ring, 0, 100);
  REQUIRE(lease.Reserve(RecordType::kSample, sizeof(SampleRecord)) != nullptr);
  CHECK(ring->lane(0).head.load() == 0);
}

TEST_CASE("Records that wrap around a small lane arrive complete and in order") {
  auto ring = MakeRing(1, 1024);
  std::vector<uint64_t> positions(1, 0);
  SampleSink sink;
  for (uint64_t id = 0; id < 10'000; ++id) {
    {
      LaneLease lease(*ring, 0, 88);
      REQUIRE(lease.ok());
      REQUIRE(WriteSample(lease, id));
    }
    if (id % 5 == 4) Drain(*ring, positions, sink);
  }
  Drain(*ring, positions, sink);
  REQUIRE(sink.ids.size() == 10'000);
  CHECK(std::is_sorted(sink.ids.begin(), sink.ids.end()));
  CHECK(sink.torn == 0);
}

// Run under --config=tsan as well: the only synchronisation is the ring's own.
TEST_CASE("A reader that sees a lost point also sees its weight") {
  constexpr uint64_t kPoints = 1'000'000;
  auto ring = MakeRing(1, 64 * 1024);
  SharedCounters shared_counters(ring->header().counters);
  constexpr auto kFull = static_cast<size_t>(format::LossReason::kRingFull);
  std::thread writer([&] {
    for (uint64_t i = 0; i < kPoints; ++i) shared_counters.Lost(format::LossReason::kRingFull, 1);
  });
  uint64_t seen = 0, without_weight = 0;
  while (seen < kPoints) {
    const format::StreamCounters counters = shared_counters.Snapshot();
    seen = counters.lost[kFull];
    if (counters.lost_weight[kFull] < static_cast<double>(seen)) ++without_weight;
  }
  writer.join();
  CHECK(without_weight == 0);
}

TEST_CASE("Many threads and a drain lose no committed record, and count refused ones") {
  constexpr int kThreads = 8;
  constexpr uint64_t kEach = 20'000;
  auto ring = MakeRing(4, 64 * 1024);
  SharedCounters shared_counters(ring->header().counters);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        shared_counters.Point();
        LaneLease lease(*ring, static_cast<uint32_t>(t), sizeof(SampleRecord));
        if (lease.ok() && WriteSample(lease, static_cast<uint64_t>(t) * kEach + i)) {
          shared_counters.Committed();
        } else {
          std::this_thread::yield();  // the drain has to come by on few cores
          shared_counters.Lost(
              lease.ok() || !lease.found_busy_only() ? format::LossReason::kRingFull : format::LossReason::kLanesBusy,
              1.0);
        }
      }
      running.fetch_sub(1);
    });
  }
  std::vector<uint64_t> positions(ring->lane_count(), 0);
  SampleSink sink;
  while (running.load() > 0) Drain(*ring, positions, sink);
  for (std::thread& thread : threads) thread.join();
  Drain(*ring, positions, sink);

  const format::StreamCounters counters = shared_counters.Snapshot();
  const std::set<uint64_t> unique(sink.ids.begin(), sink.ids.end());
  CHECK(sink.torn == 0);
  CHECK(unique.size() == sink.ids.size());
  CHECK(sink.ids.size() == counters.committed);
  CHECK(counters.points == kThreads * kEach);
  const uint64_t lost = counters.lost[static_cast<int>(format::LossReason::kRingFull)] +
                        counters.lost[static_cast<int>(format::LossReason::kLanesBusy)];
  CHECK(counters.points == counters.committed + lost);
  CHECK(counters.committed > kEach);
}

}  // namespace heaprec::buffer
