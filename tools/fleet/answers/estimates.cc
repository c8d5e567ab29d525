#include "tools/fleet/answers/estimates.h"

#include <algorithm>

namespace heaprec::tools::fleet {
namespace {

double VarianceOfBytes(const PooledSums& of) { return std::max(of.sums.variance - 2 * of.shared + of.shared_all, 0.0); }

double WideningOf(const PooledSums& of) { return Widening(of.sums.bytes, of.sums.variance, of.sums.fourth); }

RecordingScale ScaleOf(uint64_t recording, const Totals& totals) {
  RecordingScale scale{.recording = recording, .factor = totals.Factor()};
  if (totals.IsCalibrated() && totals.all.bytes > 0) {
    scale.per_byte = 1 / totals.all.bytes;
    scale.variance = totals.all.variance;
  }
  return scale;
}

Estimate NotBelow(Estimate estimate, double seen) {
  estimate.low = std::max(estimate.low, std::min(seen, estimate.value));
  return estimate;
}

}  // namespace

FleetEstimator::FleetEstimator(const std::map<uint64_t, Totals>& totals) {
  for (const auto& [recording, one] : totals) {
    scales_.push_back(ScaleOf(recording, one));
    all_.Add(one.all, scales_.back());
    if (!one.IsCalibrated() && one.all.bytes > 0) is_calibrated_ = false;
    counted_ += one.Bytes();
  }
  if (all_.sums.bytes > 0) unit_ = all_.sums.variance / all_.sums.bytes;
}

std::vector<RecordingScale> FleetEstimator::FactorsOnly() const {
  std::vector<RecordingScale> factors = scales_;
  for (RecordingScale& scale : factors) scale.per_byte = scale.variance = 0;
  return factors;
}

Estimate FleetEstimator::Total() const {
  if (is_calibrated_) return {counted_, counted_, counted_};
  const double variance = VarianceOfBytes(all_);
  const Estimate total = TotalInterval(all_.sums.bytes, variance, MeanUnit(all_.sums.bytes, variance, unit_));
  const double more = counted_ - all_.sums.bytes;  // counted, but in no sample
  return {total.value + more, total.low + more, total.high + more};
}

Estimate FleetEstimator::Share(const PooledSums& of) const {
  const double whole = all_.sums.bytes;
  if (!(whole > 0)) return {0, 0, 1};
  const double share = std::min(of.sums.bytes / whole, 1.0), rest = std::max(whole - of.sums.bytes, 0.0);
  const double unit = (1 - share) * MeanUnit(of.sums.bytes, of.sums.variance, unit_) +
                      share * MeanUnit(rest, all_.sums.variance - of.sums.variance, unit_);
  return ShareInterval(share, WideningOf(of) * VarianceOfBytes(of) / (whole * whole), unit / whole);
}

Estimate FleetEstimator::Bytes(const PooledSums& of) const {
  return is_calibrated_ ? NotBelow(Scaled(Share(of), all_.sums.bytes), of.sums.seen) : BytesOfPart(of);
}

Estimate FleetEstimator::BytesOfPart(const PooledSums& of) const {
  const double unit = MeanUnit(of.sums.bytes, of.sums.variance, unit_);
  return NotBelow(TotalInterval(of.sums.bytes, WideningOf(of) * VarianceOfBytes(of), unit), of.sums.seen);
}

Estimate FleetEstimator::Objects(const PooledSums& of) const {
  const double typical = of.sums.bytes > 0 ? unit_ * of.sums.objects / of.sums.bytes : unit_ / kMinObject;
  const double raw = of.sums.variance_objects;
  const double variance = std::max(raw - 2 * of.shared_objects + of.shared_objects_all, 0.0);
  double unit = MeanUnit(of.sums.objects, raw, typical);
  // If the objects have similar sizes, known bytes determine their number, even with few samples.
  if (raw > 0) unit *= std::clamp(variance / raw, 0.0, 1.0);
  const double widening = Widening(of.sums.objects, raw, of.sums.fourth_objects);
  return NotBelow(TotalInterval(of.sums.objects, widening * variance, unit), of.sums.samples);
}

}  // namespace heaprec::tools::fleet
