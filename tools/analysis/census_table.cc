#include "tools/analysis/census_table.h"

#include <algorithm>
#include <cmath>

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

Estimate EstimateOf(const format::CensusSum& sum) {
  const double value = sum.estimate();
  if (sum.variance == 0) return {value, value, value};
  Estimate estimate = TotalWithin(value, sum.variance, sum.variance / value);
  const auto counted = static_cast<double>(sum.counted);
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
