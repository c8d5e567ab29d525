#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recorder/sources/sample/caches.h"
#include "recorder/sources/sample/thread_fields.h"

namespace heaprec::sources {
namespace {

// Four threads look up `keys`, which fall into one slot, and store what is missing: its content is a function of the
// key.
template <typename Key, typename Find, typename Store, typename Content>
void CheckThatNoReaderSeesAMixture(const std::vector<Key>& keys, Find find, Store store, Content content_of) {
  std::atomic<uint64_t> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 400'000; ++i) {
        const Key& key = keys[(i / 16 + t) % keys.size()];
        const auto content = content_of(key);
        if (const auto known = find(key)) {
          hits.fetch_add(1, std::memory_order_relaxed);
          if (!(*known == content)) wrong.fetch_add(1);
        } else {
          store(key, content);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  CHECK(hits.load() > 1000);
}

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

TEST_CASE("Threads that store frames in the same slot never make a reader see a mixture") {
  auto cache = std::make_unique<FrameCache>();
  // Places that fall into one slot: whatever pushes the first one out.
  std::vector<uint64_t> places = {1};
  for (uint64_t place = 2; places.size() < 4; ++place) {
    cache->Store(places[0], 2, {});
    cache->Store(place, 2, {});
    if (!cache->Find(places[0], 2)) places.push_back(place);
  }
  CheckThatNoReaderSeesAMixture(
      places, [&](uint64_t place) { return cache->Find(place, 1); },
      [&](uint64_t place, const KnownFrame& frame) { cache->Store(place, 1, frame); },
      [](uint64_t place) {
        return KnownFrame{place * 5, static_cast<int32_t>(place % 1'000'003)};
      });
}

TEST_CASE("A stored stack is found by both halves of its identity") {
  auto cache = std::make_unique<StackCache>();
  CHECK_FALSE(cache->Find({1, 2}));
  cache->Store({1, 2}, {{3, 4}, 5});
  CHECK(cache->Find({1, 2}) == KnownStack{{3, 4}, 5});
  CHECK_FALSE(cache->Find({1, 3}));
}

TEST_CASE("Threads that store stacks in the same slot never make a reader see a mixture") {
  auto cache = std::make_unique<StackCache>();
  constexpr uint64_t kSlots = 1 << 14;
  std::vector<format::StackKey> keys;
  for (uint64_t i = 0; i < 4; ++i) keys.push_back({7 + kSlots * i, (7 + kSlots * i) * 3});
  CheckThatNoReaderSeesAMixture(
      keys, [&](const format::StackKey& key) { return cache->Find(key); },
      [&](const format::StackKey& key, const KnownStack& stack) { cache->Store(key, stack); },
      [](const format::StackKey& key) {
        return KnownStack{{key.low * 5, key.low * 7}, key.low * 9};
      });
}

// As one reads it: "|a=1|b=2".
std::string Shown() {
  std::string text(CurrentLabels());
  for (char& c : text) c = c == '\0' ? '|' : c;
  return text;
}

// Leaves nothing to the next test.
struct Fresh {
  Fresh() { ForgetLabels(); }
  ~Fresh() { ForgetLabels(); }
};

}  // namespace

TEST_CASE("A label is set, replaced and removed, whatever other labels there are") {
  const Fresh fresh;
  CHECK(Shown().empty());
  ClearLabel("a");
  CHECK(SetLabel("request", "42"));
  CHECK(SetLabel("user", "x=y"));
  CHECK(SetLabel("req", ""));
  CHECK(Shown() == "|request=42|user=x=y|req=");
  CHECK(SetLabel("user", "longer than before"));
  CHECK(Shown() == "|request=42|req=|user=longer than before");
  ClearLabel("request");
  ClearLabel("re");
  CHECK(Shown() == "|req=|user=longer than before");
  ClearLabel("req");
  ClearLabel("user");
  CHECK(Shown().empty());
}

TEST_CASE("The end of a thread frees its labels") {
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) std::thread([] { CHECK(SetLabel("request", "42")); }).join();
  CHECK(mallinfo2().uordblks < before + 100 * kMaxLabelBytes);
}

TEST_CASE("Invalid keys and values, and those that do not fit, change nothing") {
  const Fresh fresh;
  REQUIRE(SetLabel("a", "1"));
  using namespace std::string_view_literals;
  CHECK_FALSE(SetLabel("", "x"));
  CHECK_FALSE(SetLabel("a=b", "x"));
  CHECK_FALSE(SetLabel("a\0b"sv, "x"));
  CHECK_FALSE(SetLabel("b", "x\0y"sv));
  CHECK_FALSE(SetLabel("b", std::string(kMaxLabelBytes - 6, 'x')));
  CHECK(Shown() == "|a=1");
  CHECK(SetLabel("b", std::string(kMaxLabelBytes - 7, 'x')));
  CHECK(CurrentLabels().size() == kMaxLabelBytes);
  CHECK_FALSE(SetLabel("a", "12"));
  CHECK(SetLabel("a", "2"));  // in its own place
  CHECK(SetLabel("b", "y"));
  CHECK(Shown() == "|a=2|b=y");
}

TEST_CASE("Labels belong to their thread") {
  const Fresh fresh;
  REQUIRE(SetLabel("a", "1"));
  std::string other = "?";
  std::thread([&other] {
    other = Shown();
    SetLabel("a", "2");
    other += Shown();
    ForgetLabels();
  }).join();
  CHECK(other == "|a=2");
  CHECK(Shown() == "|a=1");
}

}  // namespace heaprec::sources
