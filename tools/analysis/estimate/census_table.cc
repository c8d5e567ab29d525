#include "tools/analysis/estimate/census_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "format/model/names.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

void Add(const format::CensusSum& from, format::CensusSum* into) { *into += from; }

// Adds sums that may be correlated: their deviations add up in the worst case.
void AddCorrelated(const format::CensusSum& from, format::CensusSum* into) {
  const double deviation = std::sqrt(into->variance) + std::sqrt(from.variance);
  Add(from, into);
  into->variance = deviation * deviation;
}

void AddRow(const format::CensusRow& row, CensusGroup* into) {
  Add(row.objects, &into->objects);
  Add(row.bytes, &into->bytes);
  into->walks += row.walks;
}

constexpr double kSmallestObject = 8;  // bytes
// By simulation: docs/estimates.md#few-walks
constexpr double kOneMore = 1.5;
constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Student's t widening: the variance comes from the same walks.
double Widening(double effective) { return 1 + (kZ * kZ + 1) / (2 * effective); }

// Weight of the variance floor: 1 up to kFewEffectiveWalks effective walks, 0 from twice that number on.
double Doubt(double effective) { return std::clamp(2 - effective / kFewEffectiveWalks, 0.0, 1.0); }

template <typename Map>
auto& Entry(Map& map, std::string_view key) {
  const auto known = map.find(key);
  return known != map.end() ? known->second : map[std::string(key)];
}

}  // namespace

uint64_t CandidateBytes(const format::CensusCounters& counters) {
  const uint64_t all = counters.tlab_bytes + counters.outside_bytes;
  return all - std::min(all, counters.aborted_bytes + counters.lost_bytes + counters.over_budget_bytes);
}

void CensusEstimator::Add(const format::CensusRow& total) {
  bytes_ += total.bytes;
  walks_ += total.walks;
}

void CensusEstimator::AddCandidates(std::optional<uint64_t> bytes) {
  are_known_ &= bytes.has_value();
  candidates_ += static_cast<double>(bytes.value_or(0));
}

double CensusEstimator::TypicalWeight() const {
  if (bytes_.counted == 0) return 0;
  return bytes_.variance / bytes_.estimate() * static_cast<double>(walks_) / static_cast<double>(bytes_.counted);
}

double CensusEstimator::EffectiveWalks() const {
  if (bytes_.variance == 0) return kInfinite;
  return bytes_.estimate() * bytes_.estimate() / bytes_.variance;
}

bool CensusEstimator::has_too_few_walks() const {
  if (!is_drawn_of_known()) return false;
  const double value = bytes_.estimate(), effective = EffectiveWalks();
  if (bytes_.variance == 0) return std::abs(value - candidates_) > kCensusTolerance * candidates_;
  if (effective < kMinEffectiveWalks) return true;
  const double variance = Widening(effective) * bytes_.variance;
  const Estimate all = TotalInterval(value, variance, variance / value);
  return candidates_ < all.low || candidates_ > all.high;
}

// A walk's bytes include those of each class, which bounds the covariance.
CensusEstimator::Sum CensusEstimator::Regression(const format::CensusSum& sum, Of what) const {
  if (!is_drawn_of_known() || bytes_.variance == 0) return {sum.estimate(), sum.variance};
  const double least = sum.variance * (what == Of::kBytes ? 1 : kSmallestObject);
  const double most = std::sqrt(sum.variance * bytes_.variance);
  const double covariance = std::min(std::max(sum.covariance, least), most), slope = covariance / bytes_.variance;
  const double value = sum.estimate() + slope * (candidates_ - bytes_.estimate());
  return {std::max(value, static_cast<double>(sum.counted)), std::max(sum.variance - slope * covariance, 0.0)};
}

CensusEstimator::Sum CensusEstimator::BytesOf(const format::CensusSum& sum) const {
  return Regression(sum, Of::kBytes);
}

