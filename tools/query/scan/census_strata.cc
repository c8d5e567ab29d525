#include "tools/query/scan/census_strata.h"

#include "tools/analysis/estimate/census_table.h"
#include "tools/input/recording.h"

namespace heaprec::tools {
namespace {

// Returns false for a part of a recording, a copy of a running one, and one that was cut off.
bool WasEnded(const Recording& recording) {
  return recording.was_ended_by_recorder() && recording.is_settled() && !recording.is_part();
}

}  // namespace

std::string CensusStrata::Text() const {
  if (!has_census) return {};
  return why_none.empty() ? "; adjusted by the census" : "; not adjusted by its census: " + why_none;
}

render::Value CensusStrata::AsValue() const {
  if (!has_census) return nullptr;
  return render::Object{{"strata", strata.count()}, {"reason", why_none}};
}

CensusStrata StrataOf(const Recording& recording, const ByRows& by_rows) {
  const bool has_census = recording.header().census == format::CensusMode::kAll;
  CensusStrata found{.strata = {}, .has_census = has_census, .why_none = {}};
  if (!has_census) return found;
  auto again = recording.Again();
  if (!again.ok()) {
    found.why_none = again.error().message;
    return found;
  }
  if (by_rows) (*again)->LeaveOut(by_rows);
  StrataBuilder builder(recording.header());
  Walk(again->get(), [&](const format::Block& block) { builder.Add(block, by_rows && by_rows(block)); });
  if (WasEnded(**again)) {
    found.strata = builder.Build((*again)->census_counters());
    found.why_none = builder.why_none();
  } else {
    found.why_none = "it did not end with this recording";
  }
  return found;
}

void CountedClasses::Add(const format::Block& block, const format::CensusRow& row) {
  const auto& classes = block.dictionaries->classes;
  has_stack_chunks_ |= row.class_id < classes.size() && classes[row.class_id] == kStackChunk;
  bytes_ += row.bytes.estimate();
  objects_ += row.objects.estimate();
}

}  // namespace heaprec::tools
