#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <ctime>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/hotspot/usage/heap_meter.h"
#include "recorder/sources/live/weak_ref_poller.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "tests/format/ring_image.h"

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

constexpr uint64_t kMs = 1'000'000;

// A JVM of references alone: each is a number, and was cleared or not.
struct FakeJvm {
  std::set<jobject> there, cleared;
  int looks = 0, wrong = 0;
  uint64_t wait_ns = 0;  // in each question, as at a safepoint

  static FakeJvm* current;
  JNINativeInterface_ functions{};
  JNIEnv_ env{};

  FakeJvm() {
    current = this;
    functions.IsSameObject = [](JNIEnv*, jobject reference, jobject null) -> jboolean {
      ++current->looks;
      const timespec wait{0, static_cast<long>(current->wait_ns)};
      nanosleep(&wait, nullptr);
      current->wrong += null != nullptr || current->there.count(reference) == 0;
      return current->cleared.count(reference) > 0 ? JNI_TRUE : JNI_FALSE;
    };
    functions.DeleteWeakGlobalRef = [](JNIEnv*, jweak reference) {
      current->wrong += current->there.erase(reference) != 1;
    };
    env.functions = &functions;
  }
};
FakeJvm* FakeJvm::current = nullptr;

struct Bench {
  std::unique_ptr<buffer::Ring> ring;
  hotspot::HeapMeter meter;
  hotspot::JvmMeter usage;
  std::unique_ptr<HeapStateRecorder> pauses;
  WeakRefTable places{10};
  std::unique_ptr<WeakRefPoller> watch;
  FakeJvm jvm;

  explicit Bench(hotspot::HeapMeter of = {}) : meter(std::move(of)) {
    buffer::RingOptions options;
    options.lane_count = 1;
    options.lane_bytes = 4096;
    ring = std::move(buffer::Ring::Create(options).value());
    pauses = std::make_unique<HeapStateRecorder>(*ring, meter, usage);
    watch = std::make_unique<WeakRefPoller>(*ring, places, *pauses, meter);
  }

  void Collect() const {
    pauses->OnGcBegin();
    pauses->OnGcEnd();
  }
  void Poll() { watch->PollNow(&jvm.env); }
  jweak Track(uint64_t sample) {
    const auto reference = reinterpret_cast<jweak>(sample << 8);
    jvm.there.insert(reference);
    places.Track(places.Take(), reference, sample, 0);
    return reference;
  }

  std::vector<uint64_t> Deaths() {
    std::vector<uint64_t> samples;
    for (const format::DeathRecord& death : DeathRecords()) samples.push_back(death.sample);
    return samples;
  }
  std::vector<format::DeathRecord> DeathRecords() {
    struct Visitor : format::testing::CountingVisitor {
      std::vector<format::DeathRecord> found;
      void OnDeath(const format::DeathRecord& record, uint32_t, uint64_t) override { found.push_back(record); }
    } visitor;
    const auto view = format::RingView::Of({ring->bytes(), ring->size()});
    REQUIRE(view.ok());
    REQUIRE(format::WalkLane(*view, 0, 0, ring->lane(0).head.load(), visitor).ok());
    return visitor.found;
  }
};

TEST_CASE("A dead object is reported once, and its entry is free") {
  Bench bench;
  const jweak first = bench.Track(1);
  bench.Track(2);
  bench.Poll();
  CHECK(bench.Deaths().empty());
  bench.jvm.cleared = {first};
  bench.Poll();
  bench.Poll();
  CHECK(bench.Deaths() == std::vector<uint64_t>{1});
  CHECK(bench.jvm.there.size() == 1);
  CHECK(bench.jvm.wrong == 0);
}

TEST_CASE("A collection of Shenandoah that is counted but has no cause yet has not been survived") {
  uint32_t collections = 0;
  std::array<char, 16> cause{"No GC"};
  Bench bench(hotspot::HeapMeter::ForTest("Shenandoah", &collections, cause));
  const jweak first = bench.Track(1), second = bench.Track(2);
  collections = 1;
  bench.Poll();
  cause = {"Concurrent GC"};
  bench.jvm.cleared.insert(first);
  bench.Collect();
  bench.Poll();
  cause = {"No GC"};
  bench.Poll();
  bench.jvm.cleared.insert(second);
  bench.Poll();
  std::map<uint64_t, uint64_t> survived;
  for (const format::DeathRecord& death : bench.DeathRecords()) survived[death.sample] = death.collections;
  CHECK(survived == std::map<uint64_t, uint64_t>{{1, 0}, {2, 1}});
}

TEST_CASE("References are checked after a pause, and occasionally otherwise") {
  Bench bench;
  bench.Track(1);
  const uint64_t now = 1'000'000 * kMs * 1000;
  bench.watch->Tick(&bench.jvm.env, now);
  const int first = bench.jvm.looks;
  CHECK(first == 1);
  // Looks are timed by the clock itself: in the same moment nothing is due, whatever has happened.
  bench.Collect();
  bench.watch->Tick(&bench.jvm.env, 0);
  CHECK(bench.jvm.looks == first);
  bench.watch->Tick(&bench.jvm.env, now);
  CHECK(bench.jvm.looks == first + 1);
}

TEST_CASE("A check that has to wait does not delay the next one") {
  Bench bench;
  bench.Track(1);
  bench.jvm.wait_ns = 50 * kMs;
  bench.Poll();
  bench.Collect();
  bench.watch->Tick(&bench.jvm.env, MonotonicNs() + 1'000 * kMs);
  CHECK(bench.jvm.looks == 2);
}

TEST_CASE("References of dropped entries are deleted without a check") {
  Bench bench;
  const jweak reference = bench.Track(1);
  int dropped = 0;
  for (uint16_t place = 1; place <= 10; ++place) dropped += bench.places.Drop(place, 1) ? 1 : 0;
  REQUIRE(dropped == 1);
  bench.watch->Tick(&bench.jvm.env, 0);
  CHECK(bench.jvm.there.count(reference) == 0);
  CHECK(bench.jvm.looks == 0);
  CHECK(bench.Deaths().empty());
  CHECK(bench.jvm.wrong == 0);
}

TEST_CASE("A death without space in the ring is reported later") {
  Bench bench;
  bench.jvm.cleared = {bench.Track(1)};
  {
    const buffer::LaneLease lease(*bench.ring, 0, 32);
    REQUIRE(lease.ok());
    bench.Poll();
    CHECK(bench.jvm.there.size() == 1);
  }
  bench.Poll();
  CHECK(bench.Deaths() == std::vector<uint64_t>{1});
  CHECK(bench.jvm.there.empty());
}

TEST_CASE("At the end no entry is left, except those that a thread is about to use") {
  Bench bench;
  bench.Track(1);
  bench.Track(2);
  const uint16_t taken = bench.places.Take();
  CHECK_FALSE(bench.watch->Clear(&bench.jvm.env));
  CHECK(bench.jvm.there.empty());
  const auto late = reinterpret_cast<jweak>(uint64_t{3} << 8);
  bench.jvm.there.insert(late);
  bench.places.Track(taken, late, 3, 0);
  CHECK(bench.watch->Clear(&bench.jvm.env));
  CHECK(bench.jvm.there.empty());
  CHECK(bench.jvm.wrong == 0);
}

}  // namespace

}  // namespace heaprec::sources
