#include "tools/analysis/estimate/estimator.h"

#include <algorithm>
#include <cmath>

namespace heaprec::tools {
namespace {

double WideningOfBytes(const Subset& of) { return Widening(of.bytes(), of.variance().bytes, of.bytes_fourth()); }

double WideningOfObjects(const Subset& of) {
  return Widening(of.objects(), of.variance().objects, of.objects_fourth());
}

Estimate Exactly(double value) { return {value, value, value}; }

// Returns `known` with the ends `low` and `high`, which also allow for lost points.
Estimate WithLost(const Estimate& known, double low, double high) {
  if (std::isinf(known.high)) return {known.value, low, high};
  return {known.value, low, high, std::max(known.low - low, 0.0), std::max(high - known.high, 0.0)};
}

// Raises the lower end to `least` bytes, which were certainly allocated.
void RaiseLow(double least, Estimate* estimate) {
  estimate->low = std::max(estimate->low, std::min(least, estimate->value));
  estimate->lost_below = std::min(estimate->lost_below, estimate->value - estimate->low);
}

struct Sides {
  double low, high;
};

// The two sides without the allowance for lost points.
Sides SidesOf(const Estimate& estimate) {
  return {std::max(estimate.value - estimate.low - estimate.lost_below, 0.0),
          std::max(estimate.high - estimate.value - estimate.lost_above, 0.0)};
}

double LongerSide(const Estimate& estimate) {
  return std::max(estimate.value - estimate.low, estimate.high - estimate.value);
}

// Adds estimates with weights that are treated as known.
Estimate Mixed(const Estimate& one, double weight, const Estimate& other, double other_weight) {
  return Sum(Scaled(one, weight), Scaled(other, other_weight));
}

// Bytes per object over both: if their objects differ in size, their numbers matter.
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

double LostWeight(const format::StreamCounters& counters) {
  double lost = 0;
  for (const format::LossReason reason :
       {format::LossReason::kDroppedByJvm, format::LossReason::kRingFull, format::LossReason::kLanesBusy,
        format::LossReason::kWriteFailed, format::LossReason::kOversized, format::LossReason::kKilled}) {
    lost += counters.lost_weight[static_cast<size_t>(reason)];
  }
  return lost;
}

double UnwrittenWeight(const format::StreamCounters& counters) {
  return counters.lost_weight[static_cast<size_t>(format::LossReason::kWriteFailed)] +
         counters.lost_weight[static_cast<size_t>(format::LossReason::kKilled)];
}

Estimator::Estimator(const Design& design, double lost_weight, Weights weights, const Subset* whole,
                     double unwritten_weight, ChosenBy chosen)
    : calibration_(design.calibration()),
      all_(design.all()),
      whole_(whole != nullptr ? *whole : all_),
      shares_of_all_(whole == nullptr),
      shares_of_any_(whole != nullptr && chosen == ChosenBy::kAny),
      is_raw_(weights == Weights::kRaw),
      all_counted_(design.counted_by_class()),
      counted_by_class_(design.bytes_by_class()),
      lost_(lost_weight),
      unwritten_(unwritten_weight) {
  if (all_.bytes() > 0) unit_ = all_.variance().bytes / all_.bytes();
  if (all_counted_) {
    calibrated_ = true;
    return;
  }
  const double estimated = all_.bytes() - design.uncounted().bytes() + lost_weight;
  const bool is_counted = weights == Weights::kCalibrated && design.counted_bytes() > 0;
  calibrated_ = is_counted && estimated > 0;
  // Counted bytes without any sample may belong to any subset, like lost points.
  if (is_counted && !calibrated_) lost_ = static_cast<double>(design.counted_bytes());
  if (!calibrated_) return;
  factor_ = static_cast<double>(design.counted_bytes()) / estimated;
  uncounted_variance_ = design.uncounted().variance().bytes;
  lost_ *= factor_;
  unwritten_ *= factor_;
}

const CountedClass* Estimator::CountedOf(const Subset& of) const {
  return all_counted_ && among_ != Among::kAny ? of.counted() : nullptr;
}

double Estimator::UnitBytes(double variance, double bytes) const { return MeanUnit(bytes, variance, unit_); }

// The typical sample has the mean object size of the subset.
double Estimator::UnitObjects(const Subset& of) const {
  const double typical = of.bytes() > 0 ? unit_ * of.objects() / of.bytes() : unit_ / kMinObject;
  return MeanUnit(of.objects(), of.variance().objects, typical);
}

Estimate Estimator::Total() const {
  const Estimate known = KnownTotal();
  const double missing = all_counted_ || is_raw_ ? unwritten_ : lost_;
  return {known.value + missing, known.low + missing, known.high + missing};
}

Estimate Estimator::KnownTotal() const {
  if (all_counted_) return Exactly(counted_by_class_);
  const double variance = calibrated_ ? uncounted_variance_ : all_.variance().bytes;
  if (variance <= 0) return Exactly(factor_ * all_.bytes());
  return Scaled(TotalInterval(all_.bytes(), variance, UnitBytes(variance, all_.bytes())), factor_);
}

Estimate Estimator::Share(const Subset& of) const {
  const CountedClass* const counted = CountedOf(of);
  if (counted_selection_ && counted != nullptr) return Exactly(std::min(counted->bytes / *counted_selection_, 1.0));
  // A census also counts points that are lost in memory.
  const double known = Whole(), all = known + (all_counted_ ? unwritten_ : lost_);
  if (all_counted_ && shares_of_all_) {
    const Estimate bytes = Bytes(of);
    return {bytes.value / known, bytes.low / all, std::min(bytes.high / all, 1.0), bytes.lost_below / all,
            bytes.lost_above / all};
  }
  // The subset is the whole selection.
  const bool is_whole = shares_of_any_ && whole_.samples() > 0 && of.samples() == whole_.samples();
  const Estimate share = is_whole ? Exactly(1) : ShareWith(of, whole_, 0);
  if (!(lost_ > 0) || !(all > 0)) return share;
  const double counted_lost = all_counted_ ? lost_ - unwritten_ : 0, part = known / all;
  const Estimate sampled{share.value, std::lerp(share.value, share.low, part),
                         std::lerp(share.value, share.high, part)};
  return WithLost(sampled, std::max(share.low * known - counted_lost, 0.0) / all,
                  std::min((share.high * known + lost_) / all, 1.0));
}

// The part and the rest vary independently, so the part contributes its own variance to the whole's.
// `variance_of_whole`: variance of the whole's bytes in addition to that of its samples, if the whole is not known.
Estimate Estimator::ShareWith(const Subset& of, const Subset& whole, double variance_of_whole) const {
  if (whole.bytes() <= 0) return {0, 0, 1};
  const double share = std::min(of.bytes() / whole.bytes(), 1.0);
  const double part = of.variance().bytes, all = whole.variance().bytes;
  const double variance = std::max((1 - 2 * share) * part + share * share * (all + variance_of_whole), 0.0);
  // Near 0 one sample more in the subset determines the end, near 1 one sample more outside it.
  const double unit = (1 - share) * UnitBytes(part, of.bytes()) +
                      share * UnitBytes(all - part, std::max(whole.bytes() - of.bytes(), 0.0));
  return ShareInterval(share, WideningOfBytes(of) * variance / (whole.bytes() * whole.bytes()), unit / whole.bytes());
}

// All lost points may belong to the subset, or none. The count of a class includes points lost in memory. A part of a
// class was scaled to that count, so it is smaller if those points were of other parts. `per_byte`: 1, or objects per
// byte.
Estimate Estimator::AllowForLost(const Estimate& known, const Subset& of, double per_byte) const {
  const double lost = per_byte * lost_, unwritten = per_byte * unwritten_;
  if (CountedOf(of) != nullptr) return WithLost(known, known.low, known.high + unwritten);
  const double counted = all_counted_ ? lost - unwritten : 0;
  return WithLost(known, std::max(known.low - counted, 0.0), known.high + lost);
}

Estimate Estimator::Bytes(const Subset& of) const {
  Estimate bytes = AllowForLost(KnownBytes(of), of, 1);
  RaiseLow(of.seen(), &bytes);
  return bytes;
}

Estimate Estimator::KnownBytes(const Subset& of) const {
  if (const CountedClass* const counted = CountedOf(of)) return Exactly(counted->bytes);
  if (calibrated_) return Scaled(ShareWith(of, all_, uncounted_variance_), factor_ * all_.bytes());
  const double variance = of.variance().bytes;
  return TotalInterval(of.bytes(), WideningOfBytes(of) * variance, UnitBytes(variance, of.bytes()));
}

// Unobserved objects are assumed to be as large as the sampled ones, if there are any.
Estimate Estimator::Objects(const Subset& of) const {
  if (of.unsized() > 0 || (all_.samples() == 0 && lost_ > 0)) return kUnknownEstimate;
  Estimate objects = AllowForLost(KnownObjects(of), of, of.bytes() > 0 ? of.objects() / of.bytes() : 1 / kMinObject);
  RaiseLow(static_cast<double>(of.samples()), &objects);
  return objects;
}

Estimate Estimator::KnownObjects(const Subset& of) const {
  if (const CountedClass* const counted = CountedOf(of)) return Exactly(counted->objects);
  const double raw = of.variance().objects;
  double variance = raw, unit = UnitObjects(of);
  if (calibrated_) {
    const double objects_per_byte = all_.bytes() > 0 ? of.objects() / all_.bytes() : 0;
    variance += -2 * objects_per_byte * of.variance().both +
                objects_per_byte * objects_per_byte * (all_.variance().bytes + uncounted_variance_);
    // If the objects have similar sizes, known bytes determine their number, even with few samples.
    if (raw > 0) unit *= std::clamp(variance / raw, 0.0, 1.0);
  }
  return Scaled(TotalInterval(of.objects(), WideningOfObjects(of) * variance, unit), factor_);
}

Estimate Estimator::MeanSize(const Subset& of) const {
  if (of.unsized() > 0) return kUnknownEstimate;
  if (of.objects() <= 0) return RatioInterval(0, 0, 0);
  const CountedClass* const counted = CountedOf(of);
  if (counted != nullptr && counted->objects > 0) return Exactly(counted->bytes / counted->objects);
  const double mean = of.bytes() / of.objects();
  const Spread& spread = of.variance();
  const double variance = spread.bytes - 2 * mean * spread.both + mean * mean * spread.objects;
  // Kish's number; certain samples do not decrease it.
  const double kish = of.objects() * of.objects() / spread.objects;
  const double effective = std::min(static_cast<double>(of.samples()), kish);
  return RatioInterval(mean, variance / (of.objects() * of.objects()), effective);
}

GroupEstimates EstimateGroup(const Subset& group, const Estimator& estimator) {
  return {group.samples(), estimator.Bytes(group), estimator.Objects(group), estimator.Share(group),
          estimator.MeanSize(group)};
}

GroupEstimates EstimateUnseen(const Estimator& estimator) {
  return estimator.Total().high > 0 ? EstimateGroup(Subset(), estimator) : kUnknownGroup;
}

void SetCounted(double bytes, double objects, double whole, GroupEstimates* of) {
  of->bytes = Exactly(bytes);
  of->objects = Exactly(objects);
  if (whole > 0) of->share = Exactly(std::min(bytes / whole, 1.0));
  if (objects > 0) of->mean_size = Exactly(bytes / objects);
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
  if (!(whole_of_one > 0)) return both;  // its lost bytes may belong to the group
  const double part = whole / (whole + whole_of_one);
  both.share = Mixed(sum.share, part, one.share, 1 - part);
  both.share.high = std::min(both.share.high, 1.0);
  both.mean_size = MeanOfBoth(sum, one, both.objects);
  return both;
}

}  // namespace heaprec::tools
