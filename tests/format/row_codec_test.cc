// Rows, random and real-shaped: what comes back, and how small they are.
#include "format/codec/row_codec.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "format/bytes/columns.h"
#include "format/codec/row_table.h"

namespace heaprec::format::testing {
namespace {

constexpr double kHalfStep = 0x1p-10, kHalfSpreadStep = 0.024;

Dictionaries SomeDictionaries() {
  Dictionaries dictionaries;
  dictionaries.classes.resize(5000);
  dictionaries.stacks.resize(20'000);
  return dictionaries;
}

bool Decode(Bytes raw, std::vector<Row>* rows) {
  ByteCursor cursor(raw);
  const Framed section = TakeFramed(&cursor);
  bool refused = false;
  return section.number == static_cast<uint64_t>(Section::kRows) &&
         DecodeRows(section.body, SomeDictionaries(), rows, &refused) && !refused && cursor.at_end();
}

std::vector<Row> Decoded(const std::vector<Row>& rows) {
  ByteBuffer raw;
  EncodeRows(Section::kRows, rows, &raw);
  std::vector<Row> decoded;
  REQUIRE(Decode(raw, &decoded));
  REQUIRE(decoded.size() == rows.size());
  return decoded;
}

double WeightOf(uint64_t size, double lambda) {
  return static_cast<double>(size) / -std::expm1(-lambda * static_cast<double>(size));
}

class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}
  uint64_t Uniform(uint64_t below) { return std::uniform_int_distribution<uint64_t>(0, below - 1)(random_); }
  // Mostly of HotSpot's sizes; a tenth is anything.
  uint64_t Size() {
    return Uniform(10) == 0 ? 1 + Uniform(uint64_t{1} << Uniform(40)) : 8 * (2 + Uniform(uint64_t{1} << Uniform(8)));
  }
  Index AnyIndex(uint64_t below) { return Uniform(30) == 0 ? kNone : static_cast<Index>(Uniform(below)); }

 private:
  std::mt19937_64 random_;
};

bool IsNear(double a, double b, double relative) { return std::abs(a - b) <= relative * std::abs(b); }

}  // namespace

TEST_CASE(
    "Of a row of one point the size comes back, the weight within 2^-12, and all else is what follows from them") {
  const uint32_t seed = GENERATE(range(1U, 20U));
  CAPTURE(seed);
  Random random(seed);
  RowTable table;
  for (uint64_t i = random.Uniform(3000); i > 0; --i) {
    const uint64_t size = random.Size();
    const bool is_certain = random.Uniform(8) == 0;
    const double lambda = 1e-5 * static_cast<double>(1 + random.Uniform(100));
    table.Add(random.AnyIndex(5000), static_cast<Index>(i), size,
              is_certain ? static_cast<double>(size) : WeightOf(size, lambda));
  }
  const std::vector<Row> rows = table.Take(), decoded = Decoded(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    REQUIRE(rows[i].points == 1);
    REQUIRE(decoded[i].seen == rows[i].seen);
    REQUIRE(decoded[i].bytes >= static_cast<double>(rows[i].seen));
    REQUIRE(IsNear(decoded[i].bytes, rows[i].bytes, kHalfStep));
    Row expected{.class_id = rows[i].class_id, .stack = rows[i].stack};
    expected.Add(decoded[i].seen, decoded[i].bytes);
    if (rows[i].bytes == static_cast<double>(rows[i].seen)) {
      REQUIRE(decoded[i] == rows[i]);
      REQUIRE(decoded[i].bytes_variance == 0);
    }
    REQUIRE(IsNear(decoded[i].objects, expected.objects, 1e-9));
    const double floats = 1e-9 * expected.bytes / std::max(expected.bytes - static_cast<double>(expected.seen), 1e-9);
    REQUIRE(IsNear(decoded[i].bytes_variance, expected.bytes_variance, floats));
    REQUIRE(IsNear(decoded[i].objects_variance, expected.objects_variance, floats));
    REQUIRE(IsNear(decoded[i].covariance, expected.covariance, floats));
    REQUIRE(IsNear(decoded[i].bytes_fourth, expected.bytes_fourth, 2 * floats));
    REQUIRE(IsNear(decoded[i].objects_fourth, expected.objects_fourth, 2 * floats));
  }
  // What is written again is the same.
  ByteBuffer once, twice;
  EncodeRows(Section::kRows, rows, &once);
  EncodeRows(Section::kRows, decoded, &twice);
  CHECK(once == twice);
}

