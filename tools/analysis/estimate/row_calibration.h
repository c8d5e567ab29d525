// Uses rows instead of samples, and calibrates samples to rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "format/codec/index_table.h"
#include "format/model/allocation_primitives.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// Rows instead of samples, for code that groups samples by class, path and time.
//
//   if (by_rows(block)) {
//     drawn = design.Add(block, true);
//     copy.samples = SamplesOfRows(block, interval_ns);   // drawn[i].index is into these, too
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
//   if (calibration.Enter(block)) {                 // every block
//     calibration.Add(block);
//     calibration.SiteOf(sample.class_id, sample.stack) ...
//   }
//   calibration.Of(site) ...                        // once all blocks have been added
//
// Copies share the sums.
//
// Units:    bytes and objects.
// Failure:  samples of a site without rows represent nothing, because rows have all points.
// Maths:    docs/estimates.md#calibration
class RowCalibration {
 public:
  using SiteId = uint32_t;  // counts up from 0
  struct Factors {
    double bytes = 1, objects = 1;
  };

  RowCalibration() = default;  // calibrates no block
  // `takes`: which blocks to calibrate; each of them has rows.
  explicit RowCalibration(ByRows takes) : takes_(std::move(takes)), sums_(std::make_shared<Sums>()) {}

  // The next block: whether it is taken. Then the others tell of its samples and rows.
  bool Enter(const format::Block& block);
  // Adds the block entered last.
  void Add(const format::Block& block);
  SiteId SiteOf(format::Index class_id, format::Index stack);
  // Whether the site has no sample so far.
  bool IsAlone(SiteId site) const { return !(sums_->sites[site].sampled_bytes > 0); }

  // Points of the rows of all blocks.
  uint64_t points() const { return sums_ != nullptr ? sums_->points : 0; }
  // Of the site's samples; of a new site's 0.
  Factors Of(SiteId site) const;

 private:
  struct Site {
    uint64_t key = 0;
    double row_bytes = 0, row_objects = 0;          // of the rows
    double sampled_bytes = 0, sampled_objects = 0;  // represented by the samples
  };
  struct Sums {
    std::vector<Site> sites;
    format::IndexTable by_key;
    uint64_t points = 0;
  };
  struct Method {
    uint64_t key = 0;  // 0: not computed yet
    bool is_primitive = false;
  };
  struct Known {
    format::Index class_id = format::kNone;
    SiteId site = kNotLooked;
  };
  static constexpr SiteId kNotLooked = 0xffffffff;

  SiteId Find(format::Index class_id, format::Index stack);
  uint64_t KeyOf(format::Index class_id, format::Index stack);
  uint64_t PathKeyOf(format::Index stack);
  const Method& MethodOf(format::Index frame);

  ByRows takes_;
  std::shared_ptr<Sums> sums_;
  format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  // For the current chunk; keys are 0 until they are needed.
  const format::Dictionaries* names_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<uint64_t> classes_;
  std::vector<Known> known_;  // by stack, of the class it had last
  std::vector<Method> methods_;
};

// Sums of samples, and of rows of sites that may have none, in groups. What each represents is known once the recording
// has been read: until then there is a sum for each group and site.
//
//   SumsBySite sums;
//   sums.Add(group, drawn);                                            // any number as the group's
//   sums.ForEach(calibration, [&](uint32_t of, const Subset&) {});     // several times for a group
//
// Memory:   about 150 bytes for each group and site that have samples.
class SumsBySite {
 public:
  explicit SumsBySite(Subset::Holds holds = Subset::Holds::kAny) : holds_(holds) {}
  void Clear() {
    cells_.clear();
    by_key_ = {};
  }
  void Add(uint32_t group, const WeightedSample& drawn) { cells_[CellOf(group, drawn)].sums.Add(drawn); }
  // Adds the samples that have a site, each to the group at the same position. Finds the cells of a batch before it
  // adds to them, so that cache misses overlap.
  void Add(std::span<const uint32_t> groups, std::span<const WeightedSample* const> drawn);

  // Calls take(group, sums) for each group and site, in the order of their first samples. Omits sums that represent
  // nothing.
  template <typename Take>
  void ForEach(const RowCalibration& calibration, const Take& take) const {
    for (const Cell& cell : cells_) {
      const auto [bytes, objects] = FactorsOf(cell, calibration);
      if (bytes > 0) take(cell.group, Scaled(cell.sums, bytes, objects));
    }
  }

 private:
  struct Cell {
    uint32_t group = 0;
    RowCalibration::SiteId site = kNoSite;
    bool is_row = false;
    Subset sums;
  };
  format::Index CellOf(uint32_t group, const WeightedSample& drawn);
  static uint64_t HashOf(uint32_t group, uint32_t site, bool is_row);
  static RowCalibration::Factors FactorsOf(const Cell& cell, const RowCalibration& calibration);

  Subset::Holds holds_;
  std::vector<Cell> cells_;
  format::IndexTable by_key_;
};

}  // namespace heaprec::tools
