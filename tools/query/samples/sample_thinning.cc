#include "tools/query/samples/sample_thinning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "format/model/weights.h"

namespace heaprec::tools {
namespace {

// Start of the sequence n * golden ratio: fixed, so that one recording is always thinned alike, and not round.
constexpr double kStart = 0.6180339887498949;
constexpr uint32_t kDropped = 0xffffffff;

std::vector<double> WeightsOf(const SampleColumns& columns) {
  std::vector<double> weights(columns.second.size());
  size_t line = 0, stored = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    while (line < columns.lines.size() && columns.lines[line].end <= i) ++line;
    switch (static_cast<WeightCode>(columns.weight_code[i])) {
      case WeightCode::kFirstStage: {
        const double size = columns.size[i];
        const double lambda = columns.lambdas[columns.window[i]];
        weights[i] = columns.counts_events ? 1 / lambda : size / format::PoissonInclusion(lambda * size);
        break;
      }
      case WeightCode::kRaised:
        weights[i] = columns.lines[line].weight;
        break;
      case WeightCode::kExplicit:
        weights[i] = columns.explicit_weights[stored++];
        break;
      case WeightCode::kThinned:
        weights[i] = columns.thinned_to;
        break;
    }
  }
  return weights;
}

// The weight to which smaller ones are raised, so that the probabilities of all add up to `count`.
double ThresholdOf(std::vector<double> weights, double count) {
  std::sort(weights.begin(), weights.end(), std::greater<>());
  double rest = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t sure = 0; sure < weights.size() && count > static_cast<double>(sure); ++sure) {
    const double threshold = rest / (count - static_cast<double>(sure));
    if (weights[sure] <= threshold) return threshold;
    rest -= weights[sure];
  }
  return weights.empty() ? 0 : weights.front();
}

// Where each sample goes; kDropped: nowhere.
std::vector<uint32_t> Places(const std::vector<double>& weights, double threshold) {
  std::vector<uint32_t> places(weights.size(), kDropped);
  uint32_t next = 0;
  double sum = kStart;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double before = std::floor(sum);
    if (weights[i] == 0) {  // a survivor, of which only what is live knows
      places[i] = next++;
      continue;
    }
    sum += std::min(1.0, threshold > 0 ? weights[i] / threshold : 1.0);
    if (std::floor(sum) > before) places[i] = next++;
  }
  return places;
}

template <typename Value>
void Keep(const std::vector<uint32_t>& places, std::vector<Value>* values) {
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] != kDropped && places[i] != i) (*values)[places[i]] = std::move((*values)[i]);
  }
  values->resize(static_cast<size_t>(
      std::count_if(places.begin(), places.end(), [](uint32_t place) { return place != kDropped; })));
}

void KeepSizes(const std::vector<uint32_t>& places, SampleColumns* columns) {
  std::vector<double> sizes;
  for (size_t i = 0, stored = 0; i < places.size(); ++i) {
    if (columns->size[i] != kDropped) continue;
    if (places[i] != kDropped) sizes.push_back(columns->explicit_sizes[stored]);
    ++stored;
  }
  columns->explicit_sizes = std::move(sizes);
}

void SetWeights(const std::vector<uint32_t>& places, const std::vector<double>& weights, double threshold,
                SampleColumns* columns) {
  columns->explicit_weights.clear();
  columns->thinned_to = threshold;
  double before = 0, sum = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    before += weights[i];
    if (places[i] == kDropped) continue;
    const bool is_raised = weights[i] > 0 && weights[i] < threshold;
    const auto code = static_cast<WeightCode>(columns->weight_code[i]);
    if (weights[i] > 0) sum += std::max(weights[i], threshold);
    if (!is_raised && code == WeightCode::kFirstStage) continue;
    columns->weight_code[i] = static_cast<uint8_t>(is_raised ? WeightCode::kThinned : WeightCode::kExplicit);
    if (!is_raised) columns->explicit_weights.push_back(weights[i]);
  }
  columns->explicit_first_weights = columns->explicit_weights;
  // The total stays what it was. Of a census the weights here lack its factors: then it is what was counted.
  if (!columns->strata.empty()) before = columns->total;
  if (columns->calibrated && before > 0 && sum > 0) columns->factor *= before / sum;
}

