// Rows in place of samples, and samples calibrated to rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/model/allocation_primitives.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// Rows in place of samples: what code that groups samples by class, path and time needs to take a block's rows instead.
//
//   if (by_rows(block)) {
//     drawn = design.Add(block, true);
//     block.samples = SamplesOfRows(block, interval_ns);   // drawn[i].index is into these, too
//   }
//
// Units:    ns since the start of the recording.
// Maths:    docs/estimates.md#rows

// Whether a block is read from its rows; empty: none is. Any thread calls it. All passes over a recording whose results
// meet have the same rule.
using ByRows = std::function<bool(const format::Block&)>;

struct TimeOfRows {
  uint64_t begin_ns = 0, end_ns = 0;  // half open
};
// The time of the intervals that a block's rows are of. nullopt: it has no rows, or they have no time.
std::optional<TimeOfRows> TimeOf(const format::Block& block, uint64_t interval_ns);

// One for each row, in their order: of its class and path, in the middle of the block's time. Everything else of them
// means nothing.
std::vector<format::Sample> SamplesOfRows(const format::Block& block, uint64_t interval_ns);

// Brings the kept samples of each site to what the site's rows say: then a flame graph, a table by thread and a table
// by site of the same recording add up.
//
// A site here is a class and the methods of the path that a row has. The samples of a site share a factor for bytes and
// one for objects, over all blocks that are taken. Of a site without samples the rows themselves are drawn: nothing is
// known of them but class, path and time.
//
//   RowCalibration calibration(takes);
//   for (block) calibration.Add(block);             // a first pass over the recording
//   design.SetCalibration(std::move(calibration));  // for the second
//
// Copies share the sums.
//
// Units:    bytes and objects.
// Failure:  samples of a site without rows represent nothing, because rows have all points.
// Maths:    docs/estimates.md#calibration
class RowCalibration {
 public:
  struct Factors {
    double bytes = 1, objects = 1;
  };

  RowCalibration() = default;  // of no block
  // `takes`: which blocks are calibrated; each has rows.
  explicit RowCalibration(ByRows takes) : takes_(std::move(takes)), sums_(std::make_shared<Sums>()) {}

  bool Takes(const format::Block& block) const { return takes_ && takes_(block); }
  // The next block of the first pass, which is taken.
  void Add(const format::Block& block);
  // Points of the rows of all taken blocks.
  uint64_t points() const { return sums_ != nullptr ? sums_->points : 0; }

  // The next block of the second pass: whether it is taken. Then the others tell of its samples and rows.
  bool Enter(const format::Block& block);
  Factors Of(format::Index class_id, format::Index stack);
  void Scale(std::span<WeightedSample> drawn);
  // Whether its site has no sample.
  bool IsAlone(const format::Row& row);

 private:
  struct Site {
    double row_bytes = 0, row_objects = 0;          // of the rows
    double sampled_bytes = 0, sampled_objects = 0;  // that the samples stand for
  };
  struct Sums {
    std::unordered_map<uint64_t, Site> sites;  // by key
    uint64_t points = 0;
  };
  struct Method {
    uint64_t key = 0;  // 0: not looked at yet
    bool is_primitive = false;
  };

  void EnterNames(const format::Block& block);
  uint64_t KeyOf(format::Index class_id, format::Index stack);
  uint64_t PathKeyOf(format::Index stack);
  const Method& MethodOf(format::Index frame);

  ByRows takes_;
  std::shared_ptr<Sums> sums_;
  format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  // Of the current chunk; keys are 0 until they are asked for.
  const format::Dictionaries* names_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<uint64_t> classes_, paths_;  // paths: by stack
  std::vector<Method> methods_;
};

}  // namespace heaprec::tools
