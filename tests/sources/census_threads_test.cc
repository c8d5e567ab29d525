// Who the threads of a census are, and the sums of a walk.

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>

#include "format/ring/content_keys.h"
#include "recorder/sources/census/census_writer.h"

namespace heaprec::sources {
namespace {

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
