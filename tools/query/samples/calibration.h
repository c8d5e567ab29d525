// What each sample of a recording stands for in the tables of `top` and `summary`: its weight times what was counted
// over what the samples say of it, and in a recording with a census times its class's factor.
//
// Units:    bytes and objects; of exceptions throws.
// Threads:  one.
// Failure:  none. Where nothing was counted, calibrated weights are the raw ones.
// Maths:    docs/estimates.md#calibration, docs/estimates.md#post-stratification
#pragma once

#include <array>
#include <functional>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/strata.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

class Calibration {
 public:
  struct Weight {
    double bytes = 0, objects = 0;
  };

  Calibration() { factors_.fill(1); }  // raw weights
  // Reads the recording once, with a census twice, from its start; `recording` itself stays where it is.
  // `wants`: the streams that are asked for later. The others stay raw.
  static Calibration Of(const Recording& recording, const std::function<bool(format::Stream)>& wants);

  // Before the samples of each block.
  void Enter(const format::Block& block) { block_ = &block; }
  Weight WeightOf(const format::Sample& sample);
  // What the calibrated weights of a stream have in common; the census's factors are not in it.
  double factor(format::Stream stream) const { return factors_[static_cast<size_t>(stream)]; }

 private:
  std::array<double, format::kStreams> factors_;
  Strata strata_;
  const format::Block* block_ = nullptr;
};

}  // namespace heaprec::tools
