#include "tools/query/census_totals.h"

namespace heaprec::tools {

void CensusTotals::Add(const format::Block& block) {
  for (const format::CensusRow& row : block.census_totals) {
    table_.AddTotal("", row);
    typical_.Add(row);
  }
  if (!(block.census_counters == format::CensusCounters{})) counters_ = block.census_counters;
}

Estimate CensusTotals::Bytes() const {
  const CensusGroup all = table_.All().sums;
  return EstimateOf(all.bytes, all.walks, typical_.value());
}

Estimate CensusTotals::Objects() const {
  const CensusGroup all = table_.All().sums;
  return EstimateOf(all.objects, all.walks, typical_.value());
}

uint64_t CensusTotals::MissingBytes() const {
  return counters_.broken_bytes + counters_.lost_bytes + counters_.over_budget_bytes + counters_.unseen_bytes;
}

}  // namespace heaprec::tools