Estimate CensusEstimator::AllBytes() const {
  if (is_drawn_of_known()) return {candidates_, candidates_, candidates_};
  return Bytes({.objects = {}, .bytes = bytes_, .walks = walks_});
}

Estimate CensusEstimator::Bytes(const CensusGroup& group) const {
  return Interval(group.bytes, group.walks, Of::kBytes);
}

Estimate CensusEstimator::Objects(const CensusGroup& group) const {
  return Interval(group.objects, group.walks, Of::kObjects);
}

Estimate CensusEstimator::Interval(const format::CensusSum& sum, uint64_t walks, Of what) const {
  const auto counted = static_cast<double>(sum.counted);
  const bool too_few = has_too_few_walks();
  if (sum.variance == 0 && (counted == 0 || (TypicalWeight() == 0 && !too_few))) return {counted, counted, counted};
  const Sum estimate = Regression(sum, what);
  const double others = static_cast<double>(bytes_.counted) - counted;  // found in other classes
  const double most = is_drawn_of_known() && what == Of::kBytes ? std::max(candidates_ - others, counted) : kInfinite;
  const auto within = [&](double low, double high) {
    return Estimate{std::clamp(estimate.value, counted, most), std::max(low, counted), std::min(high, most)};
  };
  if (too_few) return {kUnknownValue, counted, most};
  const double variance = std::max(estimate.variance, Floor(sum, walks) * estimate.value);
  const double effective = std::min(estimate.value * estimate.value / variance, EffectiveWalks());
  if (effective < kMinEffectiveWalks) return within(counted, most);
  const double widened = Widening(effective) * variance;
  const Estimate interval = TotalInterval(estimate.value, widened, widened / estimate.value);
  return within(interval.low, interval.high);
}

// If by chance only light walks found a class, its variance is too small; with many walks that is unlikely. Even if
// the total bytes are known, one more heavy walk could have found another mixture of classes.
double CensusEstimator::Floor(const format::CensusSum& sum, uint64_t walks) const {
  const double own = sum.variance > 0 ? sum.estimate() * sum.estimate() / sum.variance : 0;
  const double found = walks > 0 ? static_cast<double>(sum.counted) / static_cast<double>(walks) : 0;
  const double unfound = Doubt(own) * TypicalWeight() * found;
  if (!is_drawn_of_known()) return unfound;
  const double product = sum.variance * bytes_.variance;
  const double together = product > 0 ? std::min(sum.covariance * sum.covariance / product, 1.0) : 0;
  const double scaled = candidates_ / bytes_.estimate() * sum.estimate();
  const double mixture = kOneMore * Doubt(EffectiveWalks()) * scaled / EffectiveWalks();
  return (1 - together) * unfound + together * mixture;
}

void CensusTable::AddTotal(std::string_view group, const format::CensusRow& row) { AddClass(group, "", row); }

void CensusTable::AddClass(std::string_view group, std::string_view class_name, const format::CensusRow& row) {
  AddRow(row, &Entry(Entry(groups_, group), class_name));
}

CensusGroup CensusTable::SumOf(const Classes& classes) {
  CensusGroup sum;
  for (const auto& [name, of] : classes) {
    AddCorrelated(of.objects, &sum.objects);
    AddCorrelated(of.bytes, &sum.bytes);
    sum.walks = std::max(sum.walks, of.walks);
  }
  return sum;
}

std::vector<CensusTable::Row> CensusTable::Rows() const {
  std::vector<Row> rows;
  for (const auto& [name, classes] : groups_) rows.push_back({name, SumOf(classes)});
  return rows;
}

// First sums each class over all groups: walks of different threads and seconds are independent.
CensusTable::Row CensusTable::All() const {
  Classes all;
  for (const auto& [group, classes] : groups_) {
    for (const auto& [name, of] : classes) {
      CensusGroup& into = all[name];
      Add(of.objects, &into.objects);
      Add(of.bytes, &into.bytes);
      into.walks += of.walks;
    }
  }
  return {"", SumOf(all)};
}

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
