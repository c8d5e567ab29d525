#include "tools/analysis/estimate/group_estimates.h"

#include <algorithm>
#include <cmath>

namespace heaprec::tools {
namespace {

struct Sides {
  double low, high;
};

// Without the allowance for lost points.
Sides SidesOf(const Estimate& estimate) {
  return {std::max(estimate.value - estimate.low - estimate.lost_below, 0.0),
          std::max(estimate.high - estimate.value - estimate.lost_above, 0.0)};
}

double LongerSide(const Estimate& estimate) {
  return std::max(estimate.value - estimate.low, estimate.high - estimate.value);
}

// Adds estimates with weights that are taken as known.
Estimate Mixed(const Estimate& one, double weight, const Estimate& other, double other_weight) {
  return Sum(Scaled(one, weight), Scaled(other, other_weight));
}

// Bytes per object, of the objects of both: where they differ in size, it matters how many of each there were.
Estimate MeanOfBoth(const GroupEstimates& one, const GroupEstimates& other, const Estimate& objects) {
  if (IsUnknown(objects)) return kUnknownEstimate;
  if (!(one.objects.value > 0)) return other.mean_size;
  if (!(other.objects.value > 0)) return one.mean_size;
  const double part = one.objects.value / objects.value;
  Estimate mean = Mixed(one.mean_size, part, other.mean_size, 1 - part);
  const double apart = std::abs(one.mean_size.value - other.mean_size.value) / objects.value;
  const double mixture = apart * std::hypot((1 - part) * LongerSide(one.objects), part * LongerSide(other.objects));
  mean.low = std::max(0.0, mean.value - std::hypot(mean.value - mean.low, mixture));
  mean.high = mean.value + std::hypot(mean.high - mean.value, mixture);
  return mean;
}

}  // namespace

GroupEstimates EstimateGroup(const Subset& group, const Estimator& estimator) {
  return {group.samples(), estimator.Bytes(group), estimator.Objects(group), estimator.Share(group),
          estimator.MeanSize(group)};
}

GroupEstimates EstimateUnseen(const Estimator& estimator) {
  return estimator.Total().high > 0 ? EstimateGroup(Subset(), estimator) : kUnknownGroup;
}

void SetCounted(double bytes, double objects, double whole, GroupEstimates* of) {
  const auto exact = [](double value) { return Estimate{value, value, value}; };
  of->bytes = exact(bytes);
  of->objects = exact(objects);
  if (whole > 0) of->share = exact(std::min(bytes / whole, 1.0));
  if (objects > 0) of->mean_size = exact(bytes / objects);
}

Estimate Sum(const Estimate& one, const Estimate& other) {
  const Sides of_one = SidesOf(one), of_other = SidesOf(other);
  const double value = one.value + other.value;
  const double lost_below = one.lost_below + other.lost_below, lost_above = one.lost_above + other.lost_above;
  return {value, value - std::hypot(of_one.low, of_other.low) - lost_below,
          value + std::hypot(of_one.high, of_other.high) + lost_above, lost_below, lost_above};
}

GroupEstimates Sum(const GroupEstimates& sum, double whole, const GroupEstimates& one, double whole_of_one) {
  if (!(whole > 0) && !(sum.bytes.high > 0)) return one;
  GroupEstimates both = sum;
  both.samples += one.samples;
  both.bytes = Sum(sum.bytes, one.bytes);
  both.objects = Sum(sum.objects, one.objects);
  if (!(whole_of_one > 0)) return both;  // the bytes that it lost may belong to the group
  const double part = whole / (whole + whole_of_one);
  both.share = Mixed(sum.share, part, one.share, 1 - part);
  both.share.high = std::min(both.share.high, 1.0);
  both.mean_size = MeanOfBoth(sum, one, both.objects);
  return both;
}

}  // namespace heaprec::tools
