// How often intervals hold the truth, over many simulated runs.
//
// Pairs (site, run) of the same run are not independent: the error of a coverage is judged by runs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tools/analysis/simulated_sites.h"
#include "tools/analysis/estimate/census_table.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"

namespace heaprec::testing {

// Sites with less are too rare for the promise of 95 %.
inline constexpr double kMinShare = 0.002;
inline constexpr double kRounding = 1e-9;

// One kind of interval, over the pairs of many runs.
class ScanSummary {
 public:
  void Add(double truth, const tools::Estimate& estimate) {
    pairs_ += 1, of_run_.first += 1;
    // What is known without an error may be off by rounding.
    const double low = estimate.low * (1 - kRounding), high = estimate.high * (1 + kRounding);
    const bool below = truth < low;
    const bool above = truth > high;
    const bool held = !below && !above;
    held_ += held, of_run_.second += held;
    below_ += below, above_ += above;
    const double error = (estimate.value - truth) / truth;
    squares_ += error * error, errors_ += error, width_ += (estimate.high - estimate.low) / truth;
  }
  void EndRun() {
    runs_.push_back(of_run_);
    of_run_ = {};
  }
  void Merge(const ScanSummary& other) {
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

enum Measured { kBytes, kBytesCalibrated, kObjects, kObjectsCalibrated, kShare, kMeanSize, kMeasured };
inline constexpr std::array<const char*, kMeasured> kNames{
    "bytes", "bytes, calibrated", "objects", "objects, calibrated", "share", "mean size"};
inline constexpr uint64_t kFewForMean = 5;  // samples: no mean size is judged with less

struct ScanSummaries {
  std::vector<std::array<ScanSummary, kMeasured>> cuts{Cuts().size()};
  ScanSummary total;                        // raw
  std::array<ScanSummary, kMeasured> rare;  // sites with less than 1 %

  template <typename Do>
  void ForEach(Do&& act) {
    for (auto& cut : cuts) std::for_each(cut.begin(), cut.end(), act);
    std::for_each(rare.begin(), rare.end(), act);
    act(total);
  }
  void Merge(ScanSummaries other) {
    std::vector<const ScanSummary*> from;
    other.ForEach([&](const ScanSummary& one) { from.push_back(&one); });
    size_t next = 0;
    ForEach([&](ScanSummary& one) { one.Merge(*from[next++]); });
  }
};

inline void MeasurePart(const Truth::Part& truth, double all, const tools::Subset& part, const tools::Estimator& raw,
                        const tools::Estimator& calibrated, std::array<ScanSummary, kMeasured>* into) {
  auto& of = *into;
  of[kBytes].Add(truth.bytes, raw.Bytes(part));
  of[kBytesCalibrated].Add(truth.bytes, calibrated.Bytes(part));
  of[kObjects].Add(truth.objects, raw.Objects(part));
  of[kObjectsCalibrated].Add(truth.objects, calibrated.Objects(part));
  of[kShare].Add(truth.bytes / all, raw.Share(part));
  if (part.samples() >= kFewForMean) of[kMeanSize].Add(truth.bytes / truth.objects, raw.MeanSize(part));
}

// `by_rows`: of the cuts that rows tell.
inline std::vector<std::vector<tools::Subset>> SubsetsOf(const AppRun& run, tools::Design* design, bool by_rows) {
  std::vector<std::vector<tools::Subset>> subsets;
  for (const TimeSlice& cut : Cuts()) {
    const bool is_class = std::string_view(cut.name) == "class";
    const auto holds = is_class ? tools::Subset::Holds::kOneClass : tools::Subset::Holds::kAny;
    subsets.emplace_back(cut.parts, tools::Subset(holds));
  }
  for (const format::Block& block : run.blocks) {
    for (const tools::WeightedSample& drawn : design->Add(block, by_rows)) {
      const format::Sample sample = by_rows ? format::Sample{.stack = drawn.stack} : block.samples[drawn.index];
      for (size_t i = 0; i < subsets.size(); ++i) {
        if (by_rows && !Cuts()[i].is_in_rows) continue;
        const uint32_t part = Cuts()[i].part({sample.thread, sample.stack, sample.size, sample.time_ns});
        if (part != kNoPart) subsets[i][part].Add(drawn);
      }
    }
  }
  return subsets;
}

inline tools::Strata StrataOf(const AppRun& run, bool by_rows) {
  tools::StrataBuilder builder(run.header);
  for (const format::Block& block : run.blocks) builder.Add(block, by_rows);
  return builder.Build({});
}

inline void Measure(const AppRun& run, bool by_rows, ScanSummaries* into) {
  tools::Design design(run.header);
  design.SetStrata(StrataOf(run, by_rows));
  const auto subsets = SubsetsOf(run, &design, by_rows);
  const tools::Estimator raw(design, 0, tools::Weights::kRaw), calibrated(design, 0);
  const double all = run.truth.all_bytes;
  for (size_t cut = 0; cut < subsets.size(); ++cut) {
    if (by_rows && !Cuts()[cut].is_in_rows) continue;
    for (size_t part = 0; part < subsets[cut].size(); ++part) {
      const Truth::Part& truth = run.truth.cuts[cut][part];
      if (truth.bytes < kMinShare * all) continue;
      MeasurePart(truth, all, subsets[cut][part], raw, calibrated, &into->cuts[cut]);
      if (cut == 0 && truth.bytes < 0.01 * all) {
        MeasurePart(truth, all, subsets[cut][part], raw, calibrated, &into->rare);
      }
    }
  }
  into->total.Add(all, raw.Total());
  into->ForEach([](ScanSummary& one) { one.EndRun(); });
}

// `walked`: part of the TLABs that a census walks.
inline ScanSummaries MeasureApp(const App& app, double rate, double surplus, double seconds, int runs, bool by_rows,
                                double walked = 0) {
  ScanSummaries coverages;
  for (int run = 0; run < runs; ++run) {
    const uint64_t seed = throttle::Mix64(static_cast<uint64_t>(run) + 1);
    Measure(RunApp(app, rate, surplus, seconds, seed, seed, walked), by_rows, &coverages);
  }
  return coverages;
}

}  // namespace heaprec::testing
