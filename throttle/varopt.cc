#include "throttle/varopt.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

// The points from the heaviest to the lightest; equal weights by id, so that the order of the input has no say.
std::vector<size_t> ByWeight(std::span<const WeightedPoint> points) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return points[a].weight != points[b].weight ? points[a].weight > points[b].weight : points[a].id < points[b].id;
  });
  return order;
}

// The points of certain weight (>= tau) are the first `certain` of the order; tau shares the rest among cap - certain.
struct Threshold {
  size_t certain = 0;
  double tau = 0;
};

Threshold FindThreshold(std::span<const WeightedPoint> points, const std::vector<size_t>& order, size_t cap) {
  // Sums from the light end: no light weight is lost beside a heavy one.
  std::vector<double> rest(order.size() + 1, 0.0);
  for (size_t i = order.size(); i-- > 0;) rest[i] = rest[i + 1] + points[order[i]].weight;
  Threshold t;
  // Stops at cap - 1 at the latest: no weight is larger than a sum that holds it.
  while (points[order[t.certain]].weight * static_cast<double>(cap - t.certain) > rest[t.certain]) ++t.certain;
  t.tau = rest[t.certain] / static_cast<double>(cap - t.certain);
  return t;
}

}  // namespace

Reduction ReduceToCap(std::span<const WeightedPoint> points, size_t cap, uint64_t seed) {
  Reduction result;
  if (points.size() <= cap) {
    result.kept.resize(points.size());
    std::iota(result.kept.begin(), result.kept.end(), size_t{0});
    return result;
  }
  if (cap == 0) {
    result.tau = std::numeric_limits<double>::infinity();
    return result;
  }
  const std::vector<size_t> order = ByWeight(points);
  const Threshold threshold = FindThreshold(points, order, cap);
  result.tau = threshold.tau;
  result.kept.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(threshold.certain));

  // Systematic sampling of the rest in random order: the points lie end to end on a line of cap - certain units, each
  // weight / tau long, and those under u, u + 1, u + 2, ... are kept.
  const uint64_t salt = Mix64(seed + 0x9e3779b97f4a7c15u);
  std::vector<std::pair<uint64_t, size_t>> line;
  line.reserve(order.size() - threshold.certain);
  for (size_t i = threshold.certain; i < order.size(); ++i) {
    line.emplace_back(Mix64(Mix64(points[order[i]].id) ^ salt), order[i]);
  }
  // Two ids never share a hash (a bijection); equal ids, which should not be, still have an order by weight.
  std::stable_sort(line.begin(), line.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const double u = 1 - Random(salt).Uniform();  // (0, 1]: the last mark lies on the line
  double end = 0, mark = u * threshold.tau;
  size_t taken = 0, wanted = cap - threshold.certain;
  for (size_t i = 0; i < line.size() && taken < wanted; ++i) {
    end += points[line[i].second].weight;
    // Rounding must not cost the last one: what is left is taken when it is as many as wanted.
    if (end >= mark || line.size() - i == wanted - taken) {
      result.kept.push_back(line[i].second);
      mark = (static_cast<double>(++taken) + u) * threshold.tau;
    }
  }
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

}  // namespace heaprec::throttle
