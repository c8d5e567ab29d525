#include "tools/analysis/estimate/ewma_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heaprec::tools {
namespace {

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
