// What the reports of groups share: the columns of `top`, `tree`, `histogram` and the totals, and the lines above and
// below their tables. A column added here appears in all of them, in every form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/groups/call_tree.h"
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

// Lines above and below the tables of all commands that compute sums: totals, matched amounts, detection limit, and
// trustworthiness.

// "1.9 GiB allocated in 28.193 s, 68.0 MiB/s; 55.9 M objects (55.0M-56.8M)", and in JSON: unit, total, matched,
// detection_limit and scan.
std::vector<render::Line> HeadlineOf(const RecordingScan& scan);
// Lines about losses and trustworthiness.
std::vector<render::Line> LossLines(const RecordingScan& scan);
// "detection limit: a class without samples allocated at most 1.40 MiB (95 %)"; `what`: the text before "at most".
// `json`: the JSON member for the limit; empty: none.
render::Line LimitLine(const std::string& what, const Estimate& unseen, render::Unit unit,
                       const std::string& json = "");
// Returns the detection limit of a `what` ("class or site"), and the line of losses.
std::vector<render::Line> FooterOf(const RecordingScan& scan, std::string_view what);

// The frames of a row that is a stack, for JSON and for the lines below the row.

// Root first.
std::vector<std::string> FramesOf(CallTree::NodeId node, const CallTree& tree);
// Returns the callers of the last frame, nearest first; after `most` of them "...".
std::vector<std::string> CallersOf(const std::vector<std::string>& frames, size_t most = SIZE_MAX);

}  // namespace heaprec::tools
