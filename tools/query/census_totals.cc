#include "tools/query/census_totals.h"

namespace heaprec::tools {

void CensusInAll::Add(const format::Block& block) {
  for (const format::CensusRow& row : block.census_totals) {
    table_.AddTotal("", row);
    typical_.Add(row);
  }
  if (!(block.census_books == format::CensusBooks{})) books_ = block.census_books;
}

Estimate CensusInAll::Bytes() const {
  const CensusGroup all = table_.All().sums;
  return EstimateOf(all.bytes, all.walks, typical_.value());
}

Estimate CensusInAll::Objects() const {
  const CensusGroup all = table_.All().sums;
  return EstimateOf(all.objects, all.walks, typical_.value());
}

uint64_t CensusInAll::MissingBytes() const {
  return books_.broken_bytes + books_.lost_bytes + books_.over_budget_bytes + books_.unseen_bytes;
}

}  // namespace heaprec::tools
