#include "recorder/sources/native/mapping_table.h"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace heaprec::sources {
namespace {

using native::Mapping;
using native::MappingType;

constexpr uintptr_t kPage = 4096;

Mapping Pages(uintptr_t begin, uintptr_t end, MappingType sort, bool replaces = true) {
  return {begin * kPage, end * kPage, sort, replaces};
}

std::map<uint64_t, uint64_t> LeftOf(MappingTable* ranges) {
  std::map<uint64_t, uint64_t> left;
  for (const MappingTable::Change& change : ranges->TakeChanges()) left[change.sample] = change.left / kPage;
  return left;
}

// The same, page by page.
struct Model {
  static constexpr uintptr_t kPages = 64;
  struct OfPage {
    uint64_t reserved = 0, touched = 0;
  };
  std::array<OfPage, kPages> pages{};
  std::array<bool, kPages> is_reserved{}, is_touched{};

  uint64_t Map(uint64_t sample, uintptr_t begin, uintptr_t end, MappingType sort) {
    bool all = true;
    for (uintptr_t i = begin; i < end; ++i) all &= is_reserved[i];
    uint64_t made = 0;
    for (uintptr_t i = begin; i < end; ++i) {
      is_touched[i] = sort != MappingType::kReserve;
      pages[i].touched = is_touched[i] ? sample : 0;
      if (is_touched[i] && !all) is_reserved[i] = false, pages[i].reserved = 0;
      if (is_touched[i]) ++made;
      if (is_touched[i] || is_reserved[i]) continue;
      is_reserved[i] = true, pages[i].reserved = sample;
      ++made;
    }
    return made;
  }
  void Unmap(uintptr_t begin, uintptr_t end) {
    for (uintptr_t i = begin; i < end; ++i) pages[i] = {}, is_reserved[i] = is_touched[i] = false;
  }
  void Move(uintptr_t begin, uintptr_t end, uintptr_t to) {
    Model before = *this;
    Unmap(begin, end);
    Unmap(to, to + (end - begin));
    for (uintptr_t i = begin; i < end; ++i) {
      pages[to + i - begin] = before.pages[i];
      is_reserved[to + i - begin] = before.is_reserved[i];
      is_touched[to + i - begin] = before.is_touched[i];
    }
  }
  std::map<uint64_t, uint64_t> Left() const {
    std::map<uint64_t, uint64_t> left;
    for (const OfPage& page : pages) ++left[page.reserved], ++left[page.touched];
    left.erase(0);
    return left;
  }
};

}  // namespace

TEST_CASE("A commit is inside its reserve, which continues, and ends with it") {
  MappingTable ranges;
  CHECK(ranges.Map(1, Pages(10, 30, MappingType::kReserve, false), 1).bytes == 20 * kPage);
  const MappingTable::New commit = ranges.Map(2, Pages(12, 20, MappingType::kPrivate), 2);
  CHECK((commit.bytes == 8 * kPage && commit.is_in_reserve && commit.sort == MappingType::kPrivate));
  CHECK(LeftOf(&ranges).empty());
  // Given back: it was reserved all the time, so nothing is new.
  CHECK(ranges.Map(3, Pages(16, 20, MappingType::kReserve), 3).bytes == 0);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{2, 4}});
  ranges.Unmap(14 * kPage, 30 * kPage, 4);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 4}, {2, 2}});
  ranges.Unmap(0, 100 * kPage, 5);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 0}, {2, 0}});
}

TEST_CASE("An accessible mapping that is not completely inside reserves replaces them") {
  MappingTable ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingType::kReserve), 1);
  (void)ranges.Map(2, Pages(20, 30, MappingType::kReserve), 1);
  CHECK(ranges.Map(3, Pages(15, 25, MappingType::kShared), 2).is_in_reserve);
  CHECK_FALSE(ranges.Map(4, Pages(25, 35, MappingType::kFile), 2).is_in_reserve);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{2, 5}});
}

