#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "tools/query/samples/sample_columns.h"

namespace heaprec::tools {
namespace {

// Start of the sequence n * golden ratio: constant, so that a recording is always thinned in the same way, and not a
// round number.
constexpr double kStart = 0.6180339887498949;
constexpr uint32_t kDropped = 0xffffffff;

// Returns the weight to which smaller ones are raised, so that all probabilities add up to `count`.
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

// Returns the new index of each sample; kDropped: removed.
std::vector<uint32_t> Places(const std::vector<double>& weights, double threshold) {
  std::vector<uint32_t> places(weights.size(), kDropped);
  uint32_t next = 0;
  double sum = kStart;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double before = std::floor(sum);
    if (weights[i] == 0) {  // a survivor, which counts only as a live object
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

// Returns the variance of the bytes, if objects of these sizes have these weights.
double VarianceOf(const std::vector<double>& sizes, const std::vector<double>& weights) {
  double variance = 0;
  for (size_t i = 0; i < weights.size(); ++i) variance += weights[i] * std::max(weights[i] - sizes[i], 0.0);
  return variance;
}

// Raises weights and preserves the total.
void Raise(double threshold, std::vector<double>* weights, double total) {
  double sum = 0;
  for (double& weight : *weights) {
    if (weight > 0) sum += weight = std::max(weight, threshold);
  }
  for (double& weight : *weights) weight *= sum > 0 ? total / sum : 1;
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

// Keeps only nodes that lead to a sample or a row.
void KeepNodes(SampleColumns* columns) {
  auto& parents = columns->node_parent;
  std::vector<uint32_t> places(parents.size(), kDropped);
  places[0] = 0;
  for (const uint32_t node : columns->node) places[node] = 0;
  for (const StepRow& row : columns->rows.rows()) places[row.node] = 0;
  for (size_t node = parents.size() - 1; node > 0; --node) {
    if (places[node] != kDropped) places[parents[node]] = 0;
  }
  uint32_t kept = 0;
  for (uint32_t& place : places) {
    if (place != kDropped) place = kept++;
  }
  for (uint32_t& parent : parents) parent = places[parent];
  for (uint32_t& node : columns->node) node = places[node];
  for (StepRow& row : columns->rows.rows()) row.node = places[row.node];
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
  const std::vector<double> weights = columns->weight;
  const double threshold = ThresholdOf(weights, static_cast<double>(count));
  const std::vector<uint32_t> places = Places(weights, threshold);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double before = VarianceOf(columns->size, weights);
  KeepAlive(places, weights, threshold, columns);
  for (auto* column : {&columns->second, &columns->microsecond, &columns->class_id, &columns->node, &columns->thread}) {
    Keep(places, column);
  }
  for (auto* column : {&columns->size, &columns->weight}) Keep(places, column);
  if (!columns->factors.empty()) Keep(places, &columns->recording);
  Raise(threshold, &columns->weight, total);
  if (before > 0) {  // excluded samples would have become as imprecise
    format::Row& all = columns->of_samples.all;
    const double rougher = VarianceOf(columns->size, columns->weight) / before;
    all.bytes_variance *= rougher, all.objects_variance *= rougher, all.covariance *= rougher;
  }
}

void KeepUsedNames(SampleColumns* columns) {
  KeepNodes(columns);
  KeepNames(columns);
}

}  // namespace heaprec::tools
