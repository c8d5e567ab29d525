#include "recorder/sources/native/mapping_table.h"

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

namespace heaprec::sources {
namespace {

using native::Mapping;
using native::MappingSort;

constexpr uintptr_t kPage = 4096;

Mapping Pages(uintptr_t begin, uintptr_t end, MappingSort sort, bool replaces = true) {
  return {begin * kPage, end * kPage, sort, replaces};
}

std::map<uint64_t, uint64_t> LeftOf(MappedRanges* ranges) {
  std::map<uint64_t, uint64_t> left;
  for (const MappedRanges::Change& change : ranges->TakeChanges()) left[change.sample] = change.left / kPage;
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

  uint64_t Map(uint64_t sample, uintptr_t begin, uintptr_t end, MappingSort sort) {
    bool all = true;
    for (uintptr_t i = begin; i < end; ++i) all &= is_reserved[i];
    uint64_t made = 0;
    for (uintptr_t i = begin; i < end; ++i) {
      is_touched[i] = sort != MappingSort::kReserve;
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

TEST_CASE("A commit lies within its reserve, which goes on, and ends with it") {
  MappedRanges ranges;
  CHECK(ranges.Map(1, Pages(10, 30, MappingSort::kReserve, false), 1).bytes == 20 * kPage);
  const MappedRanges::New commit = ranges.Map(2, Pages(12, 20, MappingSort::kPrivate), 2);
  CHECK((commit.bytes == 8 * kPage && commit.is_in_reserve && commit.sort == MappingSort::kPrivate));
  CHECK(LeftOf(&ranges).empty());
  // Given back: it was reserved all the time, so nothing is new.
  CHECK(ranges.Map(3, Pages(16, 20, MappingSort::kReserve), 3).bytes == 0);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{2, 4}});
  ranges.Unmap(14 * kPage, 30 * kPage, 4);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 4}, {2, 2}});
  ranges.Unmap(0, 100 * kPage, 5);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 0}, {2, 0}});
}

TEST_CASE("What may be touched and is not wholly within reserves takes their place") {
  MappedRanges ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingSort::kReserve), 1);
  (void)ranges.Map(2, Pages(20, 30, MappingSort::kReserve), 1);
  CHECK(ranges.Map(3, Pages(15, 25, MappingSort::kShared), 2).is_in_reserve);
  CHECK_FALSE(ranges.Map(4, Pages(25, 35, MappingSort::kFile), 2).is_in_reserve);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{2, 5}});
}

TEST_CASE("What the kernel gives anew was nobody's: what is known there has ended unheard") {
  MappedRanges ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingSort::kReserve, false), 1);
  (void)ranges.Map(2, Pages(10, 15, MappingSort::kPrivate), 1);
  CHECK_FALSE(ranges.Map(3, Pages(12, 18, MappingSort::kPrivate, false), 2).is_in_reserve);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 4}, {2, 2}});
}

TEST_CASE("A mapping that is moved stays the one it was, and what is added is new") {
  MappedRanges ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingSort::kShared, false), 1);
  ranges.Lift(7, 10 * kPage, 20 * kPage);
  const MappedRanges::New grown = ranges.Place(7, 2, 50 * kPage, 65 * kPage, 2);
  CHECK((grown.bytes == 5 * kPage && grown.sort == MappingSort::kShared));
  CHECK(LeftOf(&ranges).empty());
  ranges.Unmap(10 * kPage, 20 * kPage, 3);
  CHECK(LeftOf(&ranges).empty());
  ranges.Lift(8, 50 * kPage, 65 * kPage);
  CHECK(ranges.Place(8, 3, 50 * kPage, 58 * kPage, 4).bytes == 0);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 8}, {2, 0}});
}

TEST_CASE("Of what nobody follows the ranges are known, and what was never mapped here is nothing") {
  MappedRanges ranges;
  (void)ranges.Map(0, Pages(10, 20, MappingSort::kReserve), 1);
  CHECK(ranges.Map(1, Pages(12, 14, MappingSort::kPrivate), 2).is_in_reserve);
  ranges.Unmap(100 * kPage, 200 * kPage, 3);
  ranges.Lift(1, 300 * kPage, 301 * kPage);
  CHECK(ranges.Place(1, 2, 400 * kPage, 401 * kPage, 4).bytes == 0);
  CHECK(LeftOf(&ranges).empty());
}

TEST_CASE("What the kernel does not have any more is gone") {
  MappedRanges ranges;
  (void)ranges.Map(1, Pages(10, 20, MappingSort::kReserve), 1);
  (void)ranges.Map(2, Pages(30, 40, MappingSort::kPrivate), 1);
  (void)ranges.Map(3, Pages(60, 70, MappingSort::kPrivate), 1);
  ranges.BeginAge();
  // Under way while the kernel was asked, and told later: it is there.
  (void)ranges.Map(4, Pages(50, 55, MappingSort::kPrivate), 2);
  ranges.Lift(1, 60 * kPage, 70 * kPage);
  (void)ranges.Place(1, 0, 80 * kPage, 90 * kPage, 2);
  ranges.KeepOnly(
      {Pages(5, 12, MappingSort::kPrivate), Pages(12, 15, MappingSort::kPrivate), Pages(38, 50, MappingSort::kPrivate)},
      2);
  CHECK(LeftOf(&ranges) == std::map<uint64_t, uint64_t>{{1, 5}, {2, 2}});
}

TEST_CASE("Ranges and pages tell the same") {
  std::mt19937 random(11);
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  MappedRanges ranges;
  Model model;
  std::map<uint64_t, uint64_t> left;
  for (uint64_t sample = 1; sample < 20'000; ++sample) {
    const uintptr_t begin = below(Model::kPages - 1), end = begin + 1 + below(Model::kPages - begin);
    const uint64_t what = below(7);
    if (what < 4) {
      const auto sort = static_cast<MappingSort>(what);
      const uint64_t made = ranges.Map(sample, Pages(begin, end, sort), sample).bytes / kPage;
      REQUIRE(made == model.Map(sample, begin, end, sort));
      if (made > 0) left[sample] = made;
    } else if (what < 6) {
      ranges.Unmap(begin * kPage, end * kPage, sample);
      model.Unmap(begin, end);
    } else {
      const uintptr_t to = below(Model::kPages - (end - begin) + 1);
      if (to < end && begin < to + (end - begin)) continue;
      ranges.Lift(1, begin * kPage, end * kPage);
      REQUIRE(ranges.Place(1, 0, to * kPage, (to + (end - begin)) * kPage, sample).bytes == 0);
      model.Move(begin, end, to);
    }
    for (const auto& [one, pages] : LeftOf(&ranges)) left[one] = pages;
    std::erase_if(left, [](const auto& one) { return one.second == 0; });
    REQUIRE(left == model.Left());
  }
}

}  // namespace heaprec::sources
