// Line number tables written by hand, in HotSpot's two encodings. Names proper are checked in a JVM: jvm_test.cc.
#include "recorder/hotspot/metadata/names.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/usage/nmt_summary.h"

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

// What VM.native_memory prints, read: of JDK 11 and 17, of 21 and 25, in bytes and in larger units, and what is none.

TEST_CASE("Categories are parsed as JDK 17 prints them, in bytes") {
  constexpr std::string_view kText = R"(
Native Memory Tracking:

(Omitting categories weighting less than 1)

Total: reserved=1489340123, committed=91876001
-                 Java Heap (reserved=67108864, committed=67108864)
                            (mmap: reserved=67108864, committed=67108864)

-                     Class (reserved=1073954231, committed=1753527)
                            (classes #1234)
                            (  instance classes #1100, array classes #134)
                            (malloc=212407 #2134)
                            (  Metadata:   )
                            (    reserved=8388608, committed=7864320)
-              Shared class space (reserved=13131776, committed=13131776)
)";
  const std::vector<MemoryCategory> found = ParseMemorySummary(kText);
  CHECK(found == std::vector<MemoryCategory>{{"Total", 1489340123, 91876001},
                                             {"Java Heap", 67108864, 67108864},
                                             {"Class", 1073954231, 1753527},
                                             {"Shared class space", 13131776, 13131776}});
}

TEST_CASE("Categories are parsed as JDK 25 prints them, in kilobytes") {
  constexpr std::string_view kText = R"(Native Memory Tracking:

Total: reserved=12KB, committed=3KB
       malloc: 2KB #12, peak=3KB #14
       mmap:   reserved=10KB, committed=1KB

-        Shared class space (reserved=16384KB, committed=13504KB, readonly=0KB)
                            (mmap: reserved=16384KB, committed=13504KB, peak=13576KB)
-                    Thread (reserved=2MB, committed=1GB)
)";
  CHECK(ParseMemorySummary(kText) == std::vector<MemoryCategory>{{"Total", 12 << 10, 3 << 10},
                                                                 {"Shared class space", 16384 << 10, 13504 << 10},
                                                                 {"Thread", 2 << 20, 1 << 30}});
}

TEST_CASE("Text without categories gives none") {
  CHECK(ParseMemorySummary("").empty());
  CHECK(ParseMemorySummary("Native memory tracking is not enabled\n").empty());
  CHECK(ParseMemorySummary("- (reserved=1, committed=2)\nTotal:\n-\n- x (reserved=, committed=9)").empty());
}

namespace {

// A stack of `deep` frames told apart by their bci, and what is kept of it in `room`.
std::vector<int64_t> Kept(size_t deep, size_t room, bool* cut = nullptr) {
  std::vector<MethodFrame> memory(room);
  FrameSelection selection(memory);
  for (size_t i = 0; i < deep; ++i) selection.Add({nullptr, 0, static_cast<int32_t>(i)});
  std::vector<int64_t> kept;
  for (const MethodFrame& frame : selection.Finish()) kept.push_back(frame.bci);
  if (cut != nullptr) *cut = selection.is_cut();
  return kept;
}

TEST_CASE("A stack that fits is kept completely") {
  for (size_t deep = 0; deep <= 9; ++deep) {
    bool cut = true;
    const std::vector<int64_t> kept = Kept(deep, 9, &cut);
    CHECK(kept.size() == deep);
    CHECK(!cut);
    for (size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == static_cast<int64_t>(i));
  }
}

TEST_CASE("Of a deeper stack a quarter is nearest to the allocation, the rest nearest to the root") {
  for (size_t room = 1; room <= 17; ++room) {
    for (size_t deep = room + 1; deep < 80; ++deep) {
      bool cut = false;
      const std::vector<int64_t> kept = Kept(deep, room, &cut);
      REQUIRE(cut);
      REQUIRE(kept.size() == room);
      const size_t leaf = FrameSelection::LeafSide(room);
      REQUIRE(leaf == (room + 3) / 4);
      for (size_t i = 0; i < room; ++i) REQUIRE(kept[i] == static_cast<int64_t>(i < leaf ? i : deep - room + i));
    }
  }
}

}  // namespace

}  // namespace heaprec::hotspot
