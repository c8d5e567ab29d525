// Pairs of recordings whose differences are known: the same allocations drawn twice, or with some sites changed.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/tools/analysis/coverage.h"
#include "tests/tools/analysis/simulated_sites.h"
#include "tools/analysis/estimate/difference.h"
#include "tools/analysis/estimate/estimator.h"

namespace heaprec::testing {

// What comparing many pairs came to, by site.
struct Outcomes {
  double pairs = 0, rows = 0;
  double wrong = 0;               // pairs with a row that was said to differ in a direction in which it does not
  double rate_sum = 0;            // of wrong rows among those that were said to differ
  double changed = 0, found = 0;  // rows that did change; those of them that were found
  std::array<double, 3> below{};  // unchanged rows with p < 0.05, 0.01, 0.001
  double unchanged = 0, held = 0, ratio_held = 0;  // rows; truth within the interval of the change, of the ratio
};

inline constexpr std::array kLevels{0.05, 0.01, 0.001};

inline App ChangedApp(App app, const std::map<uint32_t, double>& changes) {
  app.first = SiteMix(0, 0, changes);
  app.second = SiteMix(app.name == "phases x50" || app.name == "bursts" ? 8 : 0, 0, changes);
  return app;
}

// Estimates of bytes per second by part of the cut, from rows if they tell it.
inline std::vector<tools::Estimate> RatesOf(const AppRun& run, size_t cut, double seconds) {
  tools::Design design(run.header);
  const auto subsets = SubsetsOf(run, &design, Cuts()[cut].is_in_rows);
  const tools::Estimator estimator(design, 0);
  std::vector<tools::Estimate> rates;
  for (const tools::Subset& part : subsets[cut]) rates.push_back(tools::Scaled(estimator.Bytes(part), 1 / seconds));
  return rates;
}

inline void NoteRow(const tools::Difference& row, double before, double after, bool is_changed, Outcomes* into) {
  Outcomes& all = *into;
  all.rows += 1;
  const double change = after - before;
  all.held += row.change.low <= change && change <= row.change.high;
  if (before > 0) all.ratio_held += row.ratio.low <= after / before && after / before <= row.ratio.high;
  if (is_changed) {
    all.changed += 1;
    all.found += row.verdict != tools::Verdict::kSame && (row.change.value > 0) == (change > 0);
    return;
  }
  all.unchanged += 1;
  for (size_t level = 0; level < kLevels.size(); ++level) all.below[level] += row.p < kLevels[level];
}

// A pair of runs: `changes` of sites from the first to the second; none: the same allocations.
inline void ComparePair(const App& app, const std::map<uint32_t, double>& changes, size_t cut, double seconds,
                        double other_seconds, uint64_t seed, Outcomes* into) {
  const AppRun before = RunApp(app, 150, 0, seconds, throttle::Mix64(2 * seed + 1), seed);
  const AppRun after = RunApp(changes.empty() ? app : ChangedApp(app, changes), 150, 0, other_seconds,
                              throttle::Mix64(2 * seed + 2), seed);
  const auto old_rates = RatesOf(before, cut, seconds), new_rates = RatesOf(after, cut, other_seconds);
  std::vector<tools::Difference> rows;
  for (size_t part = 0; part < old_rates.size(); ++part) {
    rows.push_back(tools::Compare(old_rates[part], new_rates[part]));
  }
  tools::Judge(&rows, 0.05);
  double found = 0, wrong = 0;
  for (size_t part = 0; part < rows.size(); ++part) {
    const double was = before.truth.cuts[cut][part].bytes / seconds,
                 is = after.truth.cuts[cut][part].bytes / other_seconds;
    // A tenth is not what is looked for: sites differ a little whenever one other changes, for there is one total.
    const bool is_changed = std::abs(is - was) > 0.1 * was;
    NoteRow(rows[part], was, is, is_changed, into);
    if (rows[part].verdict == tools::Verdict::kSame) continue;
    found += 1;
    wrong += is == was || (rows[part].change.value > 0) != (is > was);
  }
  into->pairs += 1;
  into->wrong += wrong > 0;
  into->rate_sum += found > 0 ? wrong / found : 0;
}

}  // namespace heaprec::testing
