#include "tools/analysis/stream_totals.h"

#include <catch2/catch.hpp>

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

format::Sample SampleAt(uint64_t time_ns, format::Kind kind, uint64_t size, double weight) {
  format::Sample sample;
  sample.time_ns = time_ns;
  sample.kind = kind;
  sample.size = size;
  sample.weight = weight;
  return sample;
}

TEST_CASE("A window that a later chunk repeats is counted once") {
  Tally tally(kSecond);
  format::Block block;
  block.windows = {{1, 0, 1e-6}, {2, 10, 1e-6}, {3, 20, 1e-6}};
  tally.Add(block);
  block.windows = {{4, 30, 1e-6}};
  tally.Add(block);
  block.chunk = 1;
  block.windows = {{3, 20, 1e-6}, {4, 30, 1e-6}, {5, 40, 1e-6}};
  tally.Add(block);
  CHECK(tally.windows == 5);
}

TEST_CASE("Weights add up by kind, and the busiest interval is found across blocks") {
  Tally tally(kSecond);
  format::Block block;
  block.samples = {SampleAt(1, format::Kind::kTlab, 10, 100), SampleAt(kSecond - 1, format::Kind::kTlab, 10, 100),
                   SampleAt(kSecond, format::Kind::kOutside, 10, 30)};
  tally.Add(block);
  block.samples = {SampleAt(kSecond + 1, format::Kind::kTlab, 10, 100),
                   SampleAt(kSecond + 2, format::Kind::kTlab, 10, 5),
                   SampleAt(2 * kSecond, format::Kind::kTlab, 10, 5)};
  block.end_ns = 3 * kSecond;
  tally.Add(block);
  CHECK(tally.events() == 6);
  CHECK(tally.kinds[1].events == 1);
  CHECK(tally.bytes() == 340);
  CHECK(tally.objects() == 34);
  CHECK(tally.most_in_interval == 3);
  CHECK(tally.last_ns == 3 * kSecond);
}

}  // namespace
}  // namespace heaprec::tools
