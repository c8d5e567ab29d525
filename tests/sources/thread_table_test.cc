#include "recorder/sources/java/thread_table.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace heaprec::sources {

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
