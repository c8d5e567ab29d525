#include "tools/analysis/estimate/replicates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/estimator.h"

namespace heaprec::tools {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPower = 0.4;  // two-sided: one of five changes of the detectable size is missed
// A row with a larger sampling variance contains no information about how runs vary.
constexpr double kMaxSampling = 0.25;
// The prior before any run is seen: a deviation within a factor of 2.5 of 1.5 %. It matters if a table has few rows.
// Sites of five programs vary by 0 to 2.5 %; this and the outlier probability below were chosen after looking at about
// ten runs of each, without a held-out program (bench/compare/README.md).
constexpr double kUsualDeviation = 0.015, kUsualSpread = 0.9, kUsualFreedom = 10, kUsualFreedomSpread = 1;
// Some rows vary by much more, because the JIT removes an allocation in one run and not in another; in a single pair
// some rows may also have changed. Each row is such an outlier with this probability, and then has this deviation,
// which is itself uncertain.
constexpr double kOutlierPart = 0.04, kOutlierSize = 0.35, kOutlierFreedom = 2, kMinFreedomOfPair = 4;
// In a single pair an outlier looks like a changed row: this is the probability that a row is an unchanged outlier.
constexpr double kUnseenOutlier = 0.003;
constexpr std::array kFreedoms{2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 15.0, 40.0, kInfinity};
constexpr double kMinDeviation = 0.001, kMaxDeviation = 3, kDeviationStep = 1.15;
// For a single pair: if most rows differ by more than an outlier does, they have changed.
constexpr double kMaxDeviationOfPair = kOutlierSize;
constexpr double kMaxRows = 200;  // rows of one program vary together, so at most this many are counted in the fit
constexpr size_t kFewestBlocks = 4;
constexpr double kManyDegrees = 1e6, kLeastFreedom = 1;
// Priors less likely than the best by exp(kUnlikely) are ignored. A row that is kFarOut standard errors away may be
// called different in a table of many rows.
constexpr double kUnlikely = 6, kFarOut = 3.5;

double Square(double x) { return x * x; }

// The values of one row before rows are combined.
struct Row {
  bool is_known = false;
  double before = 0, after = 0, mean = 0;  // means over the runs
  double sampling = 0;                     // relative variance of one run, by sampling error
  // variance of one run from the row's own runs, and its degrees of freedom; for a pair: of the difference, divided by
  // two
  double own = 0, freedom = 0;
  double factor = 0;          // variance of the difference over that of one run: 1 / n_A + 1 / n_B
  bool is_innermost = false;  // shares no samples with other such rows
  bool tells = false;         // whether it shows how runs vary

  double difference() const { return (after - before) / mean; }
};

double MeanOf(std::span<const Estimate> runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0,
                         [](double sum, const Estimate& one) { return sum + one.value; }) /
         static_cast<double>(runs.size());
}

Estimate MeanEstimate(std::span<const Estimate> runs) {
  Estimate sum = runs.front();
  for (const Estimate& one : runs.subspan(1)) sum = Sum(sum, one);
  return Scaled(sum, 1 / static_cast<double>(runs.size()));
}

// Returns what one sample represents in this estimate, from its interval (docs/estimates.md#differences).
double WeightOf(const Estimate& of) {
  const double below = of.value - of.low, above = of.high - of.value;
  const double variance = below * above / Square(kZ), unit = std::max(above - below, 0.0) / Square(kZ);
  const double all = of.value + unit;
  return all > 0 ? (variance + Square(unit)) / all : 0;
}

bool IsUsable(const Estimate& of) { return std::isfinite(of.value) && std::isfinite(of.low) && std::isfinite(of.high); }

double SquaresAround(double mean, std::span<const Estimate> runs) {
  double sum = 0;
  for (const Estimate& run : runs) sum += Square(run.value - mean);
  return sum;
}

