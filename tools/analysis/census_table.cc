#include "tools/analysis/census_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heaprec::tools {
namespace {

void Add(const format::CensusSum& from, format::CensusSum* into) { *into += from; }

// Of sums that may go together: the deviations add up at most.
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

template <typename Map>
auto& Entry(Map& map, std::string_view key) {
  const auto known = map.find(key);
  return known != map.end() ? known->second : map[std::string(key)];
}

}  // namespace

void TypicalWeight::Add(const format::CensusRow& total) {
  bytes_ += total.bytes;
  walks_ += total.walks;
}

double TypicalWeight::value() const {
  if (bytes_.counted == 0) return 0;
  return bytes_.variance / bytes_.estimate() * static_cast<double>(walks_) / static_cast<double>(bytes_.counted);
}

Estimate EstimateOf(const format::CensusSum& sum, uint64_t walks, double typical) {
  const double value = sum.estimate();
  const auto counted = static_cast<double>(sum.counted);
  if (sum.variance == 0 && !(typical > 0 && counted > 0)) return {value, value, value};
  // By chance all walks that found it may be light ones, and its variance with them; hardly if they are many.
  const double own = sum.variance > 0 ? value * value / sum.variance : 0;
  const double doubt = std::clamp(2 - own / kFewEffectiveWalks, 0.0, 1.0);
  const double of_one = walks > 0 ? doubt * typical * counted / static_cast<double>(walks) : 0;
  const double variance = std::max(sum.variance, of_one * value), effective = value * value / variance;
  if (effective < kMinEffectiveWalks) return {value, counted, std::numeric_limits<double>::infinity()};
  // Student's, for the variance comes from the same walks.
  const double widening = 1 + (kZ * kZ + 1) / (2 * effective);
  Estimate estimate = TotalInterval(value, widening * variance, widening * variance / value);
  estimate.low = std::min(value, std::max(estimate.low, counted));
  return estimate;
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

// Class by class over all groups first: what walks of different threads and seconds found is independent.
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

}  // namespace heaprec::tools
