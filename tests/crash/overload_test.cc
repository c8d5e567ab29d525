// 64 threads that give ten times what the lanes and an interval hold: every point has a fate, to the last one. Run it
// with --config=tsan.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "tests/crash/killed_process.h"
#include "tools/input/recording.h"

namespace heaprec::crash {
namespace {

uint64_t Lost(const format::Books& books, format::Loss loss) { return books.lost[static_cast<size_t>(loss)]; }

}  // namespace

TEST_CASE("Under ten times the load the ledger is exact, and all that is not lost is in the sums") {
  Plan plan;
  plan.folder = "/dev/shm/heaprec-load-XXXXXX";
  REQUIRE(mkdtemp(plan.folder.data()) != nullptr);
  plan.threads = kMostThreads;
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
    for (uint32_t number = 0; number < kMostObjects; ++number) {
      const Object object{thread, number};
      const Fate fate = witness->Of(object);
      REQUIRE(fate != Fate::kUnderWay);
      if (fate == Fate::kNone) break;
      (fate == Fate::kCommitted ? committed : refused) += 1;
      (fate == Fate::kCommitted ? weight : refused_weight) += object.Weight();
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
      held += interval.held;
      most = std::max(most, interval.kept);
    }
  }
  const format::Books& books = (*recording)->books();
  INFO(committed << " committed, " << refused << " refused, " << rows << " rows of " << held);
  CHECK((*recording)->ending()->reason == "test");
  CHECK(committed + refused > 10 * rows);
  CHECK(committed > rows);
  CHECK(refused > 0);
  CHECK(most == plan.cap);
  CHECK(held == committed);
  CHECK(books.points == committed + refused);
  CHECK(books.committed == committed);
  CHECK(Lost(books, format::Loss::kRingFull) + Lost(books, format::Loss::kLanesBusy) == refused);
  CHECK(books.written == rows);
  CHECK(books.second_stage == committed - rows);
  CHECK(Lost(books, format::Loss::kWriteFailed) == 0);
  CHECK(std::abs(recorded / weight - 1) < 1e-9);
  double lost_weight = 0;
  for (const double of_reason : books.lost_weight) lost_weight += of_reason;
  CHECK(std::abs(lost_weight / refused_weight - 1) < 1e-9);
  std::filesystem::remove_all(plan.folder);
}

}  // namespace heaprec::crash
