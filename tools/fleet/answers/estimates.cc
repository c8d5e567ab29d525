#include "tools/fleet/answers/estimates.h"

#include <algorithm>

namespace heaprec::tools::fleet {
namespace {

constexpr double kMinObject = 16;  // bytes

// tools/analysis/estimate/estimator.cc: Student's t in place of z.
double Widening(double sum, double variance, double fourth) {
  if (!(variance > 0) || !(sum > 0)) return 1;
  const double excess = fourth / (variance * variance) - variance / (sum * sum);
  return 1 + (kZ * kZ + 1) / 4 * std::max(excess, 0.0);
}

double VarianceOfBytes(const PooledSums& of) { return std::max(of.sums.variance - 2 * of.shared + of.shared_all, 0.0); }

double VarianceOfObjects(const PooledSums& of) {
  return std::max(of.sums.variance_objects - 2 * of.shared_objects + of.shared_objects_all, 0.0);
}

double WideningOf(const PooledSums& of) { return Widening(of.sums.bytes, of.sums.variance, of.sums.fourth); }

Estimate NotBelow(Estimate estimate, double seen) {
  estimate.low = std::max(estimate.low, std::min(seen, estimate.value));
  return estimate;
}

}  // namespace

RecordingScale ScaleOf(uint64_t recording, const Totals& totals) {
  RecordingScale scale{.recording = recording, .factor = totals.Factor()};
  if (totals.IsCalibrated() && totals.all.bytes > 0) {
    scale.per_byte = 1 / totals.all.bytes;
    scale.variance = totals.all.variance;
  }
  return scale;
}

FleetEstimator::FleetEstimator(const std::map<uint64_t, Totals>& totals) {
  for (const auto& [recording, one] : totals) {
    scales_.push_back(ScaleOf(recording, one));
    all_.Add(one.all, scales_.back());
    if (!one.IsCalibrated() && one.all.bytes > 0) is_calibrated_ = false;
    counted_ += one.IsCalibrated() || !(one.all.bytes > 0) ? one.counted : one.all.bytes;
  }
  if (all_.sums.bytes > 0) unit_ = all_.sums.variance / all_.sums.bytes;
}

std::vector<RecordingScale> FleetEstimator::FactorsOnly() const {
  std::vector<RecordingScale> factors = scales_;
  for (RecordingScale& scale : factors) scale.per_byte = scale.variance = 0;
  return factors;
}

double FleetEstimator::factor(uint64_t recording) const {
  for (const RecordingScale& scale : scales_) {
    if (scale.recording == recording) return scale.factor;
  }
  return 1;
}

// The mean weight of a sample, with one typical sample added.
double FleetEstimator::Unit(double variance, double bytes) const {
  const double all = bytes + unit_;
  return all > 0 ? (std::max(variance, 0.0) + unit_ * unit_) / all : 0;
}

Estimate FleetEstimator::Total() const {
  if (is_calibrated_) return {counted_, counted_, counted_};
  const double variance = VarianceOfBytes(all_);
  const Estimate total = TotalInterval(all_.sums.bytes, variance, Unit(variance, all_.sums.bytes));
  const double more = counted_ - all_.sums.bytes;  // what was counted, but is in no sample
  return {total.value + more, total.low + more, total.high + more};
}

Estimate FleetEstimator::TotalObjects() const { return Objects(all_); }

Estimate FleetEstimator::ShareOf(const PooledSums& of) const {
  const double whole = all_.sums.bytes;
  if (!(whole > 0)) return {0, 0, 1};
  const double share = std::min(of.sums.bytes / whole, 1.0);
  const double others = all_.sums.variance - of.sums.variance;
  const double unit =
      (1 - share) * Unit(of.sums.variance, of.sums.bytes) + share * Unit(others, std::max(whole - of.sums.bytes, 0.0));
  return ShareInterval(share, WideningOf(of) * VarianceOfBytes(of) / (whole * whole), unit / whole);
}

Estimate FleetEstimator::Share(const PooledSums& of) const { return ShareOf(of); }

Estimate FleetEstimator::Bytes(const PooledSums& of) const {
  if (is_calibrated_) return NotBelow(Scaled(ShareOf(of), all_.sums.bytes), of.sums.seen);
  const double unit = Unit(of.sums.variance, of.sums.bytes);
  return NotBelow(TotalInterval(of.sums.bytes, WideningOf(of) * VarianceOfBytes(of), unit), of.sums.seen);
}

Estimate FleetEstimator::BytesOfPart(const PooledSums& of) const {
  return NotBelow(
      TotalInterval(of.sums.bytes, WideningOf(of) * VarianceOfBytes(of), Unit(of.sums.variance, of.sums.bytes)),
      of.sums.seen);
}

Estimate FleetEstimator::Objects(const PooledSums& of) const {
  const double typical = of.sums.bytes > 0 ? unit_ * of.sums.objects / of.sums.bytes : unit_ / kMinObject;
  const double raw = of.sums.variance_objects, all = of.sums.objects + typical, variance = VarianceOfObjects(of);
  double unit = all > 0 ? (std::max(raw, 0.0) + typical * typical) / all : 0;
  // Known bytes of like objects are known objects, however few the samples.
  if (raw > 0) unit *= std::clamp(variance / raw, 0.0, 1.0);
  const double widening = Widening(of.sums.objects, of.sums.variance_objects, of.sums.fourth_objects);
  return NotBelow(TotalInterval(of.sums.objects, widening * variance, unit), of.sums.samples);
}

}  // namespace heaprec::tools::fleet
