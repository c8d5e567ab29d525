#include "throttle/varopt.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>

#include "throttle/random.h"

namespace heaprec::throttle {
namespace {

// Returns the points from the heaviest to the lightest; equal weights by id, so that the order of the input does not
// matter.
std::vector<size_t> ByWeight(std::span<const BufferedPoint> points) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return points[a].weight != points[b].weight ? points[a].weight > points[b].weight : points[a].id < points[b].id;
  });
  return order;
}

// The `certain` first points in this order have certain weight (>= tau); tau distributes length - certain among the
// others.
struct Threshold {
  size_t certain = 0;
  double tau = 0;
};

Threshold FindThreshold(std::span<const BufferedPoint> points, const std::vector<size_t>& order, double length) {
  // Sums from the lightest, so that light weights are not lost by rounding.
  std::vector<double> rest(order.size() + 1, 0.0);
  for (size_t i = order.size(); i-- > 0;) rest[i] = rest[i + 1] + points[order[i]].weight;
  Threshold t;
  // Stops at the latest when 1 or less is left: no weight is larger than a sum that includes it.
  while (points[order[t.certain]].weight * (length - static_cast<double>(t.certain)) > rest[t.certain]) ++t.certain;
  t.tau = rest[t.certain] / (length - static_cast<double>(t.certain));
  return t;
}

uint64_t SaltOf(uint64_t seed) { return Mix64(seed + 0x9e3779b97f4a7c15u); }

// A point's position on the line: similar points are adjacent, in an order that no program can predict. Ids are unique
// and Mix64 is a bijection, so no two points have the same position.
struct OrderedPoint {
  uint64_t class_hash, path, stack_key, thread_hash, id_hash;
  size_t index;  // into the input
  auto operator<=>(const OrderedPoint&) const = default;
};

std::vector<OrderedPoint> InOrder(std::span<const BufferedPoint> points, std::span<const size_t> chosen,
                                  uint64_t salt) {
  std::vector<OrderedPoint> line;
  line.reserve(chosen.size());
  for (const size_t i : chosen) {
    const BufferedPoint& p = points[i];
    line.push_back(
        {Mix64(p.class_key ^ salt), p.call_path, p.stack_key, Mix64(p.thread_key ^ salt), Mix64(p.id ^ salt), i});
  }
  std::sort(line.begin(), line.end());
  return line;
}

// Systematic sampling: the points are placed end to end on a line, each of length weight / tau. Keeps the points at the
// `wanted` marks first_mark, first_mark + 1, ...
void SampleSystematically(std::span<const BufferedPoint> points, std::span<const OrderedPoint> line, double tau,
                          double first_mark, size_t wanted, std::vector<size_t>* kept) {
  double end = 0, mark = first_mark * tau;
  size_t taken = 0;
  for (size_t i = 0; i < line.size() && taken < wanted; ++i) {
    end += points[line[i].index].weight;
    // Rounding must not lose the last point: if only as many points are left as are still needed, takes all of them.
    if (end < mark && line.size() - i > wanted - taken) continue;
    kept->push_back(line[i].index);
    mark = (static_cast<double>(++taken) + first_mark) * tau;
  }
}

}  // namespace

Reduction ReduceToQuota(std::span<const BufferedPoint> points, const SampleQuota& quota, uint64_t seed) {
  Reduction result;
  if (static_cast<double>(points.size()) <= quota.length) {
    result.kept.resize(points.size());
    std::iota(result.kept.begin(), result.kept.end(), size_t{0});
    return result;
  }
  if (!(quota.length > 0)) {
    result.tau = std::numeric_limits<double>::infinity();
    return result;
  }
  const std::vector<size_t> order = ByWeight(points);
  const Threshold threshold = FindThreshold(points, order, quota.length);
  // A certain point takes one unit of length and one mark at any position; it does not affect the others.
  const size_t certain = std::min(threshold.certain, quota.marks);
  result.tau = threshold.tau;
  result.kept.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(certain));
  const std::vector<OrderedPoint> line = InOrder(points, std::span(order).subspan(threshold.certain), SaltOf(seed));
  SampleSystematically(points, line, result.tau, quota.first_mark, quota.marks - certain, &result.kept);
  std::sort(result.kept.begin(), result.kept.end());
  return result;
}

Reduction ReduceToCap(std::span<const BufferedPoint> points, size_t cap, uint64_t seed) {
  // In (0, 1], so the last mark is on the line.
  const double first_mark = 1 - Random(SaltOf(seed)).Uniform();
  return ReduceToQuota(points, {.length = static_cast<double>(cap), .first_mark = first_mark, .marks = cap}, seed);
}

}  // namespace heaprec::throttle
