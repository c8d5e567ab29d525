// Rows by steps of time: bounded, and with the sums of what was added.
#include "tools/query/samples/step_rows.h"

#include <catch2/catch.hpp>

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

format::Row PointOf(uint64_t size, double weight) {
  format::Row row;
  row.Add(size, weight);
  return row;
}

TEST_CASE("Rows of one class and path in one step are one") {
  StepRows rows;
  rows.Begin(2 * kSecond);
  rows.Add(3, 7, PointOf(16, 100));
  rows.Add(3, 8, PointOf(16, 100));
  rows.Add(3, 7, PointOf(32, 200));
  rows.Begin(4 * kSecond);
  rows.Add(3, 7, PointOf(16, 100));
  rows.Close();
  REQUIRE(rows.rows().size() == 3);
  CHECK(rows.ends() == std::vector{2 * kSecond, 4 * kSecond});
  const StepRow& first = rows.rows().front();
  CHECK(first.node == 7);
  CHECK(first.sums.points == 2);
  CHECK(first.sums.seen == 48);
  CHECK(first.sums.bytes == 300);
  CHECK(first.sums.bytes_variance == 100 * 84 + 200 * 168);
  CHECK(rows.rows().back().step == 1);
}

TEST_CASE("A long recording has long steps with all its points") {
  constexpr uint64_t kBlocks = 5003;
  StepRows rows;
  for (uint64_t block = 1; block <= kBlocks; ++block) {
    rows.Begin(2 * block * kSecond);
    for (uint32_t node = 0; node < 50; ++node) rows.Add(0, node, PointOf(16, 100));
  }
  rows.Close();
  CHECK(rows.ends().size() <= StepRows::kMaxSteps);
  CHECK(rows.ends().size() > StepRows::kMaxSteps / 4);
  CHECK(rows.ends().back() == 2 * kBlocks * kSecond);
  CHECK(rows.ends()[1] - rows.ends()[0] == rows.ends()[0]);
  CHECK(rows.rows().size() == 50 * rows.ends().size());
  uint64_t points = 0;
  for (const StepRow& row : rows.rows()) points += row.sums.points;
  CHECK(points == 50 * kBlocks);
}

TEST_CASE("Many paths have few steps") {
  StepRows rows;
  for (uint64_t block = 1; block <= 40; ++block) {
    rows.Begin(2 * block * kSecond);
    for (uint32_t node = 0; node < 20'000; ++node) rows.Add(0, node, PointOf(16, 100));
  }
  rows.Close();
  CHECK(rows.rows().size() <= StepRows::kMaxRows);
  CHECK(rows.rows().size() == 20'000 * rows.ends().size());
  CHECK(rows.rows().front().sums.points >= 8);
}

TEST_CASE("Several recordings follow each other, each with its own scale") {
  StepRows one, all;
  one.Begin(2 * kSecond);
  one.Add(0, 0, PointOf(16, 100));
  all.Append(one, 1);
  all.Append(one, 3);
  all.Close();
  REQUIRE(all.rows().size() == 2);
  CHECK(all.rows()[1].step == 1);
  CHECK(all.rows()[1].sums.points == 1);
  CHECK(all.rows()[1].sums.bytes == 300);
  CHECK(all.rows()[1].sums.bytes_variance == 9 * 100 * 84);
}

}  // namespace
}  // namespace heaprec::tools