Row RowOf(const RunsOfRow& of) {
  Row row;
  if (of.before.empty() || of.after.empty()) return row;
  const auto before = static_cast<double>(of.before.size()), after = static_cast<double>(of.after.size());
  row.before = MeanOf(of.before), row.after = MeanOf(of.after);
  row.mean = (before * row.before + after * row.after) / (before + after);
  row.is_known = std::ranges::all_of(of.before, IsUsable) && std::ranges::all_of(of.after, IsUsable) && row.mean > 0;
  if (!row.is_known) return row;
  double weight = 0;
  for (const auto* side : {&of.before, &of.after}) {
    for (const Estimate& run : *side) weight += WeightOf(run);
  }
  row.sampling = weight / (before + after) / row.mean;
  row.factor = 1 / before + 1 / after;
  row.freedom = before + after - 2;
  if (row.freedom > 0) {
    row.own =
        (SquaresAround(row.before, of.before) + SquaresAround(row.after, of.after)) / row.freedom / Square(row.mean);
  } else {
    row.own = Square(row.difference()) / row.factor;
    row.sampling = std::max(row.sampling, of.over_time / row.factor);
  }
  return row;
}

// Rows come after those that contain them.
void FindInnermost(std::span<const RunsOfRow> rows, std::vector<Row>* known) {
  std::vector<bool> holds(rows.size()), holds_telling(rows.size());
  for (size_t i = rows.size(); i-- > 0;) {
    Row& row = (*known)[i];
    row.is_innermost = row.is_known && !rows[i].overlaps && !holds[i];
    row.tells = row.is_known && !rows[i].overlaps && !holds_telling[i] && row.sampling < kMaxSampling;
    if (rows[i].inside == RunsOfRow::kNone) continue;
    holds[rows[i].inside] = true;
    if (row.tells || holds_telling[i]) holds_telling[rows[i].inside] = true;
  }
}

// A possible prior, and its likelihood.
struct Candidate {
  double deviation, freedom, weight;
};

// The expected variance of a row that is an outlier.
double OutlierVariance(const Row& row, double deviation) {
  return row.sampling + Square(deviation) + Square(kOutlierSize);
}

// The logarithms of the density of the row's data, if the row is like the others and if it is an outlier.
class RowDensity {
 public:
  RowDensity(double own_freedom, double freedom)
      : usual_(own_freedom, freedom), outlier_(own_freedom, kOutlierFreedom) {}

  double Log(const Row& row, double deviation) const {
    const auto [usual, outlier] = Parts(row, deviation);
    return std::log(usual + outlier);
  }
  double OutlierChance(const Row& row, double deviation) const {
    const auto [usual, outlier] = Parts(row, deviation);
    return outlier / (usual + outlier);
  }

 private:
  std::pair<double, double> Parts(const Row& row, double deviation) const {
    const double expected = row.sampling + Square(deviation), more = OutlierVariance(row, deviation);
    // A difference of exactly 0, between counted values, is treated like a small one.
    const double own = std::max(row.own, 1e-6 * expected);
    return {(1 - kOutlierPart) * std::exp(usual_.Log(own / expected)) / expected,
            kOutlierPart * std::exp(outlier_.Log(own / more)) / more};
  }

  DensityF usual_, outlier_;
};

// The logarithm of a prior's likelihood, given the rows and what is usual. Rows have the same degrees of freedom.
double LogLikelihood(std::span<const Row* const> rows, double deviation, const RowDensity& density) {
  double sum = 0;
  for (const Row* row : rows) sum += density.Log(*row, deviation);
  const auto count = static_cast<double>(rows.size());
  return count > kMaxRows ? sum * kMaxRows / count : sum;
}

double LogUsual(double deviation, double freedom) {
  const double finite = std::isinf(freedom) ? 100 : freedom;
  return -Square(std::log(deviation / kUsualDeviation) / kUsualSpread) / 2 -
         Square(std::log(finite / kUsualFreedom) / kUsualFreedomSpread) / 2;
}

// Returns the degrees of freedom with which Student's t exceeds kFarOut with this probability.
double FreedomOfTail(double chance) {
  double low = kLeastFreedom, high = kManyDegrees;
  if (StudentAbove(kFarOut, high) >= chance) return high;
  for (int i = 0; i < 40; ++i) {
    const double middle = std::sqrt(low * high);
    (StudentAbove(kFarOut, middle) > chance ? low : high) = middle;
  }
  return low;
}

// The priors that explain the rows, with weights that add up to 1.
struct Variation {
  std::vector<Candidate> candidates;
  size_t rows = 0;  // number of rows that show how runs vary

