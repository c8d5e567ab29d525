#include "recorder/native_sample/sampled_blocks.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace heaprec::native {
namespace {

const void* Address(uint64_t number) {
  return reinterpret_cast<const void*>(0x7f0000001000 + number * 48);  // NOLINT(performance-no-int-to-ptr)
}

std::map<uint64_t, uint64_t> DeadOf(SampledBlocks* table) {
  std::map<uint64_t, uint64_t> dead;
  table->TakeDead([&](uint64_t sample, uint64_t freed_ns) { dead[sample] = freed_ns; });
  return dead;
}

}  // namespace

TEST_CASE("A tracked block is found when it is freed, and reported once") {
  const auto table = std::make_unique<SampledBlocks>();
  CHECK(!table->MayHold(Address(1)));
  CHECK(table->Take(Address(1)) == 0);
  const uint16_t place = table->Put(Address(1), 77);
  REQUIRE(place != 0);
  CHECK(table->MayHold(Address(1)));
  CHECK(table->Take(Address(2)) == 0);
  REQUIRE(table->Take(Address(1)) == place);
  CHECK(table->Take(Address(1)) == 0);
  table->MarkDead(place, Address(1), 500);
  CHECK(!table->MayHold(Address(1)));
  CHECK(DeadOf(table.get()) == std::map<uint64_t, uint64_t>{{77, 500}});
  CHECK(DeadOf(table.get()).empty());
}

TEST_CASE("A null block is never tracked") {
  const auto table = std::make_unique<SampledBlocks>();
  CHECK(table->Take(nullptr) == 0);
}

TEST_CASE("A block that was not moved in the end is tracked as before") {
  const auto table = std::make_unique<SampledBlocks>();
  const uint16_t place = table->Put(Address(1), 77);
  REQUIRE(table->Take(Address(1)) == place);
  table->Restore(place, Address(1));
  CHECK(table->MayHold(Address(1)));
  CHECK(table->Take(Address(1)) == place);
}

TEST_CASE("A block that is allocated and freed repeatedly is tracked each time") {
  const auto table = std::make_unique<SampledBlocks>();
  for (uint64_t sample = 1; sample <= 20'000; ++sample) {  // more than there is room for to tell of
    const uint16_t place = table->Put(Address(1), sample);
    if (sample <= 16'000) REQUIRE(place != 0);
    if (place == 0) continue;
    REQUIRE(table->Take(Address(1)) == place);
    table->MarkDead(place, Address(1), sample);
  }
  const auto dead = DeadOf(table.get());
  CHECK(dead.size() == (1 << 14) + 16);
  for (const auto& [sample, freed_ns] : dead) CHECK(sample == freed_ns);
  CHECK(table->Put(Address(1), 30'000) != 0);
}

TEST_CASE("A dropped block is not found, and a freed block is not dropped") {
  const auto table = std::make_unique<SampledBlocks>();
  const uint16_t place = table->Put(Address(1), 77);
  table->Drop(place, 78);  // another one
  CHECK(table->MayHold(Address(1)));
  table->Drop(place, 77);
  CHECK(!table->MayHold(Address(1)));
  CHECK(table->Take(Address(1)) == 0);

  const uint16_t again = table->Put(Address(1), 79);
  REQUIRE(table->Take(Address(1)) == again);
  table->Drop(again, 79);
  table->MarkDead(again, Address(1), 600);
  CHECK(DeadOf(table.get()) == std::map<uint64_t, uint64_t>{{79, 600}});
}

TEST_CASE("A quarter of the slots is used, and never more than there are") {
  const auto table = std::make_unique<SampledBlocks>();
  size_t refused = 0;
  for (uint64_t i = 0; i < SampledBlocks::kPlaces / 4; ++i) refused += table->Put(Address(i), i + 1) == 0;
  // A bucket of 8 with 2 on average: none of two is free about once in 10 million times.
  CHECK(refused == 0);
  std::set<uint16_t> places;
  for (uint64_t i = 0; i < SampledBlocks::kPlaces / 4; ++i) places.insert(table->Take(Address(i)));
  CHECK(places.size() == SampledBlocks::kPlaces / 4);
  CHECK(!places.contains(0));
  table->Clear();
  size_t taken = 0;
  for (uint64_t i = 0; i < 2 * SampledBlocks::kPlaces; ++i) taken += table->Put(Address(i), i + 1) != 0;
  CHECK(taken <= SampledBlocks::kPlaces);
  CHECK(taken > SampledBlocks::kPlaces / 2);
}

TEST_CASE("Threads track and free blocks while the drain takes the dead ones") {
  const auto table = std::make_unique<SampledBlocks>();
  constexpr uint64_t kEach = 100'000;
  constexpr int kThreads = 4;
  std::atomic<int> at_work{kThreads};
  std::atomic<uint64_t> tracked{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < kEach; ++i) {
        const void* const block = Address(static_cast<uint64_t>(thread) * 1000 + i % 1000);
        const uint64_t sample = static_cast<uint64_t>(thread) * kEach + i + 1;
        if (table->Put(block, sample) == 0) continue;
        ++tracked;
        const uint16_t place = table->Take(block);
        if (place != 0) table->MarkDead(place, block, sample);
      }
      --at_work;
    });
  }
  uint64_t told = 0, wrong = 0;
  const auto take = [&] {
    table->TakeDead([&](uint64_t sample, uint64_t freed_ns) {
      ++told;
      wrong += sample != freed_ns;
    });
  };
  while (at_work > 0) take();
  for (std::thread& thread : threads) thread.join();
  take();
  CHECK(told == tracked);
  CHECK(wrong == 0);
  for (uint64_t i = 0; i < kThreads * 1000; ++i) CHECK(!table->MayHold(Address(i)));
}

}  // namespace heaprec::native
