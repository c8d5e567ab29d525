// Estimates a subset of the samples: bytes, objects, share and mean size, each with its 95 % interval.
//
//   Design design(header);                                         // sees every block
//   Subset one;                                                    // any number of them
//   for (const WeightedSample& drawn : design.Add(block)) one.Add(drawn);
//   const Estimator estimator(design, counters);                   // after the last block
//   const Estimate bytes = estimator.Bytes(one);
//
// Calibrated estimates are the raw ones times factor(), so that tables add up to the counted total. With a complete
// census (Design's strata) the estimates of each class add up to its count.
//
// Units:    bytes, objects; shares from 0 to 1. For a stream of events (Design), both are events.
// Threads:  any; it is constant.
// Failure:  none. Without counted bytes (source jvmti) calibrated estimates equal raw ones.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <cstdint>
#include <optional>

#include "format/model/model.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// Weight of lost points, in the stream's unit. All of it may belong to any one class or site.
double LostWeight(const format::StreamCounters& counters);
// The weight of points that could not be written, or that a kill lost. A census may lack these points, too.
double UnwrittenWeight(const format::StreamCounters& counters);

// If a census counted everything, both are the same.
enum class Weights : bool { kRaw, kCalibrated };

class Estimator {
 public:
  // Selection of `whole`, the base of shares (nullptr: everything): samples of a time span, or of any filter.
  enum class ChosenBy : bool { kTime, kAny };
  Estimator(const Design& design, double lost_weight, Weights weights = Weights::kCalibrated,
            const Subset* whole = nullptr, double unwritten_weight = 0, ChosenBy chosen = ChosenBy::kTime);
  Estimator(const Design& design, const format::StreamCounters& counters, Weights weights = Weights::kCalibrated,
            const Subset* whole = nullptr, ChosenBy chosen = ChosenBy::kTime)
      : Estimator(design, LostWeight(counters), weights, whole, UnwrittenWeight(counters), chosen) {}

  // Of the design: the factors of samples with a site.
  const RowCalibration& calibration() const { return calibration_; }
  // Counted bytes divided by their estimate from the samples; 1 if raw or if nothing was counted.
  double factor() const { return factor_; }
  bool calibrated() const { return calibrated_; }
  // Calibrated bytes of all lost points.
  double lost() const { return lost_; }
  // The part of lost() that was sampled but could not be written.
  double unwritten() const { return unwritten_; }
  // What the subsets are parts of: everything, all samples of some classes, or any selection. Only for the first two a
  // census knows whole classes.
  enum class Among : uint8_t { kAll, kClasses, kAny };
  void SetAmong(Among among) { among_ = among; }
  bool among_all() const { return among_ == Among::kAll; }
  // Whether a census counted all bytes of each class.
  bool counted_by_class() const { return all_counted_ && unwritten_ <= 0; }

  // The total, including lost points; with raw weights only those of UnwrittenWeight. If calibrated, it is exact except
  // for intervals that were not counted (salvaged ones).
  Estimate Total() const;

  // Sets the base of the shares of whole classes: the census count of the selected classes. Requires
  // counted_by_class().
  void SetCountedSelection(double bytes) { counted_selection_ = bytes; }

  // The base of shares, in bytes.
  double Whole() const { return all_counted_ && shares_of_all_ ? counted_by_class_ : factor_ * whole_.bytes(); }

  // Estimates of a subset. If it is empty: 0, with the detection limit as upper end. Upper ends assume that all lost
  // points belong to the subset. Values include lost points only if a census counted them.
  Estimate Bytes(const Subset& of) const;
  Estimate Objects(const Subset& of) const;
  Estimate Share(const Subset& of) const;     // of the whole, in bytes
  Estimate MeanSize(const Subset& of) const;  // bytes per object; 0 to infinity with fewer than two samples

 private:
  const CountedClass* CountedOf(const Subset& of) const;
  Estimate ShareWith(const Subset& of, const Subset& whole, double variance_of_whole) const;
  // Without lost points, unless a census counted them.
  Estimate KnownTotal() const;
  Estimate KnownBytes(const Subset& of) const;
  Estimate KnownObjects(const Subset& of) const;
  Estimate AllowForLost(const Estimate& known, const Subset& of, double per_byte) const;
  double UnitBytes(double variance, double bytes) const;
  double UnitObjects(const Subset& of) const;

  const RowCalibration calibration_;
  const Subset all_, whole_;
  const bool shares_of_all_, shares_of_any_, is_raw_;
  const bool all_counted_;  // a census counted each class
  const double counted_by_class_;
  Among among_ = Among::kAll;
  bool calibrated_ = false;
  std::optional<double> counted_selection_;
  double factor_ = 1;
  double unit_ = 0;                // bytes that a sample of the recording represents, on average
  double uncounted_variance_ = 0;  // of the raw total of the intervals that were not counted
  double lost_ = 0;                // bytes of lost points
  double unwritten_ = 0;           // those of UnwrittenWeight
};

// The estimates of a group of samples (a class, a site, a node of a tree) in a table, over one or several recordings.
//
// Recordings are sampled independently, so their values and variances add up. The two sides of an interval differ, so
// each side is added separately. The allowance for lost points is added in full, because all of them may belong to one
// group.
//
// Units:    bytes and objects; shares from 0 to 1. For a stream of events, bytes and objects are events.
// Maths:    docs/estimates.md#several-recordings
struct GroupEstimates {
  uint64_t samples = 0;
  Estimate bytes, objects;
  Estimate share;      // of all recorded bytes
  Estimate mean_size;  // bytes per object
};

inline constexpr GroupEstimates kUnknownGroup{0, kUnknownEstimate, kUnknownEstimate, kUnknownEstimate,
                                              kUnknownEstimate};

GroupEstimates EstimateGroup(const Subset& group, const Estimator& estimator);
// Estimates a group without samples: the upper ends are the detection limits. Returns kUnknownGroup if nothing was
// observed at all, because there is no limit in that case.
GroupEstimates EstimateUnseen(const Estimator& estimator);

// Replaces the estimates of a group by its counted bytes and objects. `whole`: the bytes that its share refers to.
void SetCounted(double bytes, double objects, double whole, GroupEstimates* of);

// Adds two estimates from independent samples.
Estimate Sum(const Estimate& one, const Estimate& other);

// Adds another recording's estimates of the same group. `whole`, `whole_of_one`: all bytes of the sum so far, and of
// the other recording.
GroupEstimates Sum(const GroupEstimates& sum, double whole, const GroupEstimates& one, double whole_of_one);

}  // namespace heaprec::tools
