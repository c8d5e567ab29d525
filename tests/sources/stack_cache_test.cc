#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "recorder/sources/sample/caches.h"

namespace heaprec::sources {

TEST_CASE("A stack that was stored is known by both halves of its identity") {
  auto cache = std::make_unique<StackCache>();
  CHECK_FALSE(cache->Find({1, 2}));
  cache->Store({1, 2}, {{3, 4}, 5});
  CHECK(cache->Find({1, 2}) == KnownStack{{3, 4}, 5});
  CHECK_FALSE(cache->Find({1, 3}));
}

TEST_CASE("Threads that store into the same slots never make a reader see a mixture") {
  auto cache = std::make_unique<StackCache>();
  constexpr uint64_t kSlots = 1 << 14;
  std::atomic<uint64_t> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 400'000; ++i) {
        // Four raw keys that fall into one slot; the content is a function of the key.
        const uint64_t low = 7 + kSlots * ((i / 16 + t) % 4);
        const format::StackKey raw{low, low * 3};
        if (const auto known = cache->Find(raw)) {
          hits.fetch_add(1, std::memory_order_relaxed);
          if (!(*known == KnownStack{{low * 5, low * 7}, low * 9})) wrong.fetch_add(1);
        } else {
          cache->Store(raw, {{low * 5, low * 7}, low * 9});
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(hits.load() > 1000);
}

}  // namespace heaprec::sources