  // Combines all of them, for rows without sampling error.
  RunVariation Summary() const {
    double variance = 0, chance = 0;
    for (const Candidate& one : candidates) variance += one.weight * Square(one.deviation);
    for (const Candidate& one : candidates) {
      chance += one.weight * StudentAbove(kFarOut * std::sqrt(variance) / one.deviation, one.freedom);
    }
    return {std::sqrt(variance), FreedomOfTail(chance), rows};
  }
};

Variation FitVariation(std::span<const Row> rows) {
  std::vector<const Row*> told;
  for (const Row& row : rows) {
    if (row.tells) told.push_back(&row);
  }
  Variation fit{{}, told.size()};
  double most = -kInfinity;
  const double own_freedom = told.empty() ? 1 : std::max(told.front()->freedom, 1.0);
  const bool is_pair = !told.empty() && told.front()->freedom <= 0;
  const double most_deviation = is_pair ? kMaxDeviationOfPair : kMaxDeviation;
  for (const double freedom : kFreedoms) {
    if (is_pair && freedom < kMinFreedomOfPair) continue;
    const RowDensity density(own_freedom, freedom);
    for (double deviation = kMinDeviation; deviation < most_deviation; deviation *= kDeviationStep) {
      const double likely = LogLikelihood(told, deviation, density) + LogUsual(deviation, freedom);
      fit.candidates.push_back({deviation, freedom, likely});
      most = std::max(most, likely);
    }
  }
  std::erase_if(fit.candidates, [most](const Candidate& one) { return one.weight < most - kUnlikely; });
  double sum = 0;
  for (Candidate& one : fit.candidates) sum += one.weight = std::exp(one.weight - most);
  for (Candidate& one : fit.candidates) one.weight /= sum;
  return fit;
}

// The variance of one run, and its degrees of freedom.
struct Moderated {
  double variance, freedom;
};

// In a pair the part of the variance due to sampling is known, which leaves more degrees of freedom. Satterthwaite's
// formula would square this factor, which overstates the certainty: simulated pairs reported too many rows.
double FreedomOf(double sampling, double own_freedom, const Candidate& prior) {
  const double known = own_freedom > 0 ? 0 : sampling / Square(prior.deviation);
  return prior.freedom * (1 + known);
}

Moderated Moderate(const Row& row, double prior, double weight) {
  if (row.freedom <= 0 || !(weight < kManyDegrees)) return {prior, weight};
  const double both = (weight * prior + row.freedom * row.own) / (weight + row.freedom);
  return {std::max(both, row.sampling), weight + row.freedom};
}

Moderated Moderate(const Row& row, const Candidate& prior) {
  return Moderate(row, row.sampling + Square(prior.deviation), FreedomOf(row.sampling, row.freedom, prior));
}

// Combines all candidates: the mean variance, and the degrees of freedom that give the mean probability of kFarOut. A
// single prior would appear too certain. With several runs, a row that varies more than the others is recognized.
Moderated Moderate(const Row& row, const Variation& variation) {
  std::vector<std::pair<double, Moderated>> all;  // with their weights
  for (const Candidate& one : variation.candidates) {
    if (row.freedom <= 0) {
      all.emplace_back(one.weight, Moderate(row, one));
      continue;
    }
    const double outlier = RowDensity(row.freedom, one.freedom).OutlierChance(row, one.deviation);
    all.emplace_back(one.weight * (1 - outlier), Moderate(row, one));
    all.emplace_back(one.weight * outlier, Moderate(row, OutlierVariance(row, one.deviation), kOutlierFreedom));
  }
  double variance = 0, chance = 0;
  for (const auto& [weight, one] : all) variance += weight * one.variance;
  for (const auto& [weight, one] : all) {
    chance += weight * StudentAbove(kFarOut * std::sqrt(variance / one.variance), one.freedom);
  }
  return {variance, FreedomOfTail(chance)};
}

double PValue(const Row& row, const Moderated& moderated, const RunQuestion& question) {
  const double error = row.mean * std::sqrt(moderated.variance * row.factor);
  if (!(error > 0)) return 1;
  const double more = StudentAbove((row.after - (1 + question.margin) * row.before) / error, moderated.freedom);
  if (question.asked == Alternative::kMore) return more;
  const double least = std::max(1 - question.margin, 0.0);
  const double less = StudentAbove((least * row.before - row.after) / error, moderated.freedom);
  return std::min(1.0, 2 * std::min(more, less));
}

