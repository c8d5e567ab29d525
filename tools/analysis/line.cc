#include "tools/analysis/line.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <tuple>

namespace heaprec::tools {
namespace {

// An interval's part in what is usual, eight intervals later: 1/e.
constexpr double kMemory = 8;
const double kDecay = std::exp(-1 / kMemory);
// Nodes that were last seen so many intervals ago are forgotten: they count as rare.
constexpr uint32_t kForgotten = 64;
constexpr float kNoLine = 0;

Grain PartedAt(const PlaceKey& a, const PlaceKey& b) {
  size_t grain = 0;
  while (grain < kNodes && a[grain] == b[grain]) ++grain;
  return static_cast<Grain>(grain);
}

}  // namespace

double RoundingLeft(double samples, double surplus) {
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
  std::vector<Place> places;
  places.reserve(samples->size());
  for (const Drawn& drawn : *samples) {
    const format::Sample& sample = block.samples[drawn.index];
    const PlaceKey key = keys_.Of(sample);
    const auto tau = drawn.raised() > 0 ? static_cast<float>(drawn.weight) : kNoLine;
    places.push_back({drawn.interval, tau, Mixed(key[0], drawn.interval), key, Mixed(sample.id, drawn.index), drawn});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.interval, a.tau, a.of_class, a.key, a.lot) <
           std::tie(b.interval, b.tau, b.of_class, b.key, b.lot);
  });
  for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    const Place& first = places[begin];
    while (end < places.size() && places[end].interval == first.interval && places[end].tau == first.tau) ++end;
    if (first.tau != kNoLine) LayOne(std::span(places).subspan(begin, end - begin));
  }
  std::transform(places.begin(), places.end(), samples->begin(), [](const Place& p) { return p.drawn; });
}

void Line::LayOne(std::span<Place> line) {
  for (size_t i = 0; i < line.size(); ++i) {
    Drawn& drawn = line[i].drawn;
    drawn.line = lines_ + 1;
    drawn.rank = static_cast<uint32_t>(i);
    drawn.in_line = static_cast<uint32_t>(line.size());
  }
  SetRounding(line);
  SetSides(line);
  ++lines_;
  if (lines_ % kForgotten == 0) Forget();
}

void Line::SetRounding(std::span<Place> line) {
  double surplus = 0;  // a sample of length w1/w stands for w/w1 held ones
  for (const Place& place : line) surplus += place.drawn.weight / place.drawn.first_weight;
  surplus /= static_cast<double>(line.size());
  for (size_t grain = 0; grain < kNodes; ++grain) {
    for (size_t begin = 0, end = 0; begin < line.size(); begin = end) {
      for (end = begin; end < line.size() && line[end].key[grain] == line[begin].key[grain];) ++end;
      const auto kept = static_cast<double>(end - begin);
      const double usual = Note(line[begin].key[grain] + grain, end - begin);
      // So many at once are not rare, even if nothing like it was seen before.
      const auto left = static_cast<float>(RoundingLeft(std::max(usual, kept - 1), surplus));
      for (size_t i = begin; i < end; ++i) line[i].drawn.rounding[grain] = left;
    }
  }
}

void Line::SetSides(std::span<Place> line) {
  for (size_t i = 0; i < line.size(); ++i) {
    Place &here = line[i], &next = line[(i + 1) % line.size()];
    const Grain parted = PartedAt(here.key, next.key);
    here.drawn.after.parted = next.drawn.before.parted = parted;
    if (parted == Grain::kSample) continue;
    here.drawn.after.rounding = next.drawn.rounding[static_cast<size_t>(parted)];
    next.drawn.before.rounding = here.drawn.rounding[static_cast<size_t>(parted)];
  }
}

// What was usual before this interval, which is then counted.
double Line::Note(uint64_t node, size_t samples) {
  Usual& usual = usual_[node];
  usual.sum *= std::pow(kDecay, static_cast<double>(lines_ - usual.last));
  const double before = lines_ > 0 ? usual.sum * (1 - kDecay) / (1 - std::pow(kDecay, static_cast<double>(lines_))) : 0;
  usual.sum = kDecay * usual.sum + static_cast<double>(samples);
  usual.last = lines_ + 1;
  return before;
}

void Line::Forget() {
  std::erase_if(usual_, [this](const auto& entry) { return lines_ - entry.second.last > kForgotten; });
}

}  // namespace heaprec::tools
