// The drain with two streams: each has its intervals, its cap and its counters.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {

TEST_CASE("Exceptions have their own intervals, cap and counters") {
  Bench bench(100, {}, 5);
  for (uint64_t i = 1; i <= 40; ++i) {
    bench.Sample(i, i * kSecond / 41, 1000, static_cast<uint32_t>(i));
    bench.Sample(100 + i, i * kSecond / 41 + 1, 3, static_cast<uint32_t>(i), format::Kind::kException);
  }
  bench.TickAt(kSecond / 2);
  CHECK(bench.ReadBack().samples.size() == 5);  // the allocations' second is not over
  buffer::SharedCounters(bench.ring().header().exceptions.counters).SetPopulation(120, 0);
  bench.TickAt(kSecond);
  const auto read = bench.ReadBack();
  double thrown = 0;
  for (const format::Sample& sample : read.samples) thrown += sample.weight_objects() * (sample.weight_bytes() == 0);
  CHECK(read.samples.size() == 40 + 2 * 5);
  CHECK(thrown == Approx(40 * 3.0));
  CHECK(read.counters.written == 40);
  CHECK(read.thrown.written == 10);
  CHECK(read.thrown.second_stage == 30);
  CHECK(read.thrown.candidates == 120);
  REQUIRE(read.intervals.size() == 3);
  CHECK(read.intervals[0].stream == format::Stream::kExceptions);
  uint64_t counted = 0;
  for (const format::Interval& one : read.intervals)
    counted += one.stream == format::Stream::kExceptions ? one.candidates : 0;
  CHECK(counted == 120);
}

TEST_CASE("A sample that waits for a long interval uses at most half of its lane") {
  Bench bench(10'000, {}, 5);
  bench.ring().header().interval_ns = 3600 * kSecond;
  bench.Sample(1, kSecond / 4);
  const uint32_t lane_bytes = bench.ring().lane_bytes();
  for (uint64_t i = 2; bench.ring().lane(0).head.load() < 3 * lane_bytes; ++i) {
    const uint64_t time_ns = i * kSecond / 100;
    bench.Sample(i, time_ns, 1, 0, format::Kind::kException);
    bench.TickAt(time_ns);
  }
  CHECK(bench.ring().lane(0).tail.load() > 2 * lane_bytes);
  bench.EndAt(3599 * kSecond);
  const auto read = bench.ReadBack();
  CHECK(std::any_of(read.samples.begin(), read.samples.end(), [](const auto& sample) { return sample.id == 1; }));
}

}  // namespace heaprec::writer
