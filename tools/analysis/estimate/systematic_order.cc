#include "tools/analysis/estimate/systematic_order.h"

#include <algorithm>
#include <cmath>

namespace heaprec::tools {
namespace {

// Recorders take in a few times what they keep. From here on nothing changes any more, and a file may say anything.
constexpr double kMaxSurplus = 1000;

}  // namespace

double RoundingLeft(double samples, double surplus) {
  surplus = std::min(surplus, kMaxSurplus);
  const double second_stage_exclusion = 1 - 1 / surplus;
  if (!(second_stage_exclusion > 0) || !(samples > 0)) return 1;
  // Of M points held, Poisson with this mean, at least one is kept with the chance min(1, M / surplus).
  const double held = surplus * samples;
  double chance = std::exp(-held), seen = 1;
  for (double m = 0; m < surplus; ++m) {
    seen -= (1 - m / surplus) * chance;
    chance *= held / (m + 1);
  }
  if (!(seen > 0)) return 1;
  // Variance of rounding a length of `samples` on average: samples * loose where it is rare, 1/6 where it is long.
  const double rounded = -std::expm1(-6 * second_stage_exclusion * samples) / 6;
  return std::min(1.0, rounded / (seen * second_stage_exclusion));
}

void SystematicOrder::Assign(PreparedSamples* draft) {
  std::array<size_t, kNodes> next{};
  for (const PreparedSamples::Line& piece : draft->lines) {
    const std::span<WeightedSample> line = std::span(draft->drawn).subspan(piece.begin, piece.end - piece.begin);
    ++lines_;
    for (WeightedSample& drawn : line) drawn.line = lines_;
    for (size_t level = 0; level < kNodes; ++level) {
      if (draft->nodes[level].empty()) continue;
      next[level] += SetRounding(line, piece.surplus, level, std::span(draft->nodes[level]).subspan(next[level]));
    }
    SetSides(line);
  }
}

// Returns how many of the nodes the line has.
size_t SystematicOrder::SetRounding(std::span<WeightedSample> line, double surplus, size_t level,
                                    std::span<const PreparedSamples::Node> nodes) {
  constexpr size_t kAhead = 8;
  size_t node = 0;
  for (size_t begin = 0; begin < line.size(); ++node) {
    if (node + kAhead < nodes.size()) usual_[level].MarkEmitted(nodes[node + kAhead].key);
    const uint32_t kept = nodes[node].samples;
    const double usual = usual_[level].Note(nodes[node].key, kept);
    // So many at once are not rare, even if nothing like it was seen before.
    const auto left = static_cast<float>(RoundingLeft(std::max(usual, kept - 1.0), surplus));
    for (const size_t end = begin + kept; begin < end; ++begin) line[begin].rounding[level] = left;
  }
  usual_[level].EndInterval();
  return node;
}

void SystematicOrder::SetSides(std::span<WeightedSample> line) {
  for (size_t i = 0; i < line.size(); ++i) {
    WeightedSample &here = line[i], &next = line[i + 1 < line.size() ? i + 1 : 0];
    const auto parted = static_cast<size_t>(here.after.parted);
    here.after.rounding = next.rounding[parted];
    next.before.rounding = here.rounding[parted];
  }
}

}  // namespace heaprec::tools
