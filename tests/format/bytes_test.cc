#include "format/bytes/bytes.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "format/model/sample.h"

namespace heaprec::format {
namespace {

TEST_CASE("Varints and deltas round-trip, including the limits of their ranges") {
  std::mt19937_64 random(1);
  std::vector<uint64_t> values{0, 1, 127, 128, 16383, 16384, UINT64_MAX, UINT64_MAX - 1, uint64_t{1} << 63};
  for (int i = 0; i < 2000; ++i) values.push_back(random() >> (random() % 64));
  ByteBuffer bytes;
  ByteSink sink(&bytes);
  uint64_t last = 0;
  for (const uint64_t value : values) {
    sink.Varint(value);
    sink.Delta(value, last);
    last = value;
  }
  ByteCursor cursor(bytes);
  last = 0;
  for (const uint64_t value : values) {
    REQUIRE(cursor.Varint() == value);
    last = cursor.Delta(last);
    REQUIRE(last == value);
  }
  CHECK(cursor.at_end());
  CHECK(cursor.ok());
}

TEST_CASE("Batch decoding of varints equals single decoding, also of invalid bytes") {
  std::mt19937_64 random(2);
  for (int times = 0; times < 2000; ++times) {
    ByteBuffer bytes;
    const uint64_t most_bits = 1 + random() % 64;
    for (uint64_t values = random() % 300; values > 0; --values) {
      ByteSink(&bytes).Varint(random() >> (64 - 1 - random() % most_bits));
    }
    if (times % 3 == 0 && !bytes.empty()) bytes.resize(random() % bytes.size());
    if (times % 5 == 0) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() | (random() % 8 == 0 ? 0 : 0x80));
    }
    ByteCursor one_by_one(bytes), at_once(bytes);
    std::vector<uint64_t> taken(random() % 320);
    TakeVarints(&at_once, taken);
    for (const uint64_t value : taken) REQUIRE(value == one_by_one.Varint());
    REQUIRE(at_once.ok() == one_by_one.ok());
    REQUIRE(at_once.left() == one_by_one.left());
  }
}

TEST_CASE("A varint that is too long or truncated makes the cursor fail for good") {
  const std::string_view too_long = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
  const std::string_view endless = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80";
  const std::string_view cut = "\x80";
  for (const std::string_view text : {too_long, endless, cut, std::string_view()}) {
    ByteCursor cursor(AsBytes(text));
    CHECK(cursor.Varint() == 0);
    CHECK_FALSE(cursor.ok());
    CHECK(cursor.U64() == 0);
    CHECK(cursor.Take(1).empty());
    CHECK_FALSE(cursor.ok());
  }
}

TEST_CASE("A missing column returns zeros and never fails") {
  ByteCursor cursor;
  CHECK(cursor.Varint() == 0);
  CHECK(cursor.Delta(7) == 7);
  CHECK(cursor.F64() == 0);
  CHECK(cursor.ok());
  CHECK(cursor.at_end());
}

TEST_CASE("the inclusion probability is exact on both sides of the limit of its series") {
  for (int step = 0; step < 460; ++step) {  // 1e-12 to 30
    const double x = 1e-12 * std::pow(1.07, step);
    CAPTURE(x);
    CHECK(PoissonInclusion(x) == Approx(-std::expm1(-x)).epsilon(1e-13));
  }
}

TEST_CASE("Weights per byte and per event are those of docs/format/recording.md") {
  CHECK(FirstStageWeight(WeightRule::kPerByte, 0.01, 100) == Approx(100 / (1 - std::exp(-1.0))));
  CHECK(FirstStageWeight(WeightRule::kCount, 0.25, 0) == 4);
  CHECK_FALSE(WeightsAgree(NAN, NAN));
  CHECK_FALSE(WeightsAgree(INFINITY, INFINITY));
  CHECK(WeightsAgree(1e9, 1e9 + 0.5));
  CHECK_FALSE(WeightsAgree(1e9, 1e9 + 2));
}

}  // namespace
}  // namespace heaprec::format
