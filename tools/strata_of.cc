#include "tools/strata_of.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/analysis/strata_builder.h"

namespace heaprec::tools {

std::string ByCensus::Text() const {
  if (!has_census) return {};
  if (!why_none.empty()) return "; the census does not sharpen it: " + why_none;
  return fmt::format("; sharpened by a census, {} classes", strata.count());
}

nlohmann::json ByCensus::AsJson() const {
  if (!has_census) return nullptr;
  return {{"strata", strata.count()}, {"reason", why_none}};
}

ByCensus StrataOf(const Recording& recording) {
  if (recording.header().census == format::CensusMode::kOff) return {};
  ByCensus found{.strata = {}, .has_census = true, .why_none = {}};
  auto again = recording.Again();
  if (!again.ok()) {
    found.why_none = again.error().message;
    return found;
  }
  StrataBuilder builder(recording.header());
  while (const auto block = (*again)->Next()) builder.Add(*block);
  found.strata = builder.Build((*again)->census_books());
  found.why_none = builder.why_none();
  return found;
}

}  // namespace heaprec::tools
