#include "recorder/sources/live/weak_ref_table.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

namespace heaprec::sources {
namespace {

jweak Reference(uint64_t number) { return reinterpret_cast<jweak>(number << 4); }

TEST_CASE("There are as many entries as requested, and each is taken once") {
  WeakRefTable places(100);
  std::set<uint16_t> taken;
  for (int i = 0; i < 100; ++i) taken.insert(places.Take());
  CHECK(taken.size() == 100);
  CHECK((*taken.begin() == 1 && *taken.rbegin() == 100));
  CHECK(places.Take() == 0);
}

TEST_CASE("An entry is reused by other threads") {
  WeakRefTable places(1);
  REQUIRE(places.Take() == 1);
  CHECK(places.Look(1).state == WeakRefTable::State::kTaken);
  places.Track(1, Reference(5), 42, 7);
  const WeakRefTable::View view = places.Look(1);
  CHECK(places.CollectionsAtBirth(1, 42, 9) == 7);
  CHECK(places.CollectionsAtBirth(1, 41, 9) == 9);
  CHECK(places.CollectionsAtBirth(0, 42, 9) == 9);
  CHECK((view.state == WeakRefTable::State::kTracked && view.sample == 42));
  CHECK((view.reference == Reference(5) && view.collections == 7));
  SECTION("dropped by the drain") {
    CHECK_FALSE(places.Drop(1, 41));
    CHECK_FALSE(places.Drop(0, 42));
    CHECK_FALSE(places.Drop(2, 42));
    CHECK(places.Drop(1, 42));
    CHECK_FALSE(places.Drop(1, 42));
    CHECK_FALSE(places.MarkDead(1, 42));
    CHECK((places.Look(1).state == WeakRefTable::State::kDropped && places.Look(1).reference == Reference(5)));
  }
  SECTION("found dead") {
    CHECK(places.MarkDead(1, 42));
    CHECK_FALSE(places.Drop(1, 42));
  }
  CHECK(places.Take() == 0);
  places.Free(1);
  CHECK(places.Take() == 1);
}

TEST_CASE("A released entry is free at once, or when its reference is deleted") {
  WeakRefTable places(1);
  REQUIRE(places.Take() == 1);
  places.Cancel(1, nullptr);
  REQUIRE(places.Take() == 1);
  places.Cancel(1, Reference(1));
  CHECK(places.Take() == 0);
  CHECK(places.Look(1).state == WeakRefTable::State::kDropped);
}

// The JVM of the test: which references there are. Each is created once, deleted once, and looked at in between only.
TEST_CASE("Threads, drain and poller never see another sample's reference, nor a deleted one") {
  constexpr uint32_t kPlaces = 50;
  constexpr uint64_t kEach = 20'000;
  constexpr int kThreads = 3;
  WeakRefTable places(kPlaces);
  std::vector<std::atomic<int>> alive(kThreads * kEach + 1);  // 1: there, 2: deleted
  std::atomic<uint64_t> wrong{0}, most{0}, there{0}, created{0}, deleted{0};
  std::atomic<int> at_work{kThreads};
  struct Sent {
    std::atomic<uint64_t> id{0};
    std::atomic<uint16_t> place{0};
  };
  std::vector<Sent> sent(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 1; i <= kEach; ++i) {
        uint16_t place = 0;
        while ((place = places.Take()) == 0) std::this_thread::yield();
        const uint64_t id = static_cast<uint64_t>(thread) * kEach + i;
        wrong += alive[id].exchange(1) != 0;
        ++created;
        most = std::max(most.load(), ++there);
        if (i % 7 == 0) {
          places.Cancel(place, Reference(id));
        } else {
          places.Track(place, Reference(id), id, id);
          sent[static_cast<size_t>(thread)].id = id;
          sent[static_cast<size_t>(thread)].place = place;
        }
      }
      --at_work;
    });
  }
  threads.emplace_back([&] {  // the drain, with ids that may be old
    while (at_work > 0) {
      for (Sent& one : sent) (void)places.Drop(one.place, one.id);
    }
  });
  uint64_t looks = 0;
  const auto sweep = [&] {
    for (uint32_t number = 1; number <= kPlaces; ++number) {
      const auto place = static_cast<uint16_t>(number);
      const WeakRefTable::View view = places.Look(place);
      if (view.state != WeakRefTable::State::kTracked && view.state != WeakRefTable::State::kDropped) continue;
      const uint64_t id = reinterpret_cast<uint64_t>(view.reference) >> 4;
      wrong += alive[id] != 1;
      if (view.state == WeakRefTable::State::kTracked) {
        wrong += view.sample != id || view.collections != id;
        if (++looks % 3 != 0 || !places.MarkDead(place, view.sample)) continue;
      }
      wrong += alive[id].exchange(2) != 1;
      --there;
      ++deleted;
      places.Free(place);
    }
  };
  while (at_work > 0) sweep();
  for (std::thread& thread : threads) thread.join();
  for (uint32_t number = 1; number <= kPlaces; ++number) {
    const WeakRefTable::View view = places.Look(static_cast<uint16_t>(number));
    if (view.state == WeakRefTable::State::kTracked) (void)places.Drop(static_cast<uint16_t>(number), view.sample);
  }
  sweep();
  CHECK(wrong == 0);
  CHECK(created == deleted);
  CHECK(created == kThreads * kEach);
  CHECK(most <= kPlaces);
  for (uint32_t i = 0; i < kPlaces; ++i) CHECK(places.Take() != 0);
}

}  // namespace
}  // namespace heaprec::sources
