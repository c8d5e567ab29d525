// Rows of a table over several runs of each side: which differ by more than runs of the same program do?
//
//   const RunComparison all = CompareRuns(rows, {.rate = 0.05});
//   all.rows[i].verdict; all.rows[i].detectable; all.variation.deviation;
//
// Runs vary by more than sampling does: JIT decisions, scheduling, collections. How much the rows' relative values vary
// from run to run is estimated for all rows at once (an empirical Bayes prior), for each row from its own runs, and
// never taken as less than what sampling alone explains. With one run on each side the rows' own differences are all
// that there is: the prior is fitted to these, robustly, because most rows have not changed. Of rows that hold others
// only the innermost that tell something are used for the prior: a change would count once for each that holds it.
//
// Units:    values as the caller scales them; variances are relative to a row's value.
// Failure:  none. Rows with an unknown estimate have p = 1.
// Maths:    docs/estimates.md#several-runs
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/difference.h"

namespace heaprec::tools {

struct RunsOfRow {
  std::vector<Estimate> before, after;  // one for each run, in the same unit
  // Relative variance of the difference as it varied over the time of a single pair of runs; 0: not known.
  double over_time = 0;
  // The row, before this one, that holds this one: as a box of a flame graph does.
  size_t inside = kNone;
  // Shares samples with other rows in another way, as methods with what they called do.
  bool overlaps = false;
  bool is_asked = true;  // false: tells how runs vary, and is not tested

  static constexpr size_t kNone = static_cast<size_t>(-1);
};

// How much the values of a row vary between runs of the same program, beside sampling error.
struct RunVariation {
  double deviation = 0;           // relative standard deviation of one run
  double degrees_of_freedom = 4;  // how alike rows are in it: infinite if all are
  size_t rows = 0;                // that it was estimated from
};

struct RunQuestion {
  double rate = 0.05;  // false discovery rate
  double margin = 0;   // a ratio from 1 - margin to 1 + margin is no difference
  Alternative asked = Alternative::kEither;
  // Rows with less than this part of all, on both sides together, are not tested: they cost power, and nobody misses
  // them. The rows' shares are those of the sum of all that do not hold others.
  double least_share = 0.001;
};

struct RunComparison {
  std::vector<Difference> rows;
  RunVariation variation;
  size_t tested = 0;
  size_t runs_before = 0, runs_after = 0;
  double unit_share = 0;    // the share that one sample of a run stands for
  double threshold = 0.05;  // of p, below which a row is called different

  bool is_replicated() const { return runs_before + runs_after > 2; }
  // The least relative change of a row with this share that would have been found in four of five comparisons: 0.1 for
  // 10 %. Infinite if no change would.
  double DetectableAt(double share) const;
};

RunComparison CompareRuns(std::span<const RunsOfRow> rows, const RunQuestion& question);

// The same for a value that stands alone, such as the total: by its own runs (Welch's test). One run on each side tells
// nothing of how runs vary: then `variation`, of the rows of the same runs, does; nullptr: p stays 1, and the intervals
// are those of sampling alone. The verdict is of this one test; `question.rate` is its level.
Difference CompareTotals(const RunsOfRow& row, const RunQuestion& question = {},
                         const RunVariation* variation = nullptr);

// The relative variance of a difference of two runs from its values in blocks of time that belong together:
// `before[k]` and `after[k]` are what was seen of the row in the k-th block, as parts of the row's mean. 0: fewer than
// four blocks.
double VarianceOverTime(std::span<const double> before, std::span<const double> after);

// What groups had in each of a few parts of a recording that are equally long in allocated bytes, not in seconds: so
// that the parts of two runs of the same work belong together, however fast each ran.
//
//   ProgressBlocks blocks;
//   for (sample) blocks.Add(key, sample.time_ns, weight);
//   blocks.Of(key)                                   // parts of its mean, kBlocks of them
//
// Memory:   kSlots numbers for each group.
// Maths:    docs/estimates.md#several-runs
class ProgressBlocks {
 public:
  static constexpr size_t kBlocks = 10;
  using Blocks = std::array<double, kBlocks>;

  void Add(uint32_t key, uint64_t time_ns, double weight);
  // Zeros for a group that had nothing. Where fewer than kBlocks slots have anything, as with rows of a short
  // recording, blocks of one slot vary together: their deviations are larger by what VarianceOverTime then lacks.
  Blocks Of(uint32_t key) const;

 private:
  // Slots of equal length in time, which doubles when there are too few.
  static constexpr size_t kSlots = 128;
  using Slots = std::array<float, kSlots>;
  static void Halve(Slots* slots);

  std::unordered_map<uint32_t, Slots> groups_;
  Slots all_{};
  uint64_t slot_ns_ = 50'000'000;
};

}  // namespace heaprec::tools
