// What walks of TLABs found, from the lanes into rows: sums, names, chunks, and what a salvager is told of it.
#include <catch2/catch.hpp>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {

TEST_CASE("Walks add up by second and class, and counters follow them") {
  Bench bench(150);
  bench.DefineClass("p/A");
  bench.DefineClass("p/B");
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

TEST_CASE("A walk finds its names in lanes that were read before its own") {
  Bench bench(150);
  bench.Walk(kSecond / 4, "p/A", 10, 1, 0);  // as if its lane had been read first, and the other one later
  bench.DefineClass("p/A", 3);
  bench.TickAt(kSecond / 2);
  bench.EndAt(kSecond);
  const Bench::Read read = bench.ReadBack();
  REQUIRE(read.census.size() == 1);
  CHECK(read.census.begin()->first.second == "p/A");
}

TEST_CASE("A name that was announced once serves the chunks that follow while it is used") {
  Limits limits;
  limits.max_age_ns = 8 * kSecond;  // a chunk a second
  Bench bench(150, {}, 0, limits);
  bench.DefineClass("p/A");
  for (uint64_t second = 0; second < 6; ++second) {
    bench.Walk(second * kSecond + kSecond / 2, "p/A", 2);
    bench.Sample(second + 1, second * kSecond + kSecond / 2);
    for (uint64_t tick = 1; tick <= 4; ++tick) bench.TickAt(second * kSecond + tick * kSecond / 4);
  }
  bench.EndAt(6 * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(read.chunks.size() > 2);
  uint64_t objects = 0;
  for (const auto& [key, row] : read.census) {
    CHECK(key.second == "p/A");
    objects += row.objects.counted;
  }
  CHECK(objects == 12);
}

TEST_CASE("A block says how far walks are in it, where a sample still needs its lane") {
  Bench bench(150);
  bench.DefineClass("p/A");
  bench.Sample(1, kSecond / 10);
  bench.TickAt(kSecond + kSecond / 50);
  bench.Sample(2, kSecond + kSecond / 10);  // of an interval that stays open
  bench.Walk(kSecond + kSecond / 5, "p/A", 2);
  bench.TickAt(kSecond + kSecond / 2);
  const Bench::Read read = bench.ReadBack();
  REQUIRE(read.census_positions.size() == read.positions.size());
  uint64_t objects = 0;
  for (const auto& [key, row] : read.census) objects += row.objects.counted;
  CHECK(objects == 2);
  CHECK(read.samples.size() == 1);
  CHECK(read.census_positions[0] > read.positions[0]);
}

TEST_CASE("What walks found while a disk stays full is lost when the ring needs the room, and counted") {
  Bench bench(150);
  bench.DefineClass("p/A");
  bench.Walk(kSecond / 2, "p/A", 1);
  bench.TickAt(kSecond);
  const auto lost = [&bench] {
    return bench.ring().header().census.counters[static_cast<size_t>(format::CensusCount::kLost)].load();
  };
  uint64_t walks = 0, second = 1;
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()) + 10);
    for (; lost() == 0 && second < 5000; ++second) {
      for (int i = 0; i < 20; ++i, ++walks) bench.Walk(second * kSecond + 1, "p/A", 3);
      bench.TickAt((second + 1) * kSecond);
    }
  }
  CHECK(lost() == walks);
  bench.DefineClass("p/A");
  bench.Walk(second * kSecond + 1, "p/A", 5);
  bench.EndAt((second + 1) * kSecond);
  const Bench::Read read = bench.ReadBack();
  uint64_t objects = 0;
  for (const auto& [key, row] : read.census) objects += row.objects.counted;
  CHECK(objects == 6);
  CHECK(read.census_counters.walked_bytes == 24 * (6 + 3 * walks));
  CHECK(read.census_counters.lost_bytes == 24 * 3 * walks);
}

}  // namespace heaprec::writer