void KeepAlive(const std::vector<uint32_t>& places, const std::vector<double>& weights, double threshold,
               SampleColumns* columns) {
  size_t kept = 0;
  for (size_t i = 0; i < columns->alive.size(); ++i) {
    const uint32_t from = columns->alive[i], to = places[from];
    if (to == kDropped) continue;
    columns->alive[kept] = to;
    const double raise = weights[from] > 0 ? std::max(1.0, threshold / weights[from]) : 1;
    columns->alive_ages[kept] = columns->alive_ages[i];
    columns->alive_weights[kept++] = columns->alive_weights[i] * raise;
  }
  columns->alive.resize(kept);
  columns->alive_weights.resize(kept);
  columns->alive_ages.resize(kept);
}

// Only nodes that lead to a sample that was kept stay.
void KeepNodes(SampleColumns* columns) {
  auto& parents = columns->node_parent;
  std::vector<uint32_t> places(parents.size(), kDropped);
  places[0] = 0;
  for (const uint32_t node : columns->node) places[node] = 0;
  for (size_t node = parents.size() - 1; node > 0; --node) {
    if (places[node] != kDropped) places[parents[node]] = 0;
  }
  uint32_t kept = 0;
  for (uint32_t& place : places) {
    if (place != kDropped) place = kept++;
  }
  for (uint32_t& parent : parents) parent = places[parent];
  for (uint32_t& node : columns->node) node = places[node];
  Keep(places, &parents);
  Keep(places, &columns->node_name);
  Keep(places, &columns->node_type);
}

void KeepNames(SampleColumns* columns) {
  std::vector<uint32_t> places(columns->names.size(), kDropped);
  const std::array<std::vector<uint32_t>*, 3> users{&columns->node_name, &columns->classes, &columns->threads};
  for (const auto* of : users) {
    for (const uint32_t name : *of) places[name] = 0;
  }
  uint32_t kept = 0;
  for (uint32_t& place : places) {
    if (place != kDropped) place = kept++;
  }
  for (auto* of : users) {
    for (uint32_t& name : *of) name = places[name];
  }
  std::erase_if(columns->primitives, [&](uint32_t name) { return places[name] == kDropped; });
  for (uint32_t& name : columns->primitives) name = places[name];
  Keep(places, &columns->names);
}

}  // namespace

void ThinSamples(size_t count, SampleColumns* columns) {
  const std::vector<double> weights = WeightsOf(*columns);
  const double threshold = ThresholdOf(weights, static_cast<double>(count));
  const std::vector<uint32_t> places = Places(weights, threshold);
  KeepSizes(places, columns);
  SetWeights(places, weights, threshold, columns);
  KeepAlive(places, weights, threshold, columns);
  for (auto* column : {&columns->second, &columns->microsecond, &columns->class_id, &columns->node, &columns->thread,
                       &columns->size, &columns->window}) {
    Keep(places, column);
  }
  KeepNodes(columns);
  KeepNames(columns);
  for (auto* column : {&columns->weight_code, &columns->chosen}) Keep(places, column);
  if (!columns->factors.empty()) Keep(places, &columns->recording);
  columns->parted.assign(columns->second.size(), static_cast<uint8_t>(OrderLevel::kSample));
  columns->lines.clear();
  for (auto& rounding : columns->rounding) rounding.clear();
  columns->uncounted.clear();
  columns->strata.clear();
  std::fill(columns->stratum_of_class.begin(), columns->stratum_of_class.end(), -1);
}

}  // namespace heaprec::tools