// Limits the p-value of a single pair to what an outlier may cause.
double WithUnseenOutlier(const Row& row, double p, const RunQuestion& question) {
  if (row.freedom > 0) return p;
  const Moderated outlier{OutlierVariance(row, 0), kOutlierFreedom};
  return (1 - kUnseenOutlier) * p + kUnseenOutlier * PValue(row, outlier, question);
}

void Widen(double error, double freedom, double mean, Difference* of) {
  const double reach = StudentTwoSided(0.05, freedom) * error;
  of->change.low = std::min(of->change.low, of->change.value - reach * mean);
  of->change.high = std::max(of->change.high, of->change.value + reach * mean);
  if (!std::isfinite(of->ratio.value)) return;
  of->ratio.low = std::min(of->ratio.low, of->ratio.value * std::exp(-reach));
  of->ratio.high = std::max(of->ratio.high, of->ratio.value * std::exp(reach));
}

// `sampling`: relative variance of one run of a single pair; negative: several runs.
double Detectable(double threshold, double error, double freedom, double sampling) {
  const double missed = StudentTwoSided(kPower, freedom) * error;
  double reach = StudentTwoSided(threshold, freedom) * error;
  if (sampling >= 0 && threshold < kUnseenOutlier) {
    const double outlier = std::sqrt(2 * (sampling + Square(kOutlierSize)));
    reach = std::max(reach, StudentTwoSided(threshold / kUnseenOutlier, kOutlierFreedom) * outlier);
  }
  return reach + missed;
}

double Middle(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the largest tested p-value that is significant; if none is, the threshold for a single one.
double ThresholdOf(const std::vector<Difference>& rows, size_t tested, double rate) {
  double threshold = tested > 0 ? rate / static_cast<double>(tested) : rate;
  for (const Difference& row : rows) {
    if (row.verdict != Verdict::kSame) threshold = std::max(threshold, row.p);
  }
  return std::min(threshold, rate);
}

}  // namespace

double RunComparison::DetectableAt(double share) const {
  if (!(share > 0) || runs_before == 0 || runs_after == 0) return kInfinity;
  const double variance = unit_share / share + Square(variation.deviation);
  const double factor = 1 / static_cast<double>(runs_before) + 1 / static_cast<double>(runs_after);
  const auto own_freedom = static_cast<double>(runs_before + runs_after - 2);
  const Candidate prior{variation.deviation, variation.degrees_of_freedom, 1};
  const double freedom = FreedomOf(unit_share / share, own_freedom, prior) + own_freedom;
  return Detectable(threshold, std::sqrt(variance * factor), freedom, own_freedom > 0 ? -1 : unit_share / share);
}

RunComparison CompareRuns(std::span<const RunsOfRow> rows, const RunQuestion& question) {
  RunComparison all;
  std::vector<Row> known;
  double sum = 0;
  for (const RunsOfRow& row : rows) {
    known.push_back(RowOf(row));
    all.runs_before = std::max(all.runs_before, row.before.size());
    all.runs_after = std::max(all.runs_after, row.after.size());
  }
  FindInnermost(rows, &known);
  for (const Row& row : known) sum += row.is_innermost ? row.mean : 0;
  const Variation variation = FitVariation(known);
  all.variation = variation.Summary();
  std::vector<double> units;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = known[i];
    Difference one =
        rows[i].before.empty() || rows[i].after.empty()
            ? Difference{}
            : Compare(MeanEstimate(rows[i].before), MeanEstimate(rows[i].after), question.margin, question.asked);
    if (!row.is_known || !rows[i].is_asked || row.mean < question.least_share * sum) {
      one.p = one.least_p = 1;
    } else {
      const Moderated moderated = Moderate(row, variation);
      one.p = std::max(one.p, WithUnseenOutlier(row, PValue(row, moderated, question), question));
      one.error = std::sqrt(moderated.variance * row.factor), one.freedom = moderated.freedom;
      Widen(one.error, one.freedom, row.mean, &one);
      units.push_back(row.sampling * row.mean / sum);
    }
    all.tested += one.least_p <= question.rate;
    all.rows.push_back(one);
  }
  Judge(&all.rows, question.rate);
  all.threshold = ThresholdOf(all.rows, all.tested, question.rate);
  all.unit_share = Middle(std::move(units));
  for (size_t i = 0; i < all.rows.size(); ++i) {
    Difference& row = all.rows[i];
    const double sampling = known[i].freedom > 0 ? -1 : known[i].sampling;
    if (row.error > 0) row.detectable = Detectable(all.threshold, row.error, row.freedom, sampling);
  }
  return all;
}

