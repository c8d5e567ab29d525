// Light points beside samples: in the same lanes and intervals, in rows and counters, in no sample.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "format/ring/content_keys.h"
#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

// Of class p/C1, whose definition Bench::Sample writes.
void Point(Bench* bench, uint64_t time_ns, const OneFrame& path, Brings brings, double weight = 250,
           uint32_t lane = 0) {
  buffer::LaneLease lease(bench->ring(), lane, 400);
  REQUIRE(lease.ok());
  if (brings == Brings::kStack) path.PutInto(&lease);
  Put(&lease, format::RecordType::kPoint,
      format::PointRecord{{}, kStart + time_ns, format::ClassKey("p/C1"), path.key(), 100, weight});
  bench->CountCommitted();
}

struct SumOfRows {
  uint64_t points = 0;
  double bytes = 0;
};

// By class and site; what was counted outside of TLABs has "outside" for a site.
std::map<std::string, SumOfRows> ReadRows(const Bench& bench) {
  const OpenedFile file(bench.path());
  std::map<std::string, SumOfRows> sums;
  while (auto block = file.reader->Next()) {
    uint64_t points = 0, buffered = 0;
    for (const format::Row& row : block->rows) {
      const std::string name = row.class_id == format::kNone ? "" : block->dictionaries->classes[row.class_id];
      SumOfRows& sum = sums[name + " " + LeafMethod(*block->dictionaries, row.stack)];
      sum.points += row.points;
      sum.bytes += row.bytes;
      points += row.points;
    }
    for (const format::Row& row : block->outside) {
      CHECK(row.bytes == static_cast<double>(row.seen));
      CHECK(row.bytes_variance == 0);
      SumOfRows& sum = sums[block->dictionaries->classes.at(row.class_id) + " outside"];
      sum.points += row.points;
      sum.bytes += row.bytes;
    }
    for (const format::Interval& interval : block->intervals) buffered += interval.buffered;
    CHECK(points == buffered);
  }
  return sums;
}

}  // namespace

TEST_CASE("Counts outside of TLABs are exact, separate from the rows, and in no interval's counts") {
  Bench bench(20);
  const auto count = [&bench](uint64_t time_ns, uint64_t objects, uint64_t bytes) {
    buffer::LaneLease lease(bench.ring(), 0, 400);
    REQUIRE(lease.ok());
    Put(&lease, format::RecordType::kOutside,
        format::PointRecord{{}, kStart + time_ns, format::ClassKey("p/C1"), {}, bytes, static_cast<double>(objects)});
  };
  bench.Sample(4, kSecond / 10);  // of class p/C1
  count(kSecond / 2, 3, 3'000'024);
  count(kSecond * 3 / 4, 4'000'000'000, 400'000'000'008);
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.counters.points == 1);
  CHECK(read.samples.size() == 1);
  auto rows = ReadRows(bench);
  CHECK(rows["p/C1 "].points == 1);
  CHECK(rows["p/C1 outside"].points == 4'000'000'003);
  CHECK(rows["p/C1 outside"].bytes == 400'003'000'032.0);
}

TEST_CASE("Light points are in the interval's counts and rows, but in no sample") {
  Bench bench(20);
  const OneFrame often("often"), once("once");
  for (uint64_t i = 1; i <= 50; ++i) bench.Sample(3 * i + 1, i * kSecond / 51);  // of class p/C1
  for (uint64_t i = 0; i < 300; ++i)
    Point(&bench, kSecond / 10 + i * kSecond / 1000, often, i == 0 ? Brings::kStack : Brings::kNothing, 250, i % 3);
  Point(&bench, kSecond / 2, once, Brings::kStack, 1000, 3);
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(!read.intervals.empty());
  CHECK(read.intervals[0].buffered == 351);
  CHECK(read.intervals[0].kept == 20);
  CHECK(read.samples.size() == 20);
  double weight = 0;
  for (const format::Sample& sample : read.samples) weight += sample.weight;
  CHECK(weight == Approx(50 * 1000.0));
  CHECK(read.counters.points == 351);
  CHECK(read.counters.committed == 351);
  CHECK(read.counters.written == 20);
  CHECK(read.counters.second_stage == 331);
  CHECK(read.counters.points == read.counters.SettledPoints());
  CHECK(read.counters.committed == read.counters.SettledSamples());
  auto rows = ReadRows(bench);
  CHECK(rows.size() == 3);
  CHECK(rows["p/C1 "].points == 50);
  CHECK(rows["p/C1 p/C.often:14"].points == 300);
  CHECK(rows["p/C1 p/C.often:14"].bytes == Approx(300 * 250.0).epsilon(1e-3));
  CHECK(rows["p/C1 p/C.once:14"].points == 1);
  CHECK(rows["p/C1 p/C.once:14"].bytes == Approx(1000).epsilon(1e-3));
}

TEST_CASE("An interval with only light points has no sample, and is not one whose samples are lost") {
  DrainConfig config;
  config.max_samples = GENERATE(0, 7);
  Bench bench(150, config);
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 2, OneFrame("only"), Brings::kStack);
  bench.TickAt(kSecond);
  bench.EndAt(3 * kSecond / 2);
  const auto read = bench.ReadBack();
  REQUIRE(!read.intervals.empty());
  CHECK(read.intervals[0].buffered == 1);
  CHECK(read.intervals[0].kept == 0);
  CHECK(std::isinf(read.intervals[0].tau));
  CHECK(read.counters.second_stage == 1);
  CHECK(read.samples.empty());
}

