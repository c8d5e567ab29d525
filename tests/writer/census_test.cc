// What walks of TLABs found, from the threads into rows: sums, names, chunks, full pages, and files that cannot be
// written.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {

namespace {

uint64_t ObjectsIn(const Bench::Read& read) {
  uint64_t objects = 0;
  for (const auto& [key, row] : read.census) objects += row.objects.counted;
  return objects;
}

}  // namespace

TEST_CASE("Walks add up by second and class, and counters agree") {
  Bench bench(150);
  bench.Walk(kSecond / 4, "p/A", 10);
  bench.Walk(kSecond / 2, "p/A", 5);
  bench.Walk(kSecond / 2, "p/B", 7, 4);
  bench.TickAt(kSecond + kSecond / 50);
  bench.Walk(3 * kSecond / 2, "p/A", 1);
  bench.EndAt(2 * kSecond);
  const Bench::Read read = bench.ReadBack();
  REQUIRE(read.census.size() == 3);
  const format::CensusRow& first = read.census.at({0, "p/A"});
  CHECK(first.walks == 2);
  CHECK(first.objects == format::CensusSum{15, 0, 0, 0});
  CHECK(first.bytes.counted == 15 * 24);
  CHECK(read.census.at({0, "p/B"}).objects == format::CensusSum{7, 21, 4 * 3 * 49, 4 * 3 * 7 * 7 * 24});
  CHECK(read.census.at({1, "p/A"}).objects.counted == 1);
  CHECK(read.census_counters.walks == 4);
  CHECK(read.census_counters.walked_bytes == 23 * 24);
}

TEST_CASE("Every chunk names the classes of its rows") {
  Limits limits;
  limits.max_age_ns = 8 * kSecond;  // a chunk a second
  Bench bench(150, {}, 0, limits);
  for (uint64_t second = 0; second < 6; ++second) {
    bench.Walk(second * kSecond + kSecond / 2, "p/A", 2);
    bench.Sample(second + 1, second * kSecond + kSecond / 2);
    for (uint64_t tick = 1; tick <= 4; ++tick) bench.TickAt(second * kSecond + tick * kSecond / 4);
  }
  bench.EndAt(6 * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(read.chunks.size() > 2);
  for (const auto& [key, row] : read.census) CHECK(key.second == "p/A");
  CHECK(ObjectsIn(read) == 12);
}

TEST_CASE("All objects are counted, however many walks, threads and classes there are before the drain runs") {
  Bench bench(150);
  constexpr uint64_t kWalks = 200'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&bench, t] {
      for (uint64_t i = 0; i < kWalks / 4; ++i) bench.Walk(kSecond / 2, "p/C" + std::to_string(t * kWalks + i), 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  bench.EndAt(kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(ObjectsIn(read) == 3 * kWalks);
  CHECK(read.census_counters.lost == 0);
  CHECK(read.census.size() > 1000);
  CHECK(read.census.at({0, ""}).objects.counted > 0);  // of classes that have no row of their own
}

TEST_CASE("Walks during a drain that writes block after block are each counted once") {
  Bench bench(150);
  constexpr uint64_t kWalks = 50'000;
  std::atomic<int> at_work{4};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kWalks; ++i) bench.Walk(kSecond / 2, "p/C" + std::to_string(i % 50), 1);
      --at_work;
    });
  }
  uint64_t ticks = 0;
  while (at_work > 0) bench.TickAt(++ticks * kSecond / 1000);
  for (std::thread& thread : threads) thread.join();
  bench.EndAt((ticks + 1) * kSecond / 1000);
  const Bench::Read read = bench.ReadBack();
  INFO(read.blocks << " blocks");
  CHECK(read.blocks > 1);
  CHECK(ObjectsIn(read) == 4 * kWalks);
  CHECK(read.census.size() == 50);
}

TEST_CASE("While a disk stays full, no walk is lost") {
  Bench bench(150);
  bench.Walk(kSecond / 2, "p/A", 1);
  bench.TickAt(kSecond);
  uint64_t second = 1;
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()) + 10);
    for (; second < 300; ++second) {
      bench.Walk(second * kSecond + 1, "p/A", 3);
      bench.Sample(second, second * kSecond + 2);
      bench.TickAt((second + 1) * kSecond);
    }
  }
  bench.Walk(second * kSecond + 1, "p/A", 5);
  bench.EndAt((second + 1) * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(ObjectsIn(read) == 6 + 3 * 299);
  CHECK(read.census_counters.walked_bytes == 24 * ObjectsIn(read));
  CHECK(read.census_counters.lost == 0);
}

TEST_CASE("Walks are lost, and counted, if neither file nor ring can hold them at the end") {
  const FileSizeLimit full(64 << 10);
  Bench bench(2000);
  uint64_t id = 0, second = 0;
  for (; bench.outages().empty() && second < 1000; ++second) {
    for (uint64_t i = 0; i < 150; ++i, ++id) {
      bench.Sample(id + 1, second * kSecond + i, static_cast<double>(5000 + id * id % 977));
    }
    bench.Walk(second * kSecond, "p/A", 3);
    bench.TickAt((second + 1) * kSecond);
  }
  REQUIRE(second < 1000);
  bench.EndAt((second + 1) * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(read.ending == "test");
  CHECK(ObjectsIn(read) < 3 * second);
  CHECK(ObjectsIn(read) + 3 * read.census_counters.lost == 3 * second);
  CHECK(24 * ObjectsIn(read) + read.census_counters.lost_bytes == read.census_counters.walked_bytes);
}

}  // namespace heaprec::writer