// Of one run, relative. A few runs that agree to the byte do not show that all would.
constexpr double kLeastDeviation = 1e-3;

Difference CompareTotals(const RunsOfRow& of, const RunQuestion& question, const RunVariation* variation) {
  const Row row = RowOf(of);
  Difference one = of.before.empty() || of.after.empty()
                       ? Difference{}
                       : Compare(MeanEstimate(of.before), MeanEstimate(of.after), question.margin, question.asked);
  if (!row.is_known || (row.freedom <= 0 && variation == nullptr)) {
    one.p = one.least_p = 1;
    return one;
  }
  const Moderated moderated = row.freedom > 0
                                  ? Moderated{std::max({row.own, row.sampling, Square(kLeastDeviation)}), row.freedom}
                                  : Moderate(row, Candidate{variation->deviation, variation->degrees_of_freedom, 1});
  one.p = std::max(one.p, WithUnseenOutlier(row, PValue(row, moderated, question), question));
  one.error = std::sqrt(moderated.variance * row.factor), one.freedom = moderated.freedom;
  Widen(one.error, one.freedom, row.mean, &one);
  one.detectable = Detectable(question.rate, one.error, one.freedom, -1);
  std::vector<Difference> alone{one};
  Judge(&alone, question.rate);
  return alone.front();
}

// The difference of the means is the mean of the differences. The jackknife, which omits one block after the other,
// gives their variance divided by their number.
double VarianceOverTime(std::span<const double> before, std::span<const double> after) {
  const size_t blocks = std::min(before.size(), after.size());
  if (blocks < kFewestBlocks) return 0;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < blocks; ++i) mean += (after[i] - before[i]) / static_cast<double>(blocks);
  for (size_t i = 0; i < blocks; ++i) squares += Square(after[i] - before[i] - mean);
  return squares / static_cast<double>(blocks * (blocks - 1));
}

void ProgressBlocks::Halve(Slots* slots) {
  for (size_t i = 0; i < kSlots / 2; ++i) (*slots)[i] = (*slots)[2 * i] + (*slots)[2 * i + 1];
  std::fill(slots->begin() + kSlots / 2, slots->end(), 0.0F);
}

void ProgressBlocks::Add(uint32_t key, uint64_t time_ns, double weight) {
  while (time_ns / slot_ns_ >= kSlots) {
    slot_ns_ *= 2;
    Halve(&all_);
    for (auto& [of, slots] : groups_) Halve(&slots);
  }
  const size_t slot = time_ns / slot_ns_;
  all_[slot] += static_cast<float>(weight);
  groups_[key][slot] += static_cast<float>(weight);
}

// Each slot belongs to the blocks that its part of all allocated bytes covers.
ProgressBlocks::Blocks ProgressBlocks::Of(uint32_t key) const {
  Blocks blocks{};
  const auto group = groups_.find(key);
  double all = 0, own = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) all += all_[slot];
  if (group == groups_.end() || !(all > 0)) return blocks;
  for (const float weight : group->second) own += weight;
  if (!(own > 0)) return blocks;
  double before = 0;
  for (size_t slot = 0; slot < kSlots; ++slot) {
    if (!(all_[slot] > 0)) continue;
    const double from = before / all * kBlocks, to = (before + all_[slot]) / all * kBlocks;
    before += all_[slot];
    for (auto block = static_cast<size_t>(from); block < kBlocks && static_cast<double>(block) < to; ++block) {
      const double low = std::max(from, static_cast<double>(block)),
                   high = std::min(to, static_cast<double>(block + 1));
      blocks[block] += std::max(high - low, 0.0) / (to - from) * group->second[slot] * kBlocks / own;
    }
  }
  const auto slots = static_cast<size_t>(std::ranges::count_if(all_, [](float weight) { return weight > 0; }));
  const double lacking =
      slots > 1 && slots < kBlocks ? std::sqrt((kBlocks - 1.0) / (static_cast<double>(slots) - 1)) : 1;
  for (double& block : blocks) block = 1 + (block - 1) * lacking;
  return blocks;
}

}  // namespace heaprec::tools
