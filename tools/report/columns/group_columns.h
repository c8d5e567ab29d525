// The columns that `top`, `tree`, `histogram` and the totals above them share: add a column here and all have it, in
// every form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// A class, site, node, ... and its estimates.
struct GroupRow {
  std::string name;
  GroupEstimates own;
  double seconds = 0;                   // of what was read
  std::optional<GroupEstimates> other;  // GroupWords::other
  std::vector<std::string> frames;      // of a stack, the root first
  OutsideSums outside{};                // GroupWords::outside
};

// What the columns depend on.
struct GroupWords {
  bool counts_events = false;      // throws: no bytes, no sizes
  const char* things = "objects";  // what is counted beside the bytes
  const char* share = "share";     // the heading of shares: of what
  std::string name = "class";      // the heading of names
  std::string other;               // members of JSON for GroupRow::other: "cumulative"; empty: there are none
  bool shows_other = false;        // in text, too: with callees
  bool has_frames = false;
  std::optional<render::Detail> outside{};  // objects outside of TLABs were counted; where they are shown
};
GroupWords WordsOf(const RecordingScan& scan);

std::vector<render::Column<GroupRow>> GroupColumns(const GroupWords& words);
// The same of a total, as members of `path`: "matched.bytes", ...
std::vector<render::Field> GroupFields(const std::string& path, const GroupEstimates& estimates,
                                       const RecordingScan& scan);

}  // namespace heaprec::tools