TEST_CASE("Rows of many points round-trip, up to rounding") {
  const uint32_t seed = GENERATE(range(1U, 20U));
  CAPTURE(seed);
  Random random(seed);
  RowTable table;
  uint64_t points = 0;
  for (uint64_t i = 1 + random.Uniform(5000); i > 0; --i, ++points) {
    const auto class_id = static_cast<Index>(random.Uniform(1 + random.Uniform(40)));
    // Some classes have one size.
    const uint64_t size = class_id % 3 == 0 ? 8 * (2 + class_id) : random.Size();
    table.Add(class_id, random.AnyIndex(1 + random.Uniform(40)), size,
              class_id % 5 == 0 ? static_cast<double>(size) : WeightOf(size, 1e-6 * (1 + random.Uniform(1000))));
  }
  const std::vector<Row> rows = table.Take(), decoded = Decoded(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row &got = decoded[i], &given = rows[i];
    CAPTURE(i, given.points);
    points -= got.points;
    REQUIRE(got.class_id == given.class_id);
    REQUIRE(got.stack == given.stack);
    REQUIRE(got.points == given.points);
    REQUIRE(got.seen == given.seen);
    REQUIRE(got.bytes >= static_cast<double>(got.seen));
    REQUIRE(got.objects >= static_cast<double>(got.points));
    REQUIRE(IsNear(got.bytes, given.bytes, kHalfStep));
    REQUIRE(IsNear(got.objects, given.objects, 2 * kHalfStep));
    REQUIRE(IsNear(got.bytes_variance, given.bytes_variance, kHalfSpreadStep));
    REQUIRE(IsNear(got.objects_variance, given.objects_variance, kHalfSpreadStep));
    REQUIRE(IsNear(got.covariance, given.covariance, kHalfSpreadStep));
    REQUIRE(IsNear(got.bytes_fourth, given.bytes_fourth, 3 * kHalfSpreadStep));
    REQUIRE(IsNear(got.objects_fourth, given.objects_fourth, 3 * kHalfSpreadStep));
  }
  CHECK(points == 0);
}

TEST_CASE("A row of one point needs about four bytes") {
  Random random(7);
  RowTable table;
  std::vector<std::pair<Index, uint64_t>> sites;  // class, size
  for (int i = 0; i < 4000; ++i)
    sites.emplace_back(random.Uniform(1 + static_cast<uint64_t>(i) / 8), 8 * (2 + random.Uniform(8)));
  for (Index i = 0; i < 4000; ++i) {
    if (random.Uniform(2) == 0) continue;
    const double lambda = 1e-5 * (1 + 1e-4 * static_cast<double>(random.Uniform(1000)));
    table.Add(sites[i].first, i, sites[i].first % 4 == 0 ? sites[i].second : 24, WeightOf(24, lambda));
  }
  const std::vector<Row> rows = table.Take();
  ByteBuffer raw;
  EncodeRows(Section::kRows, rows, &raw);
  const double bytes = static_cast<double>(raw.size()) / static_cast<double>(rows.size());
  CAPTURE(bytes);
  CHECK(bytes < 4.7);
}

TEST_CASE("Impossible rows are refused") {
  const auto is_refused = [](uint64_t head, uint64_t class_id, uint64_t points, uint64_t seen, uint64_t beyond) {
    ColumnWriter<5> columns;
    columns.Varint(0, head);
    columns.Varint(1, class_id);
    if ((head & 1) != 0) columns.Varint(2, points);
    if ((head & 2) != 0) columns.Varint(3, seen);
    columns.Varint(4, beyond);
    ByteBuffer raw;
    columns.Finish(static_cast<uint64_t>(Section::kRows), false, 1, &raw);
    std::vector<Row> rows;
    return !Decode(raw, &rows);
  };
  CHECK_FALSE(is_refused(2, 0, 0, 6, 0));
  CHECK(is_refused(0, 0, 0, 0, 0));                       // of no size
  CHECK(is_refused(3, 0, UINT64_MAX - 1, 6, 0));          // of no points
  CHECK(is_refused(3, 0, 100, 6, 0));                     // more points than bytes
  CHECK(is_refused(20'001 << 2 | 2, 0, 0, 6, 0));         // no such stack
  CHECK(is_refused(2, 5001, 0, 6, 0));                    // no such class
  CHECK(is_refused(2, 0, 0, 6, 1 + Zigzag(512 * 1024)));  // of infinite weight
  const Row row{.class_id = 1, .stack = 1, .points = 1, .seen = 8, .bytes = 8, .objects = 1};
  ByteBuffer raw;
  EncodeRows(Section::kRows, std::vector{row, row}, &raw);  // twice the same
  std::vector<Row> rows;
  CHECK_FALSE(Decode(raw, &rows));
}

}  // namespace heaprec::format::testing
