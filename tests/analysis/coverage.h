// How often intervals hold the truth, over many simulated runs.
//
// Pairs (site, run) of the same run are not independent: the error of a coverage is judged by runs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/simulated_sites.h"
#include "tools/analysis/design.h"
#include "tools/analysis/estimator.h"

namespace heaprec::testing {

// Sites with less are too rare for the promise of 95 %.
inline constexpr double kLeastShare = 0.002;

// One kind of interval, over the pairs of many runs.
class Coverage {
 public:
  void Add(double truth, const tools::Estimate& estimate) {
    pairs_ += 1, of_run_.first += 1;
    const bool held = estimate.low <= truth && truth <= estimate.high;
    held_ += held, of_run_.second += held;
    (truth < estimate.low ? below_ : above_) += !held;
    const double error = (estimate.value - truth) / truth;
    squares_ += error * error, errors_ += error, width_ += (estimate.high - estimate.low) / truth;
  }
  void EndRun() {
    runs_.push_back(of_run_);
    of_run_ = {};
  }
  void Merge(const Coverage& other) {
    pairs_ += other.pairs_, held_ += other.held_, below_ += other.below_, above_ += other.above_;
    squares_ += other.squares_, errors_ += other.errors_, width_ += other.width_;
    runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end());
  }

  double pairs() const { return pairs_; }
  double held() const { return held_ / pairs_; }
  double below() const { return below_ / pairs_; }  // truth below the interval
  double above() const { return above_ / pairs_; }
  double error() const { return std::sqrt(squares_ / pairs_); }  // relative, root of the mean square
  double bias() const { return errors_ / pairs_; }
  double width() const { return width_ / pairs_; }
  // Standard deviation of held(), from the scatter between runs.
  double sigma() const {
    double squares = 0;
    for (const auto& [pairs, held] : runs_) squares += std::pow(held - pairs * this->held(), 2);
    return std::sqrt(squares) / pairs_;
  }

 private:
  double pairs_ = 0, held_ = 0, below_ = 0, above_ = 0, squares_ = 0, errors_ = 0, width_ = 0;
  std::pair<double, double> of_run_;
  std::vector<std::pair<double, double>> runs_;  // pairs, held
};

enum Measured {
  kBytes,
  kBytesCalibrated,
  kObjects,
  kObjectsCalibrated,
  kShare,
  kMeanSize,
  kTotal,
  // For comparison: of bytes, raw.
  kRare,    // sites with less than 1 %
  kNormal,  // +-1.96 standard deviations
  kRareNormal,
  kIndependent,  // as if all samples were drawn independently
  kMeasured
};
inline constexpr std::array<const char*, kMeasured> kNames{"bytes",
                                                           "bytes, calibrated",
                                                           "objects",
                                                           "objects, calibrated",
                                                           "share",
                                                           "mean size",
                                                           "total",
                                                           "bytes, rare",
                                                           "bytes, normal",
                                                           "bytes, rare, normal",
                                                           "bytes, independent"};
using Coverages = std::array<Coverage, kMeasured>;

inline tools::Estimate Normal(double value, double variance) {
  const double half = tools::kZ * std::sqrt(std::max(variance, 0.0));
  return {value, value - half, value + half};
}

// Intervals that the estimator could have had.
inline void MeasureOthers(double truth, bool rare, const tools::Subset& site, const tools::Estimate& bytes,
                          Coverages* into) {
  Coverages& of = *into;
  const tools::Estimate normal = Normal(site.bytes(), site.WholeChain().bytes);
  of[kNormal].Add(truth, normal);
  of[kIndependent].Add(truth, Normal(site.bytes(), site.independent().bytes));
  if (!rare) return;
  of[kRare].Add(truth, bytes);
  of[kRareNormal].Add(truth, normal);
}

inline void Measure(const AppRun& run, Coverages* into) {
  tools::Design design(run.header);
  std::array<tools::Subset, kAppSites> sites;
  for (const format::Block& block : run.blocks) {
    design.Add(block);
    for (const format::Sample& sample : block.samples) sites[sample.stack].Add(design.Of(sample));
  }
  const tools::Estimator raw(design, 0, tools::Weights::kRaw), calibrated(design, 0);
  const Truth& truth = run.truth;
  Coverages& of = *into;
  for (size_t k = 0; k < kAppSites; ++k) {
    const double share = truth.bytes[k] / truth.all_bytes;
    if (share < kLeastShare) continue;
    of[kBytes].Add(truth.bytes[k], raw.Bytes(sites[k]));
    MeasureOthers(truth.bytes[k], share < 0.01, sites[k], raw.Bytes(sites[k]), into);
    of[kBytesCalibrated].Add(truth.bytes[k], calibrated.Bytes(sites[k]));
    of[kObjects].Add(truth.objects[k], raw.Objects(sites[k]));
    of[kObjectsCalibrated].Add(truth.objects[k], calibrated.Objects(sites[k]));
    of[kShare].Add(share, raw.Share(sites[k]));
    if (sites[k].samples() >= 5) of[kMeanSize].Add(truth.bytes[k] / truth.objects[k], raw.MeanSize(sites[k]));
  }
  of[kTotal].Add(truth.all_bytes, raw.Total());
  for (Coverage& coverage : of) coverage.EndRun();
}

inline Coverages MeasureApp(const App& app, double rate, double seconds, int runs) {
  Coverages coverages;
  for (int run = 0; run < runs; ++run) {
    Measure(RunApp(app, rate, seconds, throttle::Mix64(static_cast<uint64_t>(run) + 1)), &coverages);
  }
  return coverages;
}

}  // namespace heaprec::testing
