// Run under --config=tsan as well.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recorder/sources/java/entry.h"
#include "recorder/sources/java/outside_counts.h"
#include "recorder/sources/java/source.h"
#include "recorder/sources/java/thread_table.h"

namespace heaprec::sources {
namespace {

struct Probe final : Source {
  std::atomic<int> entered{0}, left{0};
  void OnRefill(void*, uint64_t) override {}
  void OnOutside(void*, uint64_t) override {}
  void OnDelivered(const Delivered&) override {
    entered.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::yield();
    left.fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace

TEST_CASE("The gate counts callers only between the beginning and the end of a call") {
  constexpr int kThreads = 100;  // more than there are counts
  CHECK(CallbackScope::NobodyIsInside());
  std::atomic<int> seen{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const CallbackScope outer;
      {
        const CallbackScope inner;
        seen += !CallbackScope::NobodyIsInside();
      }
      seen += !CallbackScope::NobodyIsInside();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen == 2 * kThreads);
  CHECK(CallbackScope::NobodyIsInside());
}

TEST_CASE("A removed source is released, and not entered again, once no call is inside") {
  constexpr int kThreads = 3, kSources = 100;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  const Delivered object{};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!over) {
        heaprec_on_delivered(&object);
        std::this_thread::yield();
      }
    });
  }
  int inside = 0;
  for (int i = 0; i < kSources; ++i) {
    auto source = std::make_unique<Probe>();
    active_source.store(source.get(), std::memory_order_release);
    while (source->left.load() < 10) std::this_thread::yield();
    active_source.store(nullptr);
    while (!CallbackScope::NobodyIsInside()) std::this_thread::yield();
    const int left = source->left.load();
    std::this_thread::yield();
    inside += source->entered.load() - left;
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(inside == 0);
}

namespace {

struct Counted {
  uint64_t objects = 0, bytes = 0;
  bool operator==(const Counted&) const = default;
};

// By name, those of `slots` included.
std::map<std::string, Counted> SumsOf(const OutsideClasses& classes, const std::vector<OutsideSlots>& slots) {
  const auto totals = std::make_unique<OutsideClasses::Totals>();
  classes.AddTo(totals.get());
  for (const OutsideSlots& of_thread : slots) {
    for (const OutsideSlot& slot : of_thread) {
      OutsideClasses::Sums& sums = (*totals)[slot.class_number];
      sums.objects += slot.objects;
      sums.bytes += slot.bytes;
    }
  }
  std::map<std::string, Counted> found;
  for (uint32_t i = 0; i < classes.used(); ++i) {
    if ((*totals)[i].objects == 0) continue;
    Counted& counted = found[std::string(classes.NameOf(i))];
    counted.objects += (*totals)[i].objects;
    counted.bytes += (*totals)[i].bytes;
  }
  return found;
}

}  // namespace

// Run under --config=tsan as well.
TEST_CASE("Each object is counted once by class, whether its thread has a slot for the class or not") {
  constexpr int kThreads = 4, kEach = 20'000, kClasses = 11;
  const auto classes = std::make_unique<OutsideClasses>();
  std::vector<OutsideSlots> slots(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const int which = (i + t) % kClasses;
        classes->Add("[Lp/C" + std::to_string(which) + ";", 8 * static_cast<uint64_t>(which + 1),
                     t == 0 ? nullptr : &slots[static_cast<size_t>(t)]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, Counted> expected;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kEach; ++i) {
      const int which = (i + t) % kClasses;
      Counted& counted = expected["[Lp/C" + std::to_string(which) + ";"];
      ++counted.objects;
      counted.bytes += 8 * static_cast<uint64_t>(which + 1);
    }
  }
  CHECK(SumsOf(*classes, slots) == expected);
}

TEST_CASE("A class without space, or with a long name, is counted as no class") {
  const auto classes = std::make_unique<OutsideClasses>();
  std::vector<OutsideSlots> slots(1);
  const std::string longest(OutsideClasses::kMaxNameBytes, 'l');
  classes->Add(longest, 24, &slots[0]);
  classes->Add(longest + "l", 40, &slots[0]);
  constexpr uint64_t kMany = 2000;
  for (uint64_t i = 0; i < kMany; ++i) classes->Add("p/C" + std::to_string(i), 16, &slots[0]);
  const std::map<std::string, Counted> found = SumsOf(*classes, slots);
  CHECK(found.at(longest) == Counted{1, 24});
  CHECK(found.size() > OutsideClasses::kClasses / 2);
  CHECK(found.size() <= OutsideClasses::kClasses);
  Counted all;
  for (const auto& [name, counted] : found) {
    all.objects += counted.objects;
    all.bytes += counted.bytes;
    if (!name.empty() && name != longest) CHECK(counted == Counted{1, 16});
  }
  CHECK(all == Counted{kMany + 2, 16 * kMany + 64});
}

namespace {

// Addresses as malloc gives them: multiples of 16.
void* ThreadAt(uintptr_t index) { return reinterpret_cast<void*>(0x7f0000000000 + 16 * index); }

StartPositions PositionsOf(size_t threads) {
  StartPositions positions;
  positions.Reserve(threads);
  for (size_t i = 0; i < threads; ++i) positions.Add(ThreadAt(i), 1000 * i, static_cast<double>(i + 1));
  positions.Seal({0.5, 7}, /*complete=*/true);
  return positions;
}

TEST_CASE("Each thread takes its own position, once") {
  StartPositions positions = PositionsOf(5000);
  for (size_t i = 0; i < 5000; ++i) {
    const auto* position = positions.Take(ThreadAt(i));
    REQUIRE(position != nullptr);
    CHECK(position->allocated == 1000 * i);
    CHECK(position->e == static_cast<double>(i + 1));
    CHECK(positions.Take(ThreadAt(i)) == nullptr);
  }
  CHECK(positions.Take(ThreadAt(5000)) == nullptr);
  CHECK(positions.complete());
  CHECK(positions.armed_with().lambda == 0.5);
}

TEST_CASE("Positions that no thread has taken stay") {
  StartPositions positions = PositionsOf(100);
  for (size_t i = 0; i < 100; i += 2) positions.Take(ThreadAt(i));
  size_t left = 0;
  positions.ForEachLeft([&](void* thread, uint64_t allocated) {
    const auto index = (reinterpret_cast<uintptr_t>(thread) - 0x7f0000000000) / 16;
    CHECK(index % 2 == 1);
    CHECK(allocated == 1000 * index);
    ++left;
  });
  CHECK(left == 50);
}

TEST_CASE("Threads beyond the reserved number are omitted, and nothing is overwritten") {
  StartPositions positions;
  positions.Reserve(1);
  for (size_t i = 0; i < 1000; ++i) positions.Add(ThreadAt(i), i, 1);
  size_t found = 0;
  for (size_t i = 0; i < 1000; ++i) found += positions.Take(ThreadAt(i)) != nullptr ? 1 : 0;
  CHECK(found > 0);
  CHECK(found < 1000);
}

TEST_CASE("Without reserved positions no thread is new") {
  StartPositions positions;
  positions.Add(ThreadAt(1), 1, 1);
  positions.Seal({}, /*complete=*/true);
  CHECK(positions.Take(ThreadAt(1)) == nullptr);
  CHECK(!positions.complete());
}

}  // namespace

TEST_CASE("A thread finds its own entry, and not that of another JavaThread") {
  int first = 0;
  int second = 0;
  ThreadTable& table = ThreadTable::Instance();
  ThreadEntry* entry = table.Acquire(&first);
  REQUIRE(entry != nullptr);
  CHECK(table.Find(&first) == entry);
  CHECK(table.Find(&second) == nullptr);
  table.Release(&first);
  CHECK(table.Find(&first) == nullptr);
  CHECK(table.HasEnded(&first));
  table.Forget();
  CHECK_FALSE(table.HasEnded(&first));
}

// Run under --config=tsan as well.
TEST_CASE("Entries are never shared, and totals never fall while threads come and go") {
  constexpr int kThreads = 6;
  constexpr int kLives = 300;
  ThreadTable& table = ThreadTable::Instance();
  const Totals before = table.Total();
  std::vector<std::atomic<int>> owners(ThreadTable::kCapacity);
  std::atomic<int> running{kThreads};
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int life = 0; life < kLives; ++life) {
        char java_thread = 0;
        table.Forget();
        ThreadEntry* entry = table.Acquire(&java_thread);
        if (owners[entry->index].fetch_add(1) != 0) shared.fetch_add(1);
        entry->clock.Start(16, 16, 1, {});
        entry->clock.OnRefill(16, 16, {});
        entry->clock.OnRefill(116, 16, {});
        owners[entry->index].fetch_sub(1);
        table.Release(&java_thread);
      }
      running.fetch_sub(1);
    });
  }
  uint64_t last = before.bytes;
  int falls = 0;
  while (running.load() > 0) {
    const uint64_t now = table.Total().bytes;
    falls += now < last;
    last = now;
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(shared.load() == 0);
  CHECK(falls == 0);
  CHECK(table.Total().bytes - before.bytes == uint64_t{kThreads} * kLives * 116);
  CHECK(table.Total().candidates - before.candidates == uint64_t{kThreads} * kLives * 2);
}

// Run under --config=tsan as well.
TEST_CASE("An entry with a new owner has no data of the previous one") {
  constexpr int kLives = 3000;
  ThreadTable& table = ThreadTable::Instance();
  // Of two JavaThreads that take turns in one entry, the first belongs to a recording, the second to none.
  char recorded = 0, fresh = 0;
  std::atomic<bool> is_over{false};
  std::thread owner([&] {
    for (int life = 0; life < kLives; ++life) {
      table.Acquire(&recorded)->recording.store(7);
      table.Release(&recorded);
      table.Acquire(&fresh);
      table.Release(&fresh);
      table.Forget();
    }
    is_over.store(true);
  });
  int stale = 0;
  while (!is_over.load()) {
    table.ForEachOwned([&](const ThreadEntry& entry) {
      if (entry.java_thread.load() != &fresh) return;
      const uint32_t recording = entry.recording.load();
      stale += entry.java_thread.load() == &fresh && recording != 0;
    });
  }
  owner.join();
  CHECK(stale == 0);
}

}  // namespace heaprec::sources
