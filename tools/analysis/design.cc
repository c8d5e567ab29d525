#include "tools/analysis/design.h"

#include <algorithm>
#include <cmath>

namespace heaprec::tools {
namespace {

constexpr uint64_t kDefaultIntervalNs = 1'000'000'000;  // if the header has none
// A weight is stored to 1e-9; less than this above the first stage's is no raise.
constexpr double kRounding = 1e-8;

}  // namespace

Design::Design(const format::FileHeader& header)
    : interval_ns_(header.interval_ns > 0 ? header.interval_ns : kDefaultIntervalNs),
      by_event_(header.source == "tlab") {}

void Design::Add(const format::Block& block) {
  if (block.chunk != chunk_) windows_.clear();
  chunk_ = block.chunk;
  for (const format::Window& window : block.windows) windows_[window.id] = window.lambda;
  reduced_.clear();
  for (const format::Interval& interval : block.intervals) CountBytes(interval);
  for (const format::Sample& sample : block.samples) {
    const Drawn drawn = Bare(sample);
    const double c = drawn.weight * drawn.raised();
    Reduced& interval = reduced_[drawn.interval];
    interval.sum += c;
    interval.squares += c * c;
  }
  for (const format::Sample& sample : block.samples) {
    const Drawn drawn = Of(sample);
    all_.Add(drawn);
    if (!reduced_[drawn.interval].counted) uncounted_.Add(drawn);
  }
}

// Where points were held, bytes were counted, if there was anybody to count them.
void Design::CountBytes(const format::Interval& interval) {
  counted_ += interval.bytes;
  reduced_[interval.index].counted = interval.bytes > 0 || interval.held == 0;
}

Drawn Design::Of(const format::Sample& sample) const {
  Drawn drawn = Bare(sample);
  const auto found = reduced_.find(drawn.interval);
  if (found == reduced_.end()) return drawn;
  const Reduced& interval = found->second;
  // One raised sample alone has no pairs. The bound keeps rounding from making a pair of it.
  const double pairs = interval.sum * interval.sum - interval.squares;
  if (pairs > kRounding * interval.squares) drawn.pair_share = interval.sum / pairs;
  return drawn;
}

Drawn Design::Bare(const format::Sample& sample) const {
  Drawn drawn;
  drawn.weight = drawn.first_weight = sample.weight_bytes;
  drawn.objects = sample.weight_objects();
  drawn.interval = sample.time_ns / interval_ns_;
  if (by_event_) return drawn;
  drawn.size = std::min(static_cast<double>(sample.size), sample.weight_bytes);
  const auto window = windows_.find(sample.window);
  if (window == windows_.end() || !(window->second > 0)) return drawn;
  const double first = drawn.size / -std::expm1(-window->second * drawn.size);
  if (first < sample.weight_bytes * (1 - kRounding)) drawn.first_weight = first;
  return drawn;
}

}  // namespace heaprec::tools
