#include "tools/analysis/totals/stream_totals.h"

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

TEST_CASE("A window that is repeated in a later chunk is counted once") {
  StreamTotals totals(kSecond);
  format::Block block;
  block.windows = {{1, 0, 1e-6}, {2, 10, 1e-6}, {3, 20, 1e-6}};
  totals.Add(block);
  block.windows = {{4, 30, 1e-6}};
  totals.Add(block);
  block.chunk = 1;
  block.windows = {{3, 20, 1e-6}, {4, 30, 1e-6}, {5, 40, 1e-6}};
  totals.Add(block);
  CHECK(totals.windows == 5);
}

TEST_CASE("Weights add up by kind, and the busiest interval is found across blocks") {
  StreamTotals totals(kSecond);
  format::Block block;
  block.samples = {SampleAt(1, format::Kind::kTlab, 10, 100), SampleAt(kSecond - 1, format::Kind::kTlab, 10, 100),
                   SampleAt(kSecond, format::Kind::kOutside, 10, 30)};
  totals.Add(block);
  block.samples = {SampleAt(kSecond + 1, format::Kind::kTlab, 10, 100),
                   SampleAt(kSecond + 2, format::Kind::kTlab, 10, 5),
                   SampleAt(2 * kSecond, format::Kind::kTlab, 10, 5)};
  block.end_ns = 3 * kSecond;
  totals.Add(block);
  CHECK(totals.events() == 6);
  CHECK(totals.kinds[1].events == 1);
  CHECK(totals.bytes() == 340);
  CHECK(totals.objects() == 34);
  CHECK(totals.most_in_interval == 3);
  CHECK(totals.last_ns == 3 * kSecond);
}

}  // namespace
}  // namespace heaprec::tools
