// The columns that `top`, `tree`, `histogram` and the totals above them share: a column added here appears in all of
// them, in every form.
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
  double seconds = 0;                   // of the read data
  std::optional<GroupEstimates> other;  // see GroupWords::other
  std::vector<std::string> frames;      // of a stack, root first
  OutsideSums outside{};                // see GroupWords::outside
  std::string source{};                 // line of a site; empty: not asked for, or not found
};

// Parameters of the columns.
struct GroupWords {
  bool counts_events = false;      // throws: no bytes, no sizes
  const char* things = "objects";  // what is counted besides bytes
  const char* share = "share";     // heading of shares
  std::string name = "class";      // heading of names
  std::string other;               // JSON object for GroupRow::other: "cumulative"; empty: none
  bool shows_other = false;        // also in text: with callees
  bool has_frames = false, has_source = false;
  std::optional<render::Detail> outside{};  // where counted objects outside of TLABs are shown; nullopt: none
};
GroupWords WordsOf(const RecordingScan& scan);

std::vector<render::Column<GroupRow>> GroupColumns(const GroupWords& words);
// The same for a total, as members of `path`: "matched.bytes", ...
std::vector<render::Field> GroupFields(const std::string& path, const GroupEstimates& estimates,
                                       const RecordingScan& scan);

}  // namespace heaprec::tools
