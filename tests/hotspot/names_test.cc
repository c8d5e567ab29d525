// Line number tables written by hand, in HotSpot's two encodings. Names proper are checked in a JVM: jvm_test.cc.
#include "recorder/hotspot/metadata/names.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace heaprec::hotspot {
namespace {

// Appends UNSIGNED5: base 64, least digit first, values below the limit end the number.
void Unsigned5(uint32_t value, uint8_t excluded, std::vector<uint8_t>* out) {
  const uint32_t limit = 256 - 64 - excluded;
  for (int i = 0; i < 4 && value >= limit; ++i) {
    value -= limit;
    out->push_back(static_cast<uint8_t>(excluded + limit + value % 64));
    value /= 64;
  }
  out->push_back(static_cast<uint8_t>(excluded + value));
}

void Signed5(int value, uint8_t excluded, std::vector<uint8_t>* out) {
  const auto bits = static_cast<uint32_t>(value);
  Unsigned5(bits << 1 ^ (value < 0 ? ~uint32_t{0} : 0), excluded, out);
}

struct Entry {
  int bci;
  int line;
};

std::vector<uint8_t> Table(const std::vector<Entry>& entries, uint8_t excluded) {
  std::vector<uint8_t> out;
  Entry last = {0, 0};
  for (const Entry& entry : entries) {
    const int bci = entry.bci - last.bci;
    const int line = entry.line - last.line;
    const int packed = bci << 3 | line;
    if (bci >= 0 && bci < 32 && line >= 0 && line < 8 && packed != 0 && packed != 0xff) {
      out.push_back(static_cast<uint8_t>(packed));
    } else {
      out.push_back(0xff);
      Signed5(bci, excluded, &out);
      Signed5(line, excluded, &out);
    }
    last = entry;
  }
  out.push_back(0);
  return out;
}

int Line(const std::vector<uint8_t>& table, int bci, uint8_t excluded) {
  return DecodeLine(table.data(), table.size(), bci, excluded);
}

TEST_CASE("The line of a bci is that of its entry or of the nearest one below") {
  for (const uint8_t excluded : {uint8_t{0}, uint8_t{1}}) {
    const auto table = Table({{0, 100}, {5, 101}, {9, 90}, {300, 70000}, {301, 70001}}, excluded);
    CHECK(Line(table, 0, excluded) == 100);
    CHECK(Line(table, 4, excluded) == 100);
    CHECK(Line(table, 5, excluded) == 101);
    CHECK(Line(table, 299, excluded) == 90);
    CHECK(Line(table, 300, excluded) == 70000);
    CHECK(Line(table, 65534, excluded) == 70001);
  }
}

TEST_CASE("Entries need not be sorted") {
  const auto table = Table({{20, 7}, {4, 9}, {12, 8}}, 1);
  CHECK(Line(table, 3, 1) == -1);
  CHECK(Line(table, 11, 1) == 9);
  CHECK(Line(table, 15, 1) == 8);
  CHECK(Line(table, 20, 1) == 7);
}

TEST_CASE("Every pair of numbers round-trips in both encodings") {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const Entry entry = {static_cast<int>(random() % 65535), static_cast<int>(random() % 65536)};
    for (const uint8_t excluded : {uint8_t{0}, uint8_t{1}}) {
      const auto table = Table({{0, 1}, entry}, excluded);
      REQUIRE(Line(table, entry.bci, excluded) == (entry.bci == 0 ? 1 : entry.line));
    }
  }
}

TEST_CASE("A truncated table ends where it is truncated") {
  const auto table = Table({{3, 50}, {200, 5000}}, 1);
  for (size_t size = 0; size < table.size(); ++size) {
    const std::vector<uint8_t> cut(table.begin(),
                                   table.begin() + static_cast<long>(size));  // exact: ASan sees overruns
    const int line = DecodeLine(cut.data(), cut.size(), 65000, 1);
    CHECK((line == -1 || line == 50 || line == 5000));
  }
  CHECK(DecodeLine(table.data(), 0, 3, 1) == -1);
}

}  // namespace
}  // namespace heaprec::hotspot
