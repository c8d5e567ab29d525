// Brings the samples of a block into the order in which the second stage's lines have them: by interval, weight, class
// (in another order in each interval), method, stack and thread; by lot where nothing else tells them apart.
//
// Places are few where samples are many: places are sorted, and the samples of each only among themselves.
//
// Threads:  one.
// Maths:    docs/estimates.md#variance
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/site_keys.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// No line: the second stage gave the sample no weight.
inline constexpr float kNoLine = 0;

class SystematicSort {
 public:
  struct Placed {
    uint64_t of_thread = 0, random_key = 0;  // what it is sorted by within its place
    uint32_t at = 0;                         // which of the samples
    uint32_t place = 0;
    float tau = kNoLine;  // of the line: the weight that the second stage gave
  };
  // Sorts the samples of a block. `samples`: in order of time. `keys` has entered the block. The result is valid until
  // the next call.
  std::span<const Placed> Of(const format::Block& block, std::span<const WeightedSample> samples, SiteKeys* keys);

 private:
  struct Visited {  // a place in the current line
    uint64_t of_class, of_method, of_stack;
    uint32_t place;
    bool operator<(const Visited& other) const;
    bool IsSameAs(const Visited& other) const;
  };
  void SortByTau(std::span<Placed> interval);
  void SortLine(std::span<Placed> line, uint64_t interval, const SiteKeys& keys);
  void Visit(std::span<const Placed> line, uint64_t interval, const SiteKeys& keys);

  // Kept for their memory.
  std::vector<Placed> placed_, line_;
  std::vector<Visited> visited_;
  std::vector<uint32_t> count_;  // of the line's samples by place; then where the next one goes
};

}  // namespace heaprec::tools
