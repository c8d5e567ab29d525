#include "tools/analysis/estimate/strata_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/analysis/imported.h"

namespace heaprec::tools {
namespace {

// A stratum of which fewer samples are to be expected may have none by chance, or so few that the ratio is biased.
constexpr double kMinSamples = 10;
// A class that fewer walks found has a variance that says nothing.
constexpr uint64_t kMinWalks = 10;
// What the census and the recorder count may differ by this share: the first and the last moment of a recording.
constexpr double kTolerance = 0.01;

// Objects that are never sampled: among the rare classes they would charge theirs to the others.
constexpr char kStackChunk[] = "jdk/internal/vm/StackChunk";

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

void StrataBuilder::Add(const format::Block& block) {
  const auto& names = block.dictionaries->classes;
  for (const WeightedSample& drawn : design_.Add(block)) {
    if (drawn.class_id < names.size()) classes_[names[drawn.class_id]].sampled.Add(drawn);
  }
  for (const format::CensusRow& row : block.census) {
    if (row.class_id >= names.size()) continue;
    Sums& sums = classes_[names[row.class_id]].sums;
    sums.counted_bytes += row.bytes;
    sums.counted_objects += row.objects;
    sums.walks += row.walks;
  }
}

Strata StrataBuilder::Build(const format::CensusCounters& counters) {
  if (mode_ == format::CensusMode::kOff) return Strata();
  if (is_biased_) why_none_ = "weights are biased";
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
  // The recorder counts stack chunks apart, where it sees them.
  const auto chunks = classes_.find(kStackChunk);
  const double without = counted - (chunks == classes_.end() ? 0 : chunks->second.sums.counted_bytes.estimate());
  const auto recorded = static_cast<double>(design_.counted_bytes());
  if (design_.all().samples() == 0 || recorded == 0) {
    why_none_ = "nothing was sampled, or no bytes were counted";
  } else if (counters.aborted + counters.lost + counters.over_budget + counters.unvisited > 0) {
    why_none_ = fmt::format("{} bytes are missing in it", counters.aborted_bytes + counters.lost_bytes +
                                                              counters.over_budget_bytes + counters.unvisited_bytes);
  } else if (mode_ == format::CensusMode::kAll &&
             std::min(std::abs(counted - recorded), std::abs(without - recorded)) > kTolerance * recorded) {
    why_none_ = fmt::format("it has {:.0f} bytes, the recording {:.0f}", counted, recorded);
  }
  return why_none_.empty();
}

bool StrataBuilder::IsEnough(const Sums& sums) const {
  return sums.counted_bytes.estimate() >= kMinSamples * unit_ && sums.bytes > 0;
}

Stratum StrataBuilder::Make(const Sums& sums, double known) {
  Stratum stratum;
  stratum.known = known;
  stratum.bytes = sums.bytes + known * (sums.counted_bytes.estimate() - sums.bytes);
  stratum.factor = stratum.bytes / sums.bytes;
  stratum.sampled = stratum.factor * stratum.factor * sums.variance;
  stratum.counted = sums.counted_bytes.variance;
  return stratum;
}

size_t StrataBuilder::AddStratum(const Sums& sums, double known, Strata::Table* table) {
  table->strata.push_back(Make(sums, known));
  table->strata.back().index = static_cast<uint32_t>(table->strata.size() - 1);
  return table->strata.size() - 1;
}

// The largest classes each have their own; all others have one together, with so many of the smallest of those as it
// takes. Which they are depends on what was counted, hardly on what was sampled: so chance does not choose.
Strata::Table StrataBuilder::Exact() {
  std::vector<const Class*> own;
  Sums rest;
  Strata::Table table;
  std::vector<const Class*> of_rest;
  for (const Class& one : classes_) (IsEnough(one.second.sums) ? own : of_rest).push_back(&one);
  for (const Class* one : of_rest) rest += one->second.sums;
  std::ranges::sort(own, std::greater<>(), [](const Class* one) { return one->second.sums.counted_bytes.counted; });
  while (!own.empty() && !of_rest.empty() && !IsEnough(rest)) {
    rest += own.back()->second.sums;
    of_rest.push_back(own.back());
    own.pop_back();
  }
  for (const Class* one : own) {
    table.of_class[one->first] = AddStratum(one->second.sums, 1, &table);
    table.strata.back().is_one_class = true;
    table.strata.back().objects = one->second.sums.counted_objects.estimate();
  }
  if (of_rest.empty()) return table;
  const size_t last = AddStratum(rest, 1, &table);
  for (const Class* one : of_rest) table.of_class[one->first] = last;
  return table;
}

// Two estimates of a class that know nothing of each other, each by what the other's samples stand for: a variance by
// chance too small would come with an estimate that is too small.
Strata::Table StrataBuilder::Composed() {
  Strata::Table table;
  for (const auto& [name, one] : classes_) {
    if (!IsEnough(one.sums) || one.sums.walks < kMinWalks) continue;
    const double sampled = one.sums.variance / one.sums.bytes;
    const double counted = one.sums.counted_bytes.variance / one.sums.counted_bytes.estimate();
    if (sampled > 0) table.of_class[name] = AddStratum(one.sums, sampled / (sampled + counted), &table);
  }
  if (table.strata.empty()) why_none_ = "no class was found often enough";
  return table;
}

}  // namespace heaprec::tools
