#include "tools/analysis/live/onset.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heaprec::tools {
namespace {

// The youngest are left out: many of them live for a moment only.
constexpr double kYoungest = 0.1;
constexpr size_t kMinSamples = 5;
constexpr double kMinSince = 3;  // samples since a change
// By Ville's inequality the likelihood is this much (as a logarithm) above that of the true change in 5 % of cases, for
// known rates: ln 40. A little more, because the rates are estimated.
constexpr double kMaxBelow = 4.5;

struct Birth {
  double time_s, weight;
};

// A change just before a birth.
struct Candidate {
  double from_s, time_s;  // the birth before it, or the start, and its own
  double since;           // samples
  double likelihood;      // logarithm
};

double Likelihood(double samples, double seconds) { return samples > 0 ? samples * std::log(samples / seconds) : 0; }

}  // namespace

std::optional<Estimate> OnsetOf(const std::vector<LiveSample>& alive, double from_s, double at_s) {
  const double to_s = std::lerp(at_s, from_s, kYoungest);
  std::vector<Birth> births;
  double sum = 0, squares = 0;
  for (const LiveSample& one : alive) {
    const double time_s = at_s - one.age_s;
    if (time_s <= from_s || time_s >= to_s) continue;
    births.push_back({time_s, one.weight});
    sum += one.weight, squares += one.weight * one.weight;
  }
  if (births.size() < kMinSamples || !(squares > 0)) return std::nullopt;
  std::ranges::sort(births, {}, &Birth::time_s);
  const double all = sum * sum / squares;  // samples of equal weight that tell as much
  std::vector<Candidate> candidates;
  double before = 0, previous_s = from_s;
  for (const Birth& birth : births) {
    const double since = all - before, elapsed = birth.time_s - from_s, left = to_s - birth.time_s;
    if (since >= kMinSince && since / left > before / elapsed)
      candidates.push_back({previous_s, birth.time_s, since, Likelihood(before, elapsed) + Likelihood(since, left)});
    before += birth.weight * sum / squares;
    previous_s = birth.time_s;
  }
  if (candidates.empty()) return std::nullopt;
  const Candidate& best = *std::ranges::max_element(candidates, {}, &Candidate::likelihood);
  const double least = best.likelihood - kMaxBelow;
  if (Likelihood(all, to_s - from_s) >= least) return Estimate{from_s, from_s, best.time_s};
  const auto is_likely = [least](const Candidate& one) { return one.likelihood >= least; };
  const Candidate& first = *std::ranges::find_if(candidates, is_likely);
  double low = first.from_s;
  // Without earlier births the likelihood falls back to there as a power of the time that is left.
  if (&first == &candidates.front() && first.from_s == from_s)
    low = std::max(low, to_s - (to_s - first.time_s) * std::exp((first.likelihood - least) / first.since));
  const Candidate& last = *std::find_if(candidates.rbegin(), candidates.rend(), is_likely);
  return Estimate{best.time_s, low, last.time_s};
}

}  // namespace heaprec::tools
