#include "tools/analysis/estimate/systematic_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heaprec::tools {
namespace {

// Recorders take in a few times what they keep. From here on nothing changes any more, and a file may say anything.
constexpr double kMaxSurplus = 1000;

// An interval's part in what is usual, eight intervals later: 1/e.
constexpr double kMemory = 8;
// Nodes that were last seen so many intervals ago are forgotten, and earlier where so many would be known.
constexpr uint64_t kForgotten = 64;
constexpr size_t kMaxKnown = 1 << 18;

// What is left of a count after so many intervals. Who asks later than this is told 0: exp(-16) is nothing.
double Left(uint64_t intervals) {
  static const auto table = [] {
    std::array<double, 2 * kForgotten> left{};
    for (size_t i = 0; i < left.size(); ++i) left[i] = std::exp(-static_cast<double>(i) / kMemory);
    return left;
  }();
  return intervals < table.size() ? table[intervals] : 0;
}

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

double EwmaCounts::Note(uint64_t node, size_t samples) {
  if (2 * (taken_ + 1) > entries_.size()) Rebuild();
  Entry* const entry = Find(node == 0 ? 1 : node);
  entry->sum *= Left(intervals_ - entry->last);
  const double before = intervals_ > 0 ? entry->sum * (1 - Left(1)) / (1 - Left(intervals_)) : 0;
  entry->sum = Left(1) * entry->sum + static_cast<double>(samples);
  entry->last = intervals_ + 1;
  return before;
}

void EwmaCounts::EndInterval() {
  if (++intervals_ % kForgotten == 0) Rebuild();
}

// The entry of the node, new if there was none. Nodes are hashes already.
EwmaCounts::Entry* EwmaCounts::Find(uint64_t node) {
  const size_t mask = entries_.size() - 1;
  for (size_t at = node & mask;; at = (at + 1) & mask) {
    Entry& entry = entries_[at];
    if (entry.node == node) return &entry;
    if (entry.node != 0) continue;
    ++taken_;
    entry.node = node;
    entry.last = intervals_;
    return &entry;
  }
}

bool EwmaCounts::IsKnown(const Entry& entry, uint64_t horizon) const {
  return entry.node != 0 && intervals_ <= entry.last + horizon;
}

// Without what is to be forgotten, and with room for as much again.
void EwmaCounts::Rebuild() {
  uint64_t horizon = kForgotten;
  size_t known = 0;
  for (;; horizon /= 2) {
    known = static_cast<size_t>(
        std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return IsKnown(entry, horizon); }));
    if (known <= kMaxKnown || horizon == 0) break;
  }
  std::vector<Entry> before(std::bit_ceil(4 * (known + 64)));
  before.swap(entries_);
  taken_ = 0;
  for (const Entry& entry : before) {
    if (IsKnown(entry, horizon)) *Find(entry.node) = entry;
  }
}

}  // namespace heaprec::tools