TEST_CASE("A light point stays in its lane until its interval closes, with its definitions") {
  Bench bench(150);
  bench.DefineClass("p/C1");
  const uint64_t begin = bench.head();
  Point(&bench, kSecond / 2, OneFrame("early"), Brings::kStack);
  const uint64_t late = bench.head();
  Point(&bench, 3 * kSecond / 2, OneFrame("late"), Brings::kStack);
  bench.TickAt(kSecond / 2);
  CHECK(bench.tail() <= begin);
  bench.TickAt(kSecond);
  CHECK(bench.tail() >= late);
  CHECK(bench.tail() < bench.head() - sizeof(format::PointRecord));
  bench.TickAt(2 * kSecond);
  CHECK(bench.tail() == bench.head());
}

TEST_CASE("A path is announced as soon as it is scanned, and outlives the chunk for pending points") {
  Bench bench(150);
  const OneFrame path("often");
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 10, path, Brings::kStack);
  bench.TickAt(kSecond / 8);
  CHECK(bench.emitted() == std::vector<format::StackKey>{path.key()});
  const int chunks = bench.chunks();
  uint64_t second = 1;
  for (; bench.chunks() == chunks; ++second) {
    REQUIRE(second < 1000);
    bench.TickAt(second * kSecond);
  }
  // It waits while the chunk ends, and one that was under way comes after that.
  Point(&bench, second * kSecond - kSecond / 2, path, Brings::kNothing);
  bench.EndAt(second * kSecond);
  auto rows = ReadRows(bench);
  CHECK(rows.size() == 1);
  CHECK(rows["p/C1 p/C.often:14"].points == 2);
}

TEST_CASE("Points that wait while a chunk ends keep their class and path") {
  Bench bench(150, {}, /*thrown_cap=*/5);
  bench.ring().header().interval_ns = 200 * kSecond;
  const OneFrame path("patient");
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 10, path, Brings::kStack);
  for (uint64_t second = 1; second <= 199; second += 18) bench.TickAt(second * kSecond);
  CHECK(bench.chunks() >= 1);
  bench.EndAt(199 * kSecond);
  auto rows = ReadRows(bench);
  CHECK(rows["p/C1 p/C.patient:14"].points == 1);
}

}  // namespace heaprec::writer
