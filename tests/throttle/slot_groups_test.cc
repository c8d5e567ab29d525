#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "throttle/interval_reducer.h"
#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

std::vector<SlotWeight> Points(size_t slot, size_t count, double weight) {
  return std::vector<SlotWeight>(count, {slot, weight});
}

std::vector<SlotWeight> operator+(std::vector<SlotWeight> a, const std::vector<SlotWeight>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("If only the last limit matters there is one group") {
  const std::vector<size_t> room = {60, 80, 100};
  const auto groups = GroupSlots(Points(0, 70, 1) + Points(1, 70, 1) + Points(2, 70, 1), room);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].end == 3);
  CHECK(groups[0].cap == 100);
}

TEST_CASE("A few points are all kept") {
  const std::vector<size_t> room = {60, 80, 100};
  const auto groups = GroupSlots(Points(1, 70, 5) + Points(2, 20, 1), room);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].cap == 90);
}

TEST_CASE("A burst at the start gets what it needs, and later points the rest") {
  const std::vector<size_t> room = {45, 45, 100};
  const auto groups = GroupSlots(Points(0, 300, 9) + Points(2, 80, 1), room);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].cap == 45);
  CHECK(groups[1].end == 3);
  CHECK(groups[1].cap == 55);
}

TEST_CASE("Without space nothing is kept, and no points need none") {
  const std::vector<size_t> none = {0, 0};
  size_t sum = 0;
  for (const SlotGroup& group : GroupSlots(Points(0, 3, 1) + Points(1, 3, 1), none)) sum += group.cap;
  CHECK(sum == 0);
  CHECK(GroupSlots({}, none).back().end == 2);
}

// Bounds on prefixes make a chain, so the most that can be kept is what a greedy walk keeps; and all must be spent.
TEST_CASE("For any weights the limits hold and the interval is as full as they allow") {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    std::vector<SlotWeight> points;
    for (size_t n = random.Next() % 400; n > 0; --n)
      points.push_back({random.Next() % 7, std::exp(10 * random.Uniform())});
    std::vector<size_t> room;
    for (size_t j = 0; j < 7; ++j) room.push_back((j > 0 ? room.back() : 0) + random.Next() % 40);
    const auto groups = GroupSlots(points, room);
    size_t begin = 0, used = 0;
    for (const SlotGroup& group : groups) {
      REQUIRE(group.end > begin);
      used += group.cap;
      REQUIRE(used <= room[group.end - 1]);
      begin = group.end;
    }
    REQUIRE(begin == room.size());
    size_t most = 0;
    for (size_t j = 0; j < room.size(); ++j) {
      most += static_cast<size_t>(std::count_if(points.begin(), points.end(), [&](auto& p) { return p.slot == j; }));
      most = std::min(most, room[j]);
    }
    REQUIRE(used == most);
  }
}

}  // namespace heaprec::throttle
