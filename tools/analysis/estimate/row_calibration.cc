#include "tools/analysis/estimate/row_calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "format/ring/content_keys.h"
#include "format/ring/ring_reader.h"

namespace heaprec::tools {
namespace {

using format::Index;

// The key of a class or method that is not in the dictionaries.
constexpr uint64_t kUnknownKey = 1;

double Ratio(double of, double to) {
  const double ratio = of / to;
  return to > 0 && std::isfinite(ratio) ? ratio : 0;
}

}  // namespace

std::optional<TimeOfRows> TimeOf(const format::Block& block, uint64_t interval_ns) {
  uint64_t first = UINT64_MAX, last = 0;
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != format::Stream::kAllocations) continue;
    first = std::min(first, interval.index);
    last = std::max(last, interval.index);
  }
  if (block.rows.empty() || first > last || interval_ns == 0) return std::nullopt;
  return TimeOfRows{first * interval_ns, (last + 1) * interval_ns};
}

std::vector<format::Sample> SamplesOfRows(const format::Block& block, uint64_t interval_ns) {
  const TimeOfRows time = TimeOf(block, interval_ns).value_or(TimeOfRows{});
  format::Sample sample;
  sample.time_ns = time.begin_ns + (time.end_ns - time.begin_ns) / 2;
  std::vector<format::Sample> samples(block.rows.size(), sample);
  for (size_t i = 0; i < samples.size(); ++i) {
    const format::Row& row = block.rows[i];
    samples[i].class_id = row.class_id;
    samples[i].stack = row.stack;
    samples[i].weight = row.bytes;
  }
  return samples;
}

bool RowCalibration::Enter(const format::Block& block) {
  if (!takes_ || !takes_(block)) return false;
  names_ = block.dictionaries;
  if (block.chunk != chunk_ || names_->stacks.size() < known_.size())
    classes_.clear(), known_.clear(), methods_.clear();
  chunk_ = block.chunk;
  classes_.resize(names_->classes.size());
  known_.resize(names_->stacks.size());
  methods_.resize(names_->methods.size());
  return true;
}

void RowCalibration::Add(const format::Block& block) {
  for (const format::Row& row : block.rows) {
    Site& site = sums_->sites[SiteOf(row.class_id, row.stack)];
    site.row_bytes += row.bytes;
    site.row_objects += row.objects;
    sums_->points += row.points;
  }
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != format::Stream::kAllocations) continue;
    Site& site = sums_->sites[SiteOf(sample.class_id, sample.stack)];
    site.sampled_bytes += sample.weight_bytes();
    site.sampled_objects += sample.weight_objects();
  }
}

RowCalibration::SiteId RowCalibration::SiteOf(Index class_id, Index stack) {
  if (stack >= known_.size()) return Find(class_id, stack);
  Known& known = known_[stack];
  if (known.site == kNotLooked || known.class_id != class_id) known = {class_id, Find(class_id, stack)};
  return known.site;
}

// A site without rows has no bytes, as in a table of rows.
RowCalibration::Factors RowCalibration::Of(SiteId id) const {
  const Site& site = sums_->sites[id];
  return {Ratio(site.row_bytes, site.sampled_bytes), Ratio(site.row_objects, site.sampled_objects)};
}

RowCalibration::SiteId RowCalibration::Find(Index class_id, Index stack) {
  std::vector<Site>& sites = sums_->sites;
  const uint64_t key = KeyOf(class_id, stack);
  return sums_->by_key.FindOrAdd(
      key, [&](Index at) { return sites[at].key == key; }, sites.size(), [&] { sites.push_back({.key = key}); },
      [&](Index at) { return sites[at].key; });
}

uint64_t RowCalibration::KeyOf(Index class_id, Index stack) {
  uint64_t of_class = kUnknownKey;
  if (class_id < classes_.size()) {
    if (classes_[class_id] == 0) classes_[class_id] = format::ClassKey(names_->classes[class_id]);
    of_class = classes_[class_id];
  }
  return format::MixWord(of_class + format::MixWord(PathKeyOf(stack)));
}

// Hashes the methods of the frames that the recorder's PathOf selects.
uint64_t RowCalibration::PathKeyOf(Index stack) {
  if (stack >= names_->stacks.size()) return kUnknownKey;
  uint64_t key = kUnknownKey;
  Index at = stack;
  for (size_t frames = 0; frames < format::kLongestPath; ++frames) {
    const format::StackNode& node = names_->stacks[at];
    const Method& method = MethodOf(node.frame);
    key = format::MixWord(key) + method.key;
    // A parent always precedes its children; anything else is a damaged tree and ends the walk.
    if (!method.is_primitive || node.parent == format::kNone || node.parent >= at) break;
    at = node.parent;
  }
  return key;
}

const RowCalibration::Method& RowCalibration::MethodOf(Index frame) {
  static constexpr Method kUnknown{.key = kUnknownKey};
  const Index index = frame < names_->frames.size() ? names_->frames[frame].method : format::kNone;
  if (index >= methods_.size()) return kUnknown;
  Method& method = methods_[index];
  if (method.key != 0) return method;
  const format::Method& named = names_->methods[index];
  method.key = format::MethodKey(named.class_name, named.name, named.descriptor);
  method.is_primitive = primitives_.HasMethod(named.class_name, named.name);
  return method;
}

void SumsBySite::Add(std::span<const uint32_t> groups, std::span<const WeightedSample* const> drawn) {
  constexpr size_t kBatch = 16;
  std::array<Index, kBatch> cells;
  for (size_t begin = 0; begin < drawn.size(); begin += kBatch) {
    const size_t rows = std::min(kBatch, drawn.size() - begin);
    for (size_t i = 0; i < rows; ++i) {
      const WeightedSample& one = *drawn[begin + i];
      cells[i] = one.site != kNoSite ? CellOf(groups[begin + i], one) : format::kNone;
    }
    for (size_t i = 0; i < rows; ++i) {
      if (cells[i] != format::kNone) cells_[cells[i]].sums.Add(*drawn[begin + i]);
    }
  }
}

Index SumsBySite::CellOf(uint32_t group, const WeightedSample& drawn) {
  const bool is_row = drawn.row != nullptr;
  return by_key_.FindOrAdd(
      HashOf(group, drawn.site, is_row),
      [&](Index i) { return cells_[i].group == group && cells_[i].site == drawn.site && cells_[i].is_row == is_row; },
      cells_.size(),
      [&] {
        cells_.push_back({group, drawn.site, is_row, Subset(holds_)});
      },
      [&](Index i) { return HashOf(cells_[i].group, cells_[i].site, cells_[i].is_row); });
}

uint64_t SumsBySite::HashOf(uint32_t group, uint32_t site, bool is_row) {
  return format::MixWord((uint64_t{group} << 32 | site) + (is_row ? 1 : 0) * 0x9e3779b97f4a7c15U);
}

RowCalibration::Factors SumsBySite::FactorsOf(const Cell& cell, const RowCalibration& calibration) {
  if (cell.site == kNoSite) return {};
  if (!cell.is_row) return calibration.Of(cell.site);
  return calibration.IsAlone(cell.site) ? RowCalibration::Factors{} : RowCalibration::Factors{0, 0};
}

}  // namespace heaprec::tools
