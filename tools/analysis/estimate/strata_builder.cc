#include "tools/analysis/estimate/strata_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "format/model/java_names.h"
#include "tools/analysis/imported.h"
#include "tools/input/generated_names.h"

namespace heaprec::tools {
namespace {

// A stratum with fewer expected samples may have none by chance, or so few that the ratio is biased.
constexpr double kMinSamples = 10;
// If fewer walks found a class, its variance is unreliable.
constexpr uint64_t kMinWalks = 10;

}  // namespace

StrataBuilder::Sums& StrataBuilder::Sums::operator+=(const Sums& other) {
  bytes += other.bytes;
  variance += other.variance;
  counted_bytes += other.counted_bytes;
  counted_objects += other.counted_objects;
  walks += other.walks;
  return *this;
}

StrataBuilder::StrataBuilder(const format::FileHeader& header)
    : mode_(header.census),
      is_biased_(IsBiased(header.source)),
      design_(header, format::Stream::kAllocations, OrderLevel::kClass) {}

void StrataBuilder::Add(const format::Block& block, bool by_rows) {
  const auto& names = block.dictionaries->classes;
  for (const WeightedSample& drawn : design_.Add(block, by_rows)) {
    if (drawn.class_id < names.size()) classes_[names[drawn.class_id]].sampled.Add(drawn);
  }
  for (const format::CensusRow& row : block.census) {
    if (row.class_id >= names.size()) continue;
    Sums& sums = classes_[names[row.class_id]].sums;
    sums.counted_bytes += row.bytes;
    sums.counted_objects += row.objects;
    sums.walks += row.walks;
  }
  for (const format::CensusRow& row : block.census_totals) counted_.Add(row);
  for (const format::Interval& interval : block.intervals) {
    has_cut_interval_ |= interval.stream == format::Stream::kAllocations && interval.kept > 0 && interval.bytes == 0;
  }
}

Strata StrataBuilder::Build(const format::CensusCounters& counters) {
  if (mode_ == format::CensusMode::kOff) return Strata();
  if (is_biased_) why_none_ = "weights are biased";
  if (mode_ == format::CensusMode::kDrawn) counted_.AddCandidates(CandidateBytes(counters));
  if (!why_none_.empty() || !IsComplete(counters)) return Strata();
  classes_.erase(kStackChunk);
  unit_ = design_.all().independent().bytes / design_.all().bytes();
  for (auto& [name, one] : classes_) {
    one.sums.bytes = one.sampled.bytes();
    one.sums.variance = one.sampled.first_stage().bytes;
  }
  return Strata(mode_ == format::CensusMode::kAll ? Exact() : Composed());
}

// What is missing is of classes that nobody knows.
bool StrataBuilder::IsComplete(const format::CensusCounters& counters) {
  double counted = 0;
  for (const auto& [name, one] : classes_) counted += one.sums.counted_bytes.estimate();
  // The recorder has a separate count of the stack chunks that it sees.
  const auto chunks = classes_.find(kStackChunk);
  const double without = counted - (chunks == classes_.end() ? 0 : chunks->second.sums.counted_bytes.estimate());
  const auto recorded = static_cast<double>(design_.counted_bytes());
  if (design_.all().samples() == 0 || recorded == 0) {
    why_none_ = "nothing was sampled, or no bytes were counted";
  } else if (!counters.is_complete()) {
    why_none_ = fmt::format("{} bytes are missing in it", counters.MissingBytes());
  } else if (has_cut_interval_) {
    why_none_ = "the recording was cut within an interval";
  } else if (mode_ == format::CensusMode::kAll &&
             std::min(std::abs(counted - recorded), std::abs(without - recorded)) > kCensusTolerance * recorded) {
    why_none_ = fmt::format("it has {:.0f} bytes, the recording {:.0f}", counted, recorded);
  } else if (counted_.has_too_few_walks()) {
    why_none_ = "its walks are too few";
  }
  return why_none_.empty();
}

bool StrataBuilder::HasEnoughCounts(const Sums& sums) const {
  return counted_.BytesOf(sums.counted_bytes).value >= kMinSamples * unit_ && sums.bytes > 0;
}

const Stratum* StrataBuilder::AddStratum(const Sums& sums, double known, Strata::Table* table) const {
  const CensusEstimator::Sum counted = counted_.BytesOf(sums.counted_bytes);
  Stratum& stratum = table->strata.emplace_back();
  stratum.index = static_cast<uint32_t>(table->strata.size() - 1);
  stratum.known = known;
  stratum.bytes = sums.bytes + known * (counted.value - sums.bytes);
  stratum.factor = stratum.bytes / sums.bytes;
  stratum.sampled = stratum.factor * stratum.factor * sums.variance;
  stratum.counted = counted.variance;
  return &stratum;
}

// The largest classes each have their own; all others have one together, with so many of the smallest of those as it
// takes. Which they are depends on what was counted, hardly on what was sampled: so chance does not choose.
Strata::Table StrataBuilder::Exact() {
  std::vector<const Class*> own;
  Sums rest;
  Strata::Table table;
  std::vector<const Class*> of_rest;
  for (const Class& one : classes_) (HasEnoughCounts(one.second.sums) ? own : of_rest).push_back(&one);
  for (const Class* one : of_rest) rest += one->second.sums;
  std::ranges::sort(own, std::greater<>(), [](const Class* one) { return one->second.sums.counted_bytes.counted; });
  while (!own.empty() && !of_rest.empty() && !HasEnoughCounts(rest)) {
    rest += own.back()->second.sums;
    of_rest.push_back(own.back());
    own.pop_back();
  }
  const auto name_of = [](const Class& one) { return StripGeneratedSuffix(format::JavaClassName(one.first)); };
  std::map<std::string, int> of_name;
  for (const Class& one : classes_) ++of_name[name_of(one)];
  const auto add = [&](const Class& one, const Stratum* stratum) {
    const Sums& sums = one.second.sums;
    ClassOfStratum& of = table.of_class[one.first] = {stratum, {}};
    if (of_name[name_of(one)] > 1) return;
    of.counted = {sums.counted_bytes.estimate(), sums.counted_objects.estimate(), stratum->factor * sums.bytes};
  };
  for (const Class* one : own) add(*one, AddStratum(one->second.sums, 1, &table));
  if (of_rest.empty()) return table;
  const Stratum* const last = AddStratum(rest, 1, &table);
  for (const Class* one : of_rest) add(*one, last);
  return table;
}

// Two estimates of a class that know nothing of each other, each by what the other's samples stand for: a variance by
// chance too small would come with an estimate that is too small.
Strata::Table StrataBuilder::Composed() {
  Strata::Table table;
  for (const auto& [name, one] : classes_) {
    if (!HasEnoughCounts(one.sums) || one.sums.walks < kMinWalks) continue;
    const double sampled = one.sums.variance / one.sums.bytes;
    const CensusEstimator::Sum sum = counted_.BytesOf(one.sums.counted_bytes);
    const double counted = sum.variance / sum.value;
    if (sampled > 0) table.of_class[name] = {AddStratum(one.sums, sampled / (sampled + counted), &table), {}};
  }
  if (table.strata.empty()) why_none_ = "no class was found often enough";
  return table;
}

}  // namespace heaprec::tools
