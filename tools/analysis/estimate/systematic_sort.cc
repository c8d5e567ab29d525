#include "tools/analysis/estimate/systematic_sort.h"

#include <algorithm>
#include <tuple>

namespace heaprec::tools {

bool SystematicSort::Visited::operator<(const Visited& other) const {
  if (of_class != other.of_class) return of_class < other.of_class;
  if (of_method != other.of_method) return of_method < other.of_method;
  return of_stack < other.of_stack;
}

bool SystematicSort::Visited::IsSameAs(const Visited& other) const {
  return of_stack == other.of_stack && of_method == other.of_method && of_class == other.of_class;
}

std::span<const SystematicSort::Placed> SystematicSort::Of(const format::Block& block,
                                                           std::span<const WeightedSample> samples, SiteKeys* keys) {
  placed_.clear();
  for (const WeightedSample& drawn : samples) {
    const format::Sample& sample = block.samples[drawn.index];
    const uint32_t place = keys->SiteIndex(sample);
    placed_.push_back({.of_thread = keys->SiteThreadKey(keys->At(place), sample.thread),
                       .random_key = Mixed(sample.id, drawn.index),
                       .at = static_cast<uint32_t>(placed_.size()),
                       .place = place,
                       .tau = drawn.raised() > 0 ? static_cast<float>(drawn.weight) : kNoLine});
  }
  count_.resize(std::max(count_.size(), keys->places()));
  line_.resize(placed_.size());
  // In order of time, so of intervals.
  for (size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    while (end < samples.size() && samples[end].interval == samples[begin].interval) ++end;
    const std::span<Placed> interval = std::span(placed_).subspan(begin, end - begin);
    SortByTau(interval);
    for (auto line = interval.begin(); line != interval.end();) {
      const auto line_end =
          std::find_if(line, interval.end(), [tau = line->tau](const Placed& one) { return one.tau != tau; });
      SortLine({line, line_end}, samples[begin].interval, *keys);
      line = line_end;
    }
  }
  return placed_;
}

// Mostly there is but one line.
void SystematicSort::SortByTau(std::span<Placed> interval) {
  const auto is_before = [](const Placed& a, const Placed& b) { return a.tau < b.tau; };
  if (!std::is_sorted(interval.begin(), interval.end(), is_before)) {
    std::sort(interval.begin(), interval.end(), is_before);
  }
}

void SystematicSort::SortLine(std::span<Placed> line, uint64_t interval, const SiteKeys& keys) {
  Visit(line, interval, keys);
  uint32_t next = 0;
  for (const Visited& visited : visited_) next += std::exchange(count_[visited.place], next);
  for (const Placed& one : line) line_[count_[one.place]++] = one;
  std::copy_n(line_.begin(), line.size(), line.begin());
  const auto is_before = [](const Placed& a, const Placed& b) {
    return a.of_thread != b.of_thread ? a.of_thread < b.of_thread : a.random_key < b.random_key;
  };
  for (size_t i = 0, begin = 0; i < visited_.size();) {
    // Places of the same names are one.
    const Visited& first = visited_[i];
    size_t end = begin;
    for (; i < visited_.size() && visited_[i].IsSameAs(first); ++i) {
      end = std::exchange(count_[visited_[i].place], 0);
    }
    std::sort(line.begin() + static_cast<std::ptrdiff_t>(begin), line.begin() + static_cast<std::ptrdiff_t>(end),
              is_before);
    begin = end;
  }
}

// Counts the samples of each place, and sorts the places.
void SystematicSort::Visit(std::span<const Placed> line, uint64_t interval, const SiteKeys& keys) {
  visited_.clear();
  for (const Placed& one : line) {
    if (count_[one.place]++ > 0) continue;
    const SiteKeys::Site& place = keys.At(one.place);
    visited_.push_back({Mixed(place.of_class, interval), place.of_method, place.of_stack, one.place});
  }
  std::sort(visited_.begin(), visited_.end());
}

}  // namespace heaprec::tools
