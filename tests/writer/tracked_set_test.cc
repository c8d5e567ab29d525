#include "recorder/writer/tracked_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;

// Notes what is dropped.
struct Live final : TrackedSet {
  explicit Live(uint32_t places = 100, uint32_t births = 10)
      : TrackedSet(places, births, 1,
                   {.drop = [this](uint16_t, uint64_t sample) { dropped.insert(sample); },
                    .collections_at_birth = [](uint16_t place, uint64_t) { return uint64_t{place} * 10; },
                    .collections = [] { return uint64_t{99}; }}) {}
  std::set<uint64_t> dropped;
};

ClosedSample Born(uint64_t id, uint64_t time_ns, double weight = 1000, uint16_t place = 1) {
  ClosedSample birth;
  birth.sample.id = id;
  birth.sample.time_ns = time_ns;
  birth.sample.weight = weight;
  birth.tracking_index = place;
  birth.is_kept = true;
  return birth;
}

LifecycleEvent Death(uint64_t id, uint64_t time_ns) { return {id, time_ns, LifecycleKind::kDied, 3, 0}; }

TEST_CASE("Entries for births are kept free, and half of all are for the reservoir at any rate") {
  CHECK(ReservoirOf(4096, 50) == 4096 - 512);
  CHECK(ReservoirOf(7200, 600) == 3600);
  CHECK(ReservoirOf(16'000, 600) == 16'000 - 3600);
  CHECK(ReservoirOf(4096, 100'000) == 2048);
  CHECK(ReservoirOf(64, 150) == 32);
}

TEST_CASE("A kept sample is tracked until it dies, once") {
  Live live;
  live.Close(kSecond, std::vector{Born(1, 10, 1000, 7), Born(2, 20)});
  CHECK(live.tracked().size() == 2);
  CHECK(live.tracked().at(1).checkpoint_sample.collections == 70);
  CHECK(live.TakeLifecycleEvents().empty());
  live.Died(Death(1, kSecond + 5), 0, 0);
  live.Died(Death(1, kSecond + 6), 0, 0);
  CHECK(live.TakeLifecycleEvents() == std::vector{Death(1, kSecond + 5)});
  CHECK(live.tracked().size() == 1);
  CHECK(live.dropped.empty());
}

LifecycleEvent Shrunk(uint64_t id, uint64_t time_ns, uint64_t left) {
  LifecycleEvent lifecycle{id, time_ns, LifecycleKind::kShrunk, 0, 0};
  lifecycle.left = left;
  return lifecycle;
}

TEST_CASE("A sample that shrinks continues as a smaller one, and every part is reported once") {
  Live live;
  ClosedSample big = Born(1, 10), early = Born(2, 20), short_lived = Born(3, 30);
  for (ClosedSample* const one : {&big, &early, &short_lived}) one->sample.size = 900;
  // Of samples whose interval is open: the last word counts.
  live.Died(Shrunk(2, 100, 600), 0, 0);
  live.Died(Shrunk(2, 200, 500), 0, 0);
  live.Died(Shrunk(3, 300, 500), 0, 0);
  live.Died(Death(3, 400), 0, 0);
  live.Close(kSecond, std::vector{big, early, short_lived});
  CHECK(live.TakeLifecycleEvents() == std::vector{Shrunk(2, 200, 500), Death(3, 400)});
  live.Died(Shrunk(1, kSecond + 1, 300), 0, 0);
  live.Died(Shrunk(1, kSecond + 2, 300), 0, 0);
  CHECK(live.TakeLifecycleEvents() == std::vector{Shrunk(1, kSecond + 1, 300)});
  CHECK(live.tracked().at(1).checkpoint_sample.left() == 300);
  CHECK(live.tracked().at(2).checkpoint_sample.left() == 500);
  live.Died(Death(1, kSecond + 5), 0, 0);
  CHECK(live.tracked().size() == 1);
}

TEST_CASE("A sample that dies before its interval ends never competes, and is dead when others are released") {
  Live live;
  live.Died(Death(1, 500), 2, 64);
  live.Died(Death(2, kSecond + 77), 1, 128);  // found before the interval was closed, and after its end
  std::vector<uint64_t> floors(3, UINT64_MAX);
  live.LowerTo({0, 0, 0}, &floors);
  CHECK(floors == std::vector<uint64_t>{UINT64_MAX, 128, 64});
  floors.assign(3, UINT64_MAX);
  live.LowerTo({0, 128, 65}, &floors);
  CHECK(floors == std::vector<uint64_t>{UINT64_MAX, 128, UINT64_MAX});
  live.Close(kSecond, std::vector{Born(1, 10), Born(2, 20)});
  CHECK(live.TakeLifecycleEvents() == std::vector{Death(1, 500), Death(2, kSecond)});
  CHECK(live.tracked().empty());
  floors.assign(3, UINT64_MAX);
  live.LowerTo({0, 0, 0}, &floors);
  CHECK(floors == std::vector<uint64_t>(3, UINT64_MAX));
}

TEST_CASE("Samples that the second stage drops are no longer tracked, unless they are dead") {
  Live live;
  live.Died(Death(2, 500), 0, 0);
  std::vector<ClosedSample> births{Born(1, 10), Born(2, 20), Born(3, 30, 1000, 0)};
  for (ClosedSample& birth : births) birth.is_kept = false;
  live.Close(kSecond, births);
  CHECK(live.dropped == std::set<uint64_t>{1});
  CHECK(live.TakeLifecycleEvents().empty());
}

TEST_CASE("A kept sample without an entry is reported as untracked") {
  Live live;
  live.Close(kSecond, std::vector{Born(1, 10, 1000, 0)});
  const std::vector<LifecycleEvent> lifecycle_events = live.TakeLifecycleEvents();
  REQUIRE(lifecycle_events.size() == 1);
  CHECK((lifecycle_events[0].kind == LifecycleKind::kUntracked && lifecycle_events[0].time_ns == kSecond));
  CHECK(live.tracked().empty());
}

TEST_CASE("If some samples have no entry, the others of the interval carry their weight") {
  Live live;
  live.Close(kSecond, std::vector{Born(1, 10, 1000), Born(2, 20, 3000), Born(3, 30, 2000, 0)});
  live.Close(2 * kSecond, std::vector{Born(4, kSecond + 10, 1000)});
  CHECK(live.tracked().at(1).checkpoint_sample.sample.weight == 1500);
  CHECK(live.tracked().at(2).checkpoint_sample.sample.weight == 4500);
  CHECK(live.tracked().at(4).checkpoint_sample.sample.weight == 1000);
}

TEST_CASE("If no sample of an interval has an entry, those of the next one carry their weight") {
  Live live;
  live.Close(kSecond, std::vector{Born(1, 10, 1000, 0), Born(2, 20, 3000, 0)});
  live.Close(2 * kSecond, std::vector{Born(3, kSecond + 10, 2000, 0)});
  live.Close(3 * kSecond, std::vector{Born(4, 2 * kSecond + 10, 1000), Born(5, 2 * kSecond + 10, 1000)});
  live.Close(4 * kSecond, std::vector{Born(6, 3 * kSecond + 10, 1000)});
  CHECK(live.tracked().at(4).checkpoint_sample.sample.weight == 4000);
  CHECK(live.tracked().at(5).checkpoint_sample.sample.weight == 4000);
  CHECK(live.tracked().at(6).checkpoint_sample.sample.weight == 1000);
}

TEST_CASE("Surplus samples are released at the end of the interval, and raise the threshold of the others") {
  Live live(120, 5);  // 90 in the reservoir
  std::vector<ClosedSample> births;
  for (uint64_t id = 1; id <= 100; ++id) births.push_back(Born(id, id, 1000, static_cast<uint16_t>(id)));
  live.Close(kSecond, births);
  const std::vector<LifecycleEvent> lifecycle_events = live.TakeLifecycleEvents();
  REQUIRE(lifecycle_events.size() == 10);
  double highest = 0;
  for (const LifecycleEvent& lifecycle : lifecycle_events) {
    CHECK((lifecycle.kind == LifecycleKind::kEvicted && lifecycle.time_ns == kSecond && lifecycle.collections == 99));
    CHECK(live.dropped.count(lifecycle.sample) == 1);
    highest = std::max(highest, lifecycle.threshold);
  }
  CHECK(live.tracked().size() == 90);
  CHECK(live.ThresholdSince(kSecond - 1) == highest);
  CHECK(live.ThresholdSince(kSecond) == 0);
  // The death of one that was released, found at the same time, is nobody's.
  live.Died(Death(lifecycle_events[0].sample, kSecond), 0, 0);
  for (uint64_t second = 2; second < 6; ++second) live.Close(second * kSecond, {});
  CHECK(live.TakeLifecycleEvents().empty());
  std::vector<uint64_t> floors(1, UINT64_MAX);
  live.LowerTo({0}, &floors);
  CHECK(floors[0] == UINT64_MAX);
}

TEST_CASE("Of hundreds of thousands of samples each has one fate, and no state is left") {
  Live live(2000, 100);
  std::mt19937_64 random(5);
  std::vector<uint64_t> alive, lifecycle_events(400'001);
  uint64_t next = 1, most = 0;
  const auto take = [&] {
    for (const LifecycleEvent& lifecycle : live.TakeLifecycleEvents()) ++lifecycle_events[lifecycle.sample];
  };
  for (uint64_t second = 1; next <= 400'000; ++second) {
    std::vector<ClosedSample> births;
    for (int i = 0; i < 500; ++i) {
      births.push_back(Born(next, second * kSecond - 500, static_cast<double>(1 + random() % 1000)));
      if (random() % 3 == 0) live.Died(Death(next, second * kSecond - 100), 0, next * 32);
      alive.push_back(next++);
    }
    live.Close(second * kSecond, births);
    // Whoever dies is asked for among all that were ever born: most have a lifecycle event already.
    for (int i = 0; i < 400; ++i) live.Died(Death(alive[random() % alive.size()], second * kSecond + 5), 0, next * 32);
    most = std::max<uint64_t>(most, live.tracked().size());
    take();
  }
  CHECK(most <= ReservoirOf(2000, 100));
  std::vector<uint64_t> left;
  for (const auto& [id, one] : live.tracked()) left.push_back(id);
  for (const uint64_t id : left) live.Died(Death(id, 1'000'000 * kSecond), 0, 0);
  take();
  CHECK(live.tracked().empty());
  CHECK(std::ranges::count(lifecycle_events, 1u) == 400'000);
}

TEST_CASE("A sample's threshold is the highest since its birth") {
  Live live(200, 10);
  std::vector<std::pair<uint64_t, double>> thresholds;
  uint64_t id = 1;
  for (uint64_t second = 1; second <= 40; ++second) {
    std::vector<ClosedSample> births;
    for (int i = 0; i < 30; ++i) {
      births.push_back(Born(id, second * kSecond - 10, static_cast<double>(1 + id * 7919 % 997)));
      ++id;
    }
    live.Close(second * kSecond, births);
    for (const LifecycleEvent& lifecycle : live.TakeLifecycleEvents())
      thresholds.emplace_back(lifecycle.time_ns, lifecycle.threshold);
    if (second % 7 == 0) {
      for (uint64_t dead = id - 60; dead < id; ++dead) live.Died(Death(dead, second * kSecond + 1), 0, 0);
      (void)live.TakeLifecycleEvents();
    }
  }
  for (uint64_t birth_ns = 0; birth_ns < 42 * kSecond; birth_ns += kSecond / 2) {
    double highest = 0;
    for (const auto& [time_ns, threshold] : thresholds)
      highest = time_ns > birth_ns ? std::max(highest, threshold) : highest;
    CHECK(live.ThresholdSince(birth_ns) == highest);
  }
}

TEST_CASE("A recording without tracking has no such state") {
  TrackedSet live(0, 10, 1, {});
  live.Died(Death(1, 5), 0, 0);
  live.Close(kSecond, std::vector{Born(1, 10)});
  CHECK(live.TakeLifecycleEvents().empty());
  CHECK(live.tracked().empty());
}

}  // namespace
}  // namespace heaprec::writer