TEST_CASE("A range that the kernel returns again was free: a known mapping there has ended unseen") {
  MappingTable ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingType::kReserve, false), 1);
  (void)ranges.Map(2, Pages(10, 15, MappingType::kPrivate), 1);
  CHECK_FALSE(ranges.Map(3, Pages(12, 18, MappingType::kPrivate, false), 2).is_in_reserve);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 4}, {2, 2}});
}

TEST_CASE("A moved mapping keeps its identity, and an added part is new") {
  MappingTable ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingType::kShared, false), 1);
  ranges.Detach(7, 10 * kPage, 20 * kPage);
  const MappingTable::New grown = ranges.Attach(7, 2, 50 * kPage, 65 * kPage, 2);
  CHECK((grown.bytes == 5 * kPage && grown.sort == MappingType::kShared));
  CHECK(LeftOf(&ranges).empty());
  ranges.Unmap(10 * kPage, 20 * kPage, 3);
  CHECK(LeftOf(&ranges).empty());
  ranges.Detach(8, 50 * kPage, 65 * kPage);
  CHECK(ranges.Attach(8, 3, 50 * kPage, 58 * kPage, 4).bytes == 0);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 8}, {2, 0}});
}

TEST_CASE("The ranges of untracked mappings are known, and unknown ranges are ignored") {
  MappingTable ranges;
  (void)ranges.Map(0, Pages(10, 20, MappingType::kReserve), 1);
  CHECK(ranges.Map(1, Pages(12, 14, MappingType::kPrivate), 2).is_in_reserve);
  ranges.Unmap(100 * kPage, 200 * kPage, 3);
  ranges.Detach(1, 300 * kPage, 301 * kPage);
  CHECK(ranges.Attach(1, 2, 400 * kPage, 401 * kPage, 4).bytes == 0);
  CHECK(LeftOf(&ranges).empty());
}

TEST_CASE("Ranges that the kernel no longer has are removed") {
  MappingTable ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingType::kReserve), 1);
  (void)ranges.Map(2, Pages(30, 40, MappingType::kPrivate), 1);
  (void)ranges.Map(3, Pages(60, 70, MappingType::kPrivate), 1);
  ranges.BeginAge();
  // Under way while the kernel was asked, and told later: it is there.
  (void)ranges.Map(4, Pages(50, 55, MappingType::kPrivate), 2);
  ranges.Detach(1, 60 * kPage, 70 * kPage);
  (void)ranges.Attach(1, 0, 80 * kPage, 90 * kPage, 2);
  ranges.KeepOnly(
      {Pages(5, 12, MappingType::kPrivate), Pages(12, 15, MappingType::kPrivate), Pages(38, 50, MappingType::kPrivate)},
      2);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 5}, {2, 2}});
}

TEST_CASE("Ranges and pages give the same result") {
  std::mt19937 random(11);
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  MappingTable ranges;
  Model model;
  std::map<uint64_t, uint64_t> left;
  for (uint64_t sample = 1; sample < 20'000; ++sample) {
    const uintptr_t begin = below(Model::kPages - 1), end = begin + 1 + below(Model::kPages - begin);
    const uint64_t what = below(7);
    if (what < 4) {
      const auto sort = static_cast<MappingType>(what);
      const uint64_t made = ranges.Map(sample, Pages(begin, end, sort), sample).bytes / kPage;
      REQUIRE(made == model.Map(sample, begin, end, sort));
      if (made > 0) left[sample] = made;
    } else if (what < 6) {
      ranges.Unmap(begin * kPage, end * kPage, sample);
      model.Unmap(begin, end);
    } else {
      const uintptr_t to = below(Model::kPages - (end - begin) + 1);
      if (to < end && begin < to + (end - begin)) continue;
      ranges.Detach(1, begin * kPage, end * kPage);
      REQUIRE(ranges.Attach(1, 0, to * kPage, (to + (end - begin)) * kPage, sample).bytes == 0);
      model.Move(begin, end, to);
    }
    for (const auto& [one, pages] : LeftOf(&ranges)) left[one] = pages;
    std::erase_if(left, [](const auto& one) { return one.second == 0; });
    REQUIRE(left == model.Left());
  }
}

}  // namespace heaprec::sources
