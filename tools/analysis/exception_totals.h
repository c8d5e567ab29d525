// Totals of thrown exceptions: the exact count, and estimates by class and by site.
//
// Units:    events.
// Threads:  one.
// Maths:    docs/streams.md#exceptions
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/subset.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

struct ExceptionTotals {
  struct Group {
    std::string name;
    uint64_t samples = 0;
    Estimate events, share;
  };
  uint64_t counted = 0;
  uint64_t samples = 0;
  bool calibrated = false;
  double factor = 1;   // already in the groups
  Estimate estimated;  // of all, from the samples alone
  // The largest first. A site is the frame that threw: "Class.method:line".
  std::vector<Group> classes, sites;
};

// Computes the totals in one pass over the blocks of a recording.
class ExceptionTotalsBuilder {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;

  // `keeps`: whether a sample belongs to the groups; empty: all do.
  explicit ExceptionTotalsBuilder(const format::FileHeader& header, Keeps keeps = {})
      : design_(header, format::Stream::kExceptions), keeps_(std::move(keeps)) {}
  // Call after `names` has entered the block.
  void Add(const format::Block& block, Names* names);
  // `counters`: those of the stream in the last block.
  ExceptionTotals Close(const format::StreamCounters& counters);

 private:
  using Groups = std::unordered_map<std::string, Subset>;
  Design design_;
  const Keeps keeps_;
  Groups classes_, sites_;
};

}  // namespace heaprec::tools
