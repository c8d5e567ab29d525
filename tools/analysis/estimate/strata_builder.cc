#include "tools/analysis/estimate/strata_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "format/model/java_names.h"
#include "tools/analysis/estimate/census_table.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording_kind.h"

namespace heaprec::tools {
namespace {

// A stratum with fewer expected samples may have none by chance, or too few for an unbiased ratio.
constexpr double kMinSamples = 10;

}  // namespace

StrataBuilder::Sums& StrataBuilder::Sums::operator+=(const Sums& other) {
  bytes += other.bytes;
  counted += other.counted;
  objects += other.objects;
  return *this;
}

StrataBuilder::StrataBuilder(const format::FileHeader& header)
    : counts_all_(header.census == format::CensusMode::kAll), is_biased_(IsBiased(header.source)), design_(header) {}

void StrataBuilder::Add(const format::Block& block, bool by_rows) {
  const auto& names = block.dictionaries->classes;
  for (const WeightedSample& drawn : design_.Add(block, by_rows)) {
    if (drawn.class_id < names.size()) classes_[names[drawn.class_id]].bytes += drawn.weight;
  }
  for (const format::CensusRow& row : block.census) {
    if (row.class_id >= names.size()) continue;
    classes_[names[row.class_id]] += {.counted = row.bytes.estimate(), .objects = row.objects.estimate()};
  }
  for (const format::Interval& interval : block.intervals) {
    has_cut_interval_ |= interval.stream == format::Stream::kAllocations && interval.kept > 0 && interval.bytes == 0;
  }
}

// The missing bytes may belong to any class.
bool StrataBuilder::IsComplete(const format::CensusCounters& counters) {
  double counted = 0;
  for (const auto& [name, one] : classes_) counted += one.counted;
  // The recorder counts stack chunks separately.
  const auto chunks = classes_.find(kStackChunk);
  const double without = counted - (chunks == classes_.end() ? 0 : chunks->second.counted);
  const auto recorded = static_cast<double>(design_.counted_bytes());
  if (design_.all().samples() == 0 || recorded == 0) {
    why_none_ = "nothing was sampled, or no bytes were counted";
  } else if (!counters.is_complete()) {
    why_none_ = fmt::format("{} bytes are missing in it", counters.MissingBytes());
  } else if (has_cut_interval_) {
    why_none_ = "the recording was cut within an interval";
  } else if (std::min(std::abs(counted - recorded), std::abs(without - recorded)) > kCensusTolerance * recorded) {
    why_none_ = fmt::format("it has {:.0f} bytes, the recording {:.0f}", counted, recorded);
  }
  return why_none_.empty();
}

bool StrataBuilder::HasEnoughCounts(const Sums& sums) const {
  return sums.counted >= kMinSamples * unit_ && sums.bytes > 0;
}

// The largest classes each have a stratum; all others share one, with as many of the smallest large classes as it
// needs. The choice depends on counts, and hardly on samples, so it is not random.
Strata StrataBuilder::Build(const format::CensusCounters& counters) {
  if (!counts_all_) return Strata();
  if (is_biased_) why_none_ = "weights are biased";
  if (!why_none_.empty() || !IsComplete(counters)) return Strata();
  classes_.erase(kStackChunk);
  unit_ = design_.all().variance().bytes / design_.all().bytes();
  std::vector<const Class*> own, of_rest;
  for (const Class& one : classes_) (HasEnoughCounts(one.second) ? own : of_rest).push_back(&one);
  std::ranges::sort(own, std::greater<>(), [](const Class* one) { return one->second.counted; });
  Sums rest;
  for (const Class* one : of_rest) rest += one->second;
  while (!own.empty() && !of_rest.empty() && !HasEnoughCounts(rest)) {
    rest += own.back()->second;
    of_rest.push_back(own.back());
    own.pop_back();
  }
  const auto name_of = [](const Class& one) { return StripGeneratedSuffix(format::JavaClassName(one.first)); };
  std::map<std::string, int> of_name;
  for (const Class& one : classes_) ++of_name[name_of(one)];
  Strata::Table table;
  const auto add = [&](const Class& one, const Sums& stratum) {
    const double factor = stratum.counted / stratum.bytes;
    const Sums& sums = one.second;
    table.classes[one.first] = {factor, of_name[name_of(one)] == 1, sums.counted, sums.objects, factor * sums.bytes};
    table.bytes += sums.counted;
  };
  for (const Class* one : own) add(*one, one->second);
  for (const Class* one : of_rest) add(*one, rest);
  table.strata = own.size() + (of_rest.empty() ? 0 : 1);
  return Strata(std::move(table));
}

}  // namespace heaprec::tools
