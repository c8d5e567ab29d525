// Which of many are kept when only a few can be: ones that represent all.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "throttle/random.h"

namespace heaprec::tools {

// Keeps each offered entry with the same probability: when `seen` have been offered, the new one replaces each entry
// with probability 1 / seen.
template <typename Entry>
class ReservoirSample {
 public:
  ReservoirSample(size_t most, uint64_t seed) : most_(most), random_(seed) {}
  // `make` is called if the entry is kept.
  template <typename Make>
  void Offer(Make&& make) {
    ++seen_;
    if (kept_.size() < most_) {
      kept_.push_back(make());
    } else if (const uint64_t place = Below(seen_); place < most_) {
      kept_[place] = make();
    }
  }
  const std::vector<Entry>& kept() const { return kept_; }
  uint64_t seen() const { return seen_; }

 private:
  uint64_t Below(uint64_t bound) { return static_cast<uint64_t>(random_.Uniform() * static_cast<double>(bound)); }

  const size_t most_;
  throttle::Random random_;
  uint64_t seen_ = 0;
  std::vector<Entry> kept_;
};

}  // namespace heaprec::tools
