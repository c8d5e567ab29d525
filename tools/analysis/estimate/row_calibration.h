// Uses rows instead of samples, and calibrates samples to rows.
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

// Rows instead of samples, for code that groups samples by class, path and time.
//
//   if (by_rows(block)) {
//     drawn = design.Add(block, true);
//     block.samples = SamplesOfRows(block, interval_ns);   // drawn[i].index is into these, too
//   }
//
// Units:    ns since the start of the recording.
// Maths:    docs/estimates.md#rows

// Whether a block is read from its rows; empty: no block is. Any thread may call it. All passes over a recording whose
// results are combined use the same rule.
using ByRows = std::function<bool(const format::Block&)>;

struct TimeOfRows {
  uint64_t begin_ns = 0, end_ns = 0;  // half open
};
// Returns the time of the intervals that a block's rows cover. nullopt: it has no rows, or they have no time.
std::optional<TimeOfRows> TimeOf(const format::Block& block, uint64_t interval_ns);

// Returns one sample per row, in order: with its class and path, in the middle of the block's time. Other fields are
// not used.
std::vector<format::Sample> SamplesOfRows(const format::Block& block, uint64_t interval_ns);

// Scales the kept samples of each site to the site's rows, so that a flame graph, a table by thread and a table by site
// of the same recording agree.
//
// A site here is a class and the methods of a row's path. The samples of a site have a common factor for bytes and one
// for objects, over all calibrated blocks. A site without samples is represented by its rows, of which only class, path
// and time are known.
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

  RowCalibration() = default;  // calibrates no block
  // `takes`: which blocks to calibrate; each of them has rows.
  explicit RowCalibration(ByRows takes) : takes_(std::move(takes)), sums_(std::make_shared<Sums>()) {}

  bool Takes(const format::Block& block) const { return takes_ && takes_(block); }
  // Adds the next calibrated block of the first pass.
  void Add(const format::Block& block);
  // Number of points of the rows of all calibrated blocks.
  uint64_t points() const { return sums_ != nullptr ? sums_->points : 0; }

  // Enters the next block of the second pass, for the functions below. Returns whether it is calibrated.
  bool Enter(const format::Block& block);
  Factors Of(format::Index class_id, format::Index stack);
  void Scale(std::span<WeightedSample> drawn);
  // Whether the row's site has no sample.
  bool IsAlone(const format::Row& row);

 private:
  struct Site {
    double row_bytes = 0, row_objects = 0;          // sums over the rows
    double sampled_bytes = 0, sampled_objects = 0;  // represented by the samples
  };
  struct Sums {
    std::unordered_map<uint64_t, Site> sites;  // by key
    uint64_t points = 0;
  };
  struct Method {
    uint64_t key = 0;  // 0: not computed yet
    bool is_primitive = false;
  };

  void EnterNames(const format::Block& block);
  uint64_t KeyOf(format::Index class_id, format::Index stack);
  uint64_t PathKeyOf(format::Index stack);
  const Method& MethodOf(format::Index frame);

  ByRows takes_;
  std::shared_ptr<Sums> sums_;
  format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  // For the current chunk; keys are 0 until they are needed.
  const format::Dictionaries* names_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<uint64_t> classes_, paths_;  // paths: by stack index
  std::vector<Method> methods_;
};

}  // namespace heaprec::tools
