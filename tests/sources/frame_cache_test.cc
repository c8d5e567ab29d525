#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "recorder/sources/sample/caches.h"

namespace heaprec::sources {

TEST_CASE("A frame is known in the epoch in which it was stored") {
  auto cache = std::make_unique<FrameCache>();
  CHECK_FALSE(cache->Find(12, 1));
  cache->Store(12, 1, {34, 5});
  CHECK(cache->Find(12, 1) == KnownFrame{34, 5});
  CHECK_FALSE(cache->Find(12, 2));
  CHECK_FALSE(cache->Find(13, 1));
  cache->Store(12, 2, {35, -1});
  CHECK(cache->Find(12, 2) == KnownFrame{35, -1});
  CHECK_FALSE(cache->Find(12, 1));
}

TEST_CASE("Threads that store into the same slots never make a reader see a mixture") {
  auto cache = std::make_unique<FrameCache>();
  // Places that fall into one slot: whatever pushes the first one out. What is stored is a function of the place.
  std::vector<uint64_t> same = {1};
  for (uint64_t place = 2; same.size() < 4; ++place) {
    cache->Store(same[0], 2, {});
    cache->Store(place, 2, {});
    if (!cache->Find(same[0], 2)) same.push_back(place);
  }
  std::atomic<uint64_t> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 400'000; ++i) {
        const uint64_t place = same[(i / 16 + t) % same.size()];
        const KnownFrame content{place * 5, static_cast<int32_t>(place % 1'000'003)};
        if (const auto known = cache->Find(place, 1)) {
          hits.fetch_add(1, std::memory_order_relaxed);
          if (!(*known == content)) wrong.fetch_add(1);
        } else {
          cache->Store(place, 1, content);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(hits.load() > 1000);
}

}  // namespace heaprec::sources
