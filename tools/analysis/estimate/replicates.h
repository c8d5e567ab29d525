// Compares the rows of a table over several runs of each side: which differ by more than runs of the same program do?
//
//   const RunComparison all = CompareRuns(rows, {.rate = 0.05});
//   for (const Difference& row : all.rows) row.verdict, row.detectable ...
//   all.variation.deviation ...
//
// Runs vary by more than sampling does: JIT decisions, scheduling, collections. The variation of relative values
// between runs is estimated from all rows together (an empirical Bayes prior) and from each row's own runs; it is at
// least the variation due to sampling. With one run on each side only the rows' differences are available: the prior is
// fitted to them robustly, because most rows have not changed. If rows contain others, only the innermost informative
// ones are used for the prior; otherwise a change would count once per containing row.
//
// Units:    values in the caller's unit; variances are relative to a row's value.
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
  std::vector<Estimate> before, after;  // one per run, in the same unit
  // Relative variance of the difference from its variation over time in a single pair of runs; 0: unknown.
  double over_time = 0;
  // Index of an earlier row that contains this one, like a box of a flame graph.
  size_t inside = kNone;
  // Shares samples with other rows without being contained in them, like methods and their callees.
  bool overlaps = false;
  bool is_asked = true;  // false: used only to estimate how runs vary, not tested

  static constexpr size_t kNone = static_cast<size_t>(-1);
};

// How much the values of a row vary between runs of the same program, in addition to sampling error.
struct RunVariation {
  double deviation = 0;           // relative standard deviation of one run
  double degrees_of_freedom = 4;  // of the variance over rows: infinite if all rows vary equally
  size_t rows = 0;                // number of rows from which it was estimated
};

struct RunQuestion {
  double rate = 0.05;  // false discovery rate
  double margin = 0;   // a ratio from 1 - margin to 1 + margin is no difference
  Alternative asked = Alternative::kEither;
  // Rows with a smaller share, over both sides, are not tested: they would cost power and are irrelevant. Shares are
  // relative to the sum of all rows that contain no others.
  double least_share = 0.001;
};

struct RunComparison {
  std::vector<Difference> rows;
  RunVariation variation;
  size_t tested = 0;
  size_t runs_before = 0, runs_after = 0;
  double unit_share = 0;    // share of a sample of one run
  double threshold = 0.05;  // p-value below which a row is called different

  bool is_replicated() const { return runs_before + runs_after > 2; }
  // The smallest relative change of a row with this share that four of five comparisons would have found: 0.1 for 10 %.
  // Infinite if none would.
  double DetectableAt(double share) const;
};

RunComparison CompareRuns(std::span<const RunsOfRow> rows, const RunQuestion& question);

// The same for a single value such as the total, from its own runs (Welch's test). A single run on each side does not
// show how runs vary; then `variation`, from the rows of the same runs, is used; nullptr: p stays 1, and the intervals
// reflect sampling alone. The verdict is for this test only; `question.rate` is its level.
Difference CompareTotals(const RunsOfRow& row, const RunQuestion& question = {},
                         const RunVariation* variation = nullptr);

// Returns the relative variance of a difference of two runs from its values in corresponding blocks of time:
// `before[k]` and `after[k]` are the row's values in the k-th block, relative to its mean. 0: fewer than four blocks.
double VarianceOverTime(std::span<const double> before, std::span<const double> after);

// The values of groups in parts of a recording that are equally long in allocated bytes, not in seconds. So the parts
// of two runs of the same work correspond, even if the runs differ in speed.
//
//   ProgressBlocks blocks;
//   blocks.Add(key, sample.time_ns, weight);         // every sample
//   blocks.Of(key) ...                               // parts of its mean, kBlocks of them
//
// Memory:   kSlots numbers per group.
// Maths:    docs/estimates.md#several-runs
class ProgressBlocks {
 public:
  static constexpr size_t kBlocks = 10;
  using Blocks = std::array<double, kBlocks>;

  void Add(uint32_t key, uint64_t time_ns, double weight);
  // Returns zeros for a group without samples. If fewer than kBlocks slots are used, as with rows of a short recording,
  // blocks of one slot vary together: their deviations are larger, which compensates what VarianceOverTime lacks in
  // that case.
  Blocks Of(uint32_t key) const;

 private:
  // Slots of equal duration. The duration doubles when there are too few.
  static constexpr size_t kSlots = 128;
  using Slots = std::array<float, kSlots>;
  static void Halve(Slots* slots);

  std::unordered_map<uint32_t, Slots> groups_;
  Slots all_{};
  uint64_t slot_ns_ = 50'000'000;
};

}  // namespace heaprec::tools
