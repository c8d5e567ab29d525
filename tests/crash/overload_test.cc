// 64 threads that give ten times what the lanes and an interval hold: every point has a lifecycle event, to the last
// one. Run it with --config=tsan.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/crash/killed_process.h"
#include "tests/support/files.h"
#include "tools/input/recording.h"

namespace heaprec::crash {
namespace {

uint64_t Lost(const format::StreamCounters& counters, format::LossReason loss) {
  return counters.lost[static_cast<size_t>(loss)];
}

}  // namespace

TEST_CASE("Under ten times the load the counters are exact, and the sums contain all that is not lost") {
  const testing::Folder folder(testing::kSharedMemory);
  Plan plan;
  plan.folder = folder.path();
  plan.threads = kMaxThreads;
  plan.lanes = 32;
  plan.lane_bytes = 16 << 10;
  plan.cap = 100;
  plan.interval_ns = 50'000'000;
  plan.pause_ns = 100'000;
  plan.stop_after_ns = 2'000'000'000;
  const auto witness = MakeWitness();
  Record(plan, witness.get());

  uint64_t committed = 0, refused = 0;
  double weight = 0, refused_weight = 0;
  for (uint32_t thread = 0; thread < plan.threads; ++thread) {
    for (uint32_t number = 0; number < kMaxObjects; ++number) {
      const Object object{thread, number};
      const LifecycleEvent lifecycle = witness->Of(object);
      REQUIRE(lifecycle != LifecycleEvent::kUnderWay);
      if (lifecycle == LifecycleEvent::kNone) break;
      (lifecycle == LifecycleEvent::kCommitted ? committed : refused) += 1;
      (lifecycle == LifecycleEvent::kCommitted ? weight : refused_weight) += object.Weight();
    }
  }

  auto recording = tools::Recording::Open(plan.folder + "/rec.hrec");
  REQUIRE(recording.ok());
  uint64_t rows = 0, held = 0, most = 0;
  double recorded = 0;
  while (const auto block = (*recording)->Next()) {
    rows += block->samples.size();
    for (const format::Sample& sample : block->samples) recorded += sample.weight;
    for (const format::Interval& interval : block->intervals) {
      held += interval.buffered;
      most = std::max(most, interval.kept);
    }
  }
  const format::StreamCounters& counters = (*recording)->counters();
  INFO(committed << " committed, " << refused << " refused, " << rows << " rows of " << held);
  CHECK((*recording)->ending()->reason == "test");
  CHECK(committed + refused > 10 * rows);
  CHECK(committed > rows);
  CHECK(refused > 0);
  CHECK(most == plan.cap);
  CHECK(held == committed);
  CHECK(counters.points == committed + refused);
  CHECK(counters.committed == committed);
  CHECK(Lost(counters, format::LossReason::kRingFull) + Lost(counters, format::LossReason::kLanesBusy) == refused);
  CHECK(counters.written == rows);
  CHECK(counters.second_stage == committed - rows);
  CHECK(Lost(counters, format::LossReason::kWriteFailed) == 0);
  CHECK(std::abs(recorded / weight - 1) < 1e-9);
  double lost_weight = 0;
  for (const double of_reason : counters.lost_weight) lost_weight += of_reason;
  CHECK(std::abs(lost_weight / refused_weight - 1) < 1e-9);
}

}  // namespace heaprec::crash
