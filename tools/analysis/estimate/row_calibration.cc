#include "tools/analysis/estimate/row_calibration.h"

#include <algorithm>
#include <cmath>

#include "format/codec/index_table.h"
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

void RowCalibration::Add(const format::Block& block) {
  EnterNames(block);
  for (const format::Row& row : block.rows) {
    Site& site = sums_->sites[KeyOf(row.class_id, row.stack)];
    site.row_bytes += row.bytes;
    site.row_objects += row.objects;
    sums_->points += row.points;
  }
  for (const format::Sample& sample : block.samples) {
    if (sample.stream() != format::Stream::kAllocations) continue;
    Site& site = sums_->sites[KeyOf(sample.class_id, sample.stack)];
    site.sampled_bytes += sample.weight_bytes();
    site.sampled_objects += sample.weight_objects();
  }
}

bool RowCalibration::Enter(const format::Block& block) {
  const bool takes = Takes(block);
  if (takes) EnterNames(block);
  return takes;
}

// A site without rows has no bytes, as in a table of rows. A site whose first sample is newer than the first pass, in a
// running recording, is represented by its rows.
RowCalibration::Factors RowCalibration::Of(Index class_id, Index stack) {
  const auto found = sums_->sites.find(KeyOf(class_id, stack));
  if (found == sums_->sites.end()) return {};
  const Site& site = found->second;
  return {Ratio(site.row_bytes, site.sampled_bytes), Ratio(site.row_objects, site.sampled_objects)};
}

void RowCalibration::Scale(std::span<WeightedSample> drawn) {
  for (WeightedSample& one : drawn) {
    const Factors factors = Of(one.class_id, one.stack);
    one.weight *= factors.bytes;
    one.objects *= factors.objects;
  }
}

bool RowCalibration::IsAlone(const format::Row& row) {
  const auto found = sums_->sites.find(KeyOf(row.class_id, row.stack));
  return found != sums_->sites.end() && !(found->second.sampled_bytes > 0);
}

void RowCalibration::EnterNames(const format::Block& block) {
  names_ = block.dictionaries;
  if (block.chunk != chunk_ || names_->stacks.size() < paths_.size())
    classes_.clear(), paths_.clear(), methods_.clear();
  chunk_ = block.chunk;
  classes_.resize(names_->classes.size());
  paths_.resize(names_->stacks.size());
  methods_.resize(names_->methods.size());
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
  if (stack >= paths_.size()) return kUnknownKey;
  if (paths_[stack] != 0) return paths_[stack];
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
  return paths_[stack] = key;
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

}  // namespace heaprec::tools
