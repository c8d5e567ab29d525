// What can be said of how a block's samples, or rows, were drawn from the block and its chunk alone: what takes time of
// a Design, and what several threads can do for several chunks at once.
//
// Units:    as format/model/model.h. Of a stream of events, "bytes" are events here and in what is built on this.
// Threads:  one for each SamplePreparer; a PreparedSamples is a value.
// Failure:  none: a sample whose window is unknown counts as drawn in one stage, which gives wider intervals.
// Maths:    docs/estimates.md#variance
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/site_keys.h"
#include "tools/analysis/estimate/systematic_sort.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

struct PreparedSamples {
  struct Line {
    uint32_t begin = 0, end = 0;  // of `drawn`
    double surplus = 0;           // how many held ones a sample stands for on average
  };
  struct Node {
    uint64_t key = 0;
    uint32_t samples = 0;
  };
  bool by_rows = false;
  // The samples of the stream in the order in which subsets take them; but for `line`, the roundings and `row`.
  std::vector<WeightedSample> drawn;
  std::vector<Line> lines;
  // Nodes of the lines, by level, in order; empty for levels that are not needed.
  std::array<std::vector<Node>, kNodes> nodes;
};

// Whether maxsamples=N limited the interval: its quota was bytes / tau samples.
bool HasQuota(const format::Interval& interval);

class SamplePreparer {
 public:
  // `finest`: of the grains by which subsets are chosen. Coarser is faster.
  SamplePreparer(const format::FileHeader& header, format::Stream stream, OrderLevel finest);

  // The next block of the same chunk, or of another, whole, also what is filtered out. `by_rows`: from its rows.
  void Make(const format::Block& block, PreparedSamples* draft, bool by_rows = false);

  format::Stream stream() const { return stream_; }
  // MethodKeys of the chunk's methods, as far as they were needed: 0, or not there, if not.
  const std::vector<uint64_t>& method_keys() const { return keys_.methods(); }
  // maxsamples=N
  bool has_quotas() const { return has_quotas_; }

 private:
  void Enter(const format::Block& block);
  void MakeOfRows(const format::Block& block, PreparedSamples* draft) const;
  WeightedSample Of(const format::Sample& sample);
  uint64_t IntervalOf(uint64_t time_ns);
  // 0: not known.
  double LambdaOf(uint32_t window);
  double FirstWeight(double size, double lambda) const;
  void AddLines(std::span<const SystematicSort::Placed> order, PreparedSamples* draft);
  void AddNodes(std::span<const SystematicSort::Placed> line, PreparedSamples* draft);
  SiteKey KeyOf(const SystematicSort::Placed& placed) const;

  const format::Stream stream_;
  const uint64_t interval_ns_;
  // Of another recorder: the chance with which an object was drawn is unknown.
  const bool has_no_chances_;
  const bool has_quotas_;
  const size_t nodes_;                            // grains that get nodes
  uint32_t chunk_ = format::kNone;                // windows are those of this chunk: each chunk has all it needs
  std::unordered_map<uint32_t, double> windows_;  // lambda by id
  // What was asked for last: samples that follow each other are mostly of one.
  uint32_t window_ = 0;
  double lambda_ = 0;
  uint64_t interval_ = 0, interval_begin_ns_ = 0;
  std::unordered_set<uint64_t> few_;  // intervals of the block that could keep but a few by their quota
  SiteKeys keys_;
  SystematicSort order_;
  // Kept for their memory.
  std::vector<WeightedSample> by_time_;
  std::vector<SiteKey> line_keys_;
};

}  // namespace heaprec::tools
