#include "tools/census_in_all.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/render/estimate_text.h"
#include "tools/render/text.h"
#include "tools/render/utf8.h"

namespace heaprec::tools {

void CensusInAll::Add(const format::Block& block) {
  for (const format::CensusRow& row : block.census_totals) {
    table_.AddTotal("", row);
    typical_.Add(row);
  }
  if (!(block.census_books == format::CensusBooks{})) books_ = block.census_books;
}

std::string CensusInAll::Text(const format::FileHeader& header) const {
  if (!header.census_refused.empty()) return "none: " + ToUtf8(header.census_refused);
  if (header.census == format::CensusMode::kOff) return {};
  const CensusGroup all = table_.All().sums;
  std::string text = fmt::format("{} in {} objects, by {} walks of {} TLABs and {} objects outside",
                                 BytesText(EstimateOf(all.bytes, all.walks, typical_.value())),
                                 CountText(EstimateOf(all.objects, all.walks, typical_.value())), Grouped(books_.walks),
                                 Grouped(books_.tlabs), Grouped(books_.outside));
  const uint64_t missing = books_.broken_bytes + books_.lost_bytes + books_.over_budget_bytes + books_.unseen_bytes;
  if (missing > 0) text += fmt::format("; {} are missing", Bytes(static_cast<double>(missing)));
  return text;
}

nlohmann::json CensusInAll::AsJson(const format::FileHeader& header) const {
  if (header.census == format::CensusMode::kOff) return nullptr;
  const CensusGroup all = table_.All().sums;
  return {{"bytes", tools::AsJson(EstimateOf(all.bytes, all.walks, typical_.value()))},
          {"objects", tools::AsJson(EstimateOf(all.objects, all.walks, typical_.value()))},
          {"walks", books_.walks},
          {"missing_bytes", books_.broken_bytes + books_.lost_bytes + books_.over_budget_bytes + books_.unseen_bytes}};
}

}  // namespace heaprec::tools
