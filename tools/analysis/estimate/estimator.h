// What was allocated, by any subset of the samples: bytes, objects, share, mean size, each with its 95 % interval.
//
//   Design design(header);                                    // sees every block
//   Subset one;                                               // any number of them
//   for (block) { design.Add(block); for (sample) if (...) one.Add(design.Of(sample)); }
//   const Estimator estimator(design, LostWeight(counters));      // after the last block
//   const Estimate bytes = estimator.Bytes(one);
//
// Calibrated estimates are the raw ones times factor(), so that tables add up to what was counted. With a census that
// counted all (Design's strata) those of each class add up to what it counted.
//
// Units:    bytes, objects; shares from 0 to 1. Of a stream of events (Design), both are events.
// Threads:  any; it is constant.
// Failure:  none. Without counted bytes (source jvmti) calibrated is the same as raw.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <optional>

#include "format/model/model.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/subset.h"

namespace heaprec::tools {

// What points stood for which no sample shows, in the stream's unit.
double LostWeight(const format::StreamCounters& counters);
// The part of it that was in blocks that could not be written. Any class or site may have had all of it.
double UnwrittenWeight(const format::StreamCounters& counters);

// With a census that counted all both are the same.
enum class Weights : bool { kRaw, kCalibrated };

class Estimator {
 public:
  // `whole`: what shares are of; nullptr: all. Samples within a span of time, or with kAny those of any filter.
  enum class ChosenBy : bool { kTime, kAny };
  Estimator(const Design& design, double lost_weight, Weights weights = Weights::kCalibrated,
            const Subset* whole = nullptr, double unwritten_weight = 0, ChosenBy chosen = ChosenBy::kTime);
  Estimator(const Design& design, const format::StreamCounters& counters, Weights weights = Weights::kCalibrated,
            const Subset* whole = nullptr, ChosenBy chosen = ChosenBy::kTime)
      : Estimator(design, LostWeight(counters), weights, whole, UnwrittenWeight(counters), chosen) {}

  // Counted bytes over what the samples say of them; 1 if raw or nothing was counted.
  double factor() const { return factor_; }
  bool calibrated() const { return calibrated_; }

  // What all samples stand for, and those that could not be written. Calibrated it is known but for the intervals that
  // were not counted (salvaged ones).
  Estimate Total() const;

  // What shares are of.
  double Whole() const { return counted_whole_.value_or(factor_ * whole_.bytes()); }

  // Of a subset, which may be empty: then 0, and how much may have been there all the same. Intervals reach to where
  // all that could not be written belongs to the subset; values are of what was.
  Estimate Bytes(const Subset& of) const;
  Estimate Objects(const Subset& of) const;
  Estimate Share(const Subset& of) const;     // of the whole, in bytes
  Estimate MeanSize(const Subset& of) const;  // bytes per object; 0 to infinity if fewer than two samples tell

 private:
  Estimate ShareOfAny(const Subset& of) const;
  Estimate ShareWith(const Subset& of, const Subset& whole, double variance_of_whole) const;
  Estimate BytesWithin(const Subset::Known& strata, const Subset& of) const;
  Estimate WrittenTotal() const;
  Estimate WrittenBytes(const Subset& of) const;
  Estimate WrittenObjects(const Subset& of) const;
  Estimate WrittenShare(const Subset& of) const;
  double UnitBytes(double variance, double bytes) const;
  double UnitObjects(const Subset& of) const;

  const Subset all_, whole_;
  const bool shares_of_all_, shares_of_any_;
  const double variance_;  // of all_.bytes()
  bool calibrated_ = false;
  bool all_counted_ = false;             // by a census, each class
  std::optional<double> counted_whole_;  // likewise, if shares are of all
  double factor_ = 1;
  double unit_ = 0;                // bytes that a sample of the recording stands for
  double uncounted_variance_ = 0;  // of the raw total of the intervals that were not counted
  double unwritten_ = 0;           // bytes of what could not be written
};

}  // namespace heaprec::tools
