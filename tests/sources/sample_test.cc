#include <malloc.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "format/ring/ring_reader.h"
#include "recorder/sources/census/census_writer.h"
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

namespace {

// Who the threads of a census are, and the sums of a walk.

const void* At(uint64_t address) { return reinterpret_cast<const void*>(address); }  // NOLINT: never looked at

}  // namespace

TEST_CASE("A thread is found by its address until another one uses it, with the key of its samples") {
  const auto threads = std::make_unique<CensusThreads>();
  CensusThread found;
  CHECK_FALSE(threads->Find(At(0x1000), &found));
  threads->Put(At(0x1000), 7, 99, std::string_view("worker\0key=value", 16));
  REQUIRE(threads->Find(At(0x1000), &found));
  CHECK(found.Name() == "worker");
  CHECK(found.key == format::ThreadKey(7, 99, false, "worker"));
  threads->Forget(At(0x1000));
  CHECK(threads->Find(At(0x1000), &found));  // its last TLAB comes behind its end
  threads->Put(At(0x1000), 8, 100, std::string(500, 'x'));
  REQUIRE(threads->Find(At(0x1000), &found));
  CHECK(found.java_tid == 8);
  CHECK(found.Name() == std::string(CensusThread::kMaxNameBytes, 'x'));
}

TEST_CASE("Long names are truncated between characters") {
  const auto threads = std::make_unique<CensusThreads>();
  std::string name = "x";
  while (name.size() < 2 * CensusThread::kMaxNameBytes) name += "\xc3\xa4";
  threads->Put(At(0x1000), 1, 1, name);
  CensusThread found;
  REQUIRE(threads->Find(At(0x1000), &found));
  CHECK(found.Name() == name.substr(0, CensusThread::kMaxNameBytes - 1));
}

TEST_CASE("Threads beyond the limit have no name, and those that ended free their entries") {
  const auto threads = std::make_unique<CensusThreads>();
  CensusThread found;
  for (uint64_t i = 1; i <= 20'000; ++i) threads->Put(At(i * 64), i, 1, "t");
  uint64_t known = 0;
  for (uint64_t i = 1; i <= 20'000; ++i) known += threads->Find(At(i * 64), &found) ? 1 : 0;
  CHECK(known > 4000);
  CHECK(known <= 8192);
  for (uint64_t i = 1; i <= 20'000; ++i) threads->Forget(At(i * 64));
  for (uint64_t i = 1; i <= 1000; ++i) {
    threads->Put(At(i * 64 + 32), i, 1, "new");
    REQUIRE(threads->Find(At(i * 64 + 32), &found));
    REQUIRE(found.Name() == "new");
  }
}

TEST_CASE("A partially written entry is never visible") {
  const auto threads = std::make_unique<CensusThreads>();
  std::atomic<bool> stop{false}, has_begun{false};
  std::thread writer([&] {
    for (uint64_t i = 0; !stop.load(); ++i, has_begun.store(true))
      threads->Put(At(0x1000), i, 1, std::string(100, static_cast<char>('a' + i % 26)));
  });
  while (!has_begun.load()) std::this_thread::yield();
  uint64_t seen = 0;
  for (int i = 0; i < 2'000'000 && seen < 100'000; ++i) {
    CensusThread found;
    if (!threads->Find(At(0x1000), &found)) continue;
    ++seen;
    const std::string name(100, static_cast<char>('a' + found.java_tid % 26));
    if (found.Name() != name) FAIL("torn: " << found.Name());
  }
  stop.store(true);
  writer.join();
  CHECK(seen > 0);
}

TEST_CASE("A tally adds up by class, and says when it is full") {
  const auto tally = std::make_unique<ClassCounts>();
  for (uint64_t i = 0; i < 3 * ClassCounts::kMaxClasses; ++i) {
    REQUIRE(tally->Add(At(8 * (1 + i % ClassCounts::kMaxClasses)), 16 + i % ClassCounts::kMaxClasses));
  }
  CHECK_FALSE(tally->Add(At(8 * (1 + ClassCounts::kMaxClasses)), 16));
  REQUIRE(tally->entries().size() == ClassCounts::kMaxClasses);
  for (const ClassCounts::Entry& entry : tally->entries()) {
    REQUIRE(entry.objects == 3);
    REQUIRE(entry.bytes == 3 * (16 + entry.klass / 8 - 1));
  }
  tally->Clear();
  CHECK(tally->entries().empty());
  CHECK(tally->Add(At(8), 24));
  CHECK(tally->entries()[0].bytes == 24);
}

}  // namespace heaprec::sources
