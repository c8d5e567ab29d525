#include "tools/analysis/line.h"

#include <algorithm>
#include <cmath>
#include <compare>

namespace heaprec::tools {
namespace {

constexpr float kNoLine = 0;
// Recorders take in a few times what they keep. From here on nothing changes any more, and a file may say anything.
constexpr double kMostSurplus = 1000;

Grain PartedAt(const PlaceKey& a, const PlaceKey& b) {
  size_t grain = 0;
  while (grain < kNodes && a[grain] == b[grain]) ++grain;
  return static_cast<Grain>(grain);
}

}  // namespace

double RoundingLeft(double samples, double surplus) {
  surplus = std::min(surplus, kMostSurplus);
  const double loose = 1 - 1 / surplus;
  if (!(loose > 0) || !(samples > 0)) return 1;
  // Of M points held, Poisson with this mean, at least one is kept with the chance min(1, M / surplus).
  const double held = surplus * samples;
  double chance = std::exp(-held), seen = 1;
  for (double m = 0; m < surplus; ++m) {
    seen -= (1 - m / surplus) * chance;
    chance *= held / (m + 1);
  }
  if (!(seen > 0)) return 1;
  // Variance of rounding a length of `samples` on average: samples * loose where it is rare, 1/6 where it is long.
  const double rounded = -std::expm1(-6 * loose * samples) / 6;
  return std::min(1.0, rounded / (seen * loose));
}

void Line::Lay(const format::Block& block, std::vector<Drawn>* samples) {
  keys_.Enter(block);
  // Where the second stage raised nothing there is no line, and any order will do.
  if (std::none_of(samples->begin(), samples->end(), [](const Drawn& drawn) { return drawn.raised() > 0; })) return;
  Order(block, *samples);
  laid_.clear();
  line_keys_.clear();
  for (const Place& place : places_) {
    laid_.push_back((*samples)[place.at]);
    line_keys_.push_back(unordered_keys_[place.at]);
  }
  for (size_t begin = 0, end = 0; begin < places_.size(); begin = end) {
    const uint64_t interval = laid_[begin].interval;
    const float tau = places_[begin].tau;
    while (end < places_.size() && laid_[end].interval == interval && places_[end].tau == tau) ++end;
    if (tau != kNoLine) {
      LayOne(std::span(laid_).subspan(begin, end - begin), std::span(line_keys_).subspan(begin, end - begin));
    }
  }
  samples->swap(laid_);
}

// What is sorted is small: all else is looked up where two samples are of one method.
void Line::Order(const format::Block& block, const std::vector<Drawn>& samples) {
  places_.clear();
  unordered_keys_.clear();
  lots_.clear();
  for (const Drawn& drawn : samples) {
    const format::Sample& sample = block.samples[drawn.index];
    const PlaceKey& key = unordered_keys_.emplace_back(keys_.Of(sample));
    lots_.push_back(Mixed(sample.id, drawn.index));
    const auto tau = drawn.raised() > 0 ? static_cast<float>(drawn.weight) : kNoLine;
    places_.push_back({Mixed(key[0], drawn.interval), key[1], tau, static_cast<uint32_t>(places_.size())});
  }
  // In order of time, so of intervals.
  for (size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    while (end < samples.size() && samples[end].interval == samples[begin].interval) ++end;
    std::sort(places_.begin() + static_cast<std::ptrdiff_t>(begin), places_.begin() + static_cast<std::ptrdiff_t>(end),
              [this](const Place& a, const Place& b) { return IsBefore(a, b); });
  }
}

bool Line::IsBefore(const Place& a, const Place& b) const {
  if (a.tau != b.tau) return a.tau < b.tau;
  if (a.of_class != b.of_class) return a.of_class < b.of_class;
  if (a.of_method != b.of_method) return a.of_method < b.of_method;
  const PlaceKey &key_a = unordered_keys_[a.at], &key_b = unordered_keys_[b.at];
  for (const Grain grain : {Grain::kStack, Grain::kThread}) {
    const uint64_t of_a = key_a[static_cast<size_t>(grain)], of_b = key_b[static_cast<size_t>(grain)];
    if (of_a != of_b) return of_a < of_b;
  }
  return lots_[a.at] < lots_[b.at];
}

void Line::LayOne(std::span<Drawn> line, std::span<const PlaceKey> keys) {
  for (size_t i = 0; i < line.size(); ++i) {
    line[i].line = lines_ + 1;
    line[i].rank = static_cast<uint32_t>(i);
    line[i].in_line = static_cast<uint32_t>(line.size());
  }
  SetRounding(line, keys);
  SetSides(line, keys);
  ++lines_;
  for (size_t grain = 0; grain < nodes_; ++grain) usual_[grain].EndInterval();
}

void Line::SetRounding(std::span<Drawn> line, std::span<const PlaceKey> keys) {
  double surplus = 0;  // a sample of length w1/w stands for w/w1 held ones
  for (const Drawn& drawn : line) surplus += drawn.weight / drawn.first_weight;
  surplus /= static_cast<double>(line.size());
  for (size_t grain = 0; grain < nodes_; ++grain) {
    for (size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      for (end = begin; end < line.size() && keys[end][grain] == keys[begin][grain];) ++end;
      const auto kept = static_cast<double>(end - begin);
      const double usual = usual_[grain].Note(keys[begin][grain], end - begin);
      // So many at once are not rare, even if nothing like it was seen before.
      const auto left = static_cast<float>(RoundingLeft(std::max(usual, kept - 1), surplus));
      for (size_t i = begin; i < end; ++i) line[i].rounding[grain] = left;
    }
  }
}

void Line::SetSides(std::span<Drawn> line, std::span<const PlaceKey> keys) {
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t beyond = i + 1 < line.size() ? i + 1 : 0;
    Drawn &here = line[i], &next = line[beyond];
    const Grain parted = PartedAt(keys[i], keys[beyond]);
    here.after.parted = next.before.parted = parted;
    here.after.rounding = next.rounding[static_cast<size_t>(parted)];
    next.before.rounding = here.rounding[static_cast<size_t>(parted)];
  }
}

}  // namespace heaprec::tools
