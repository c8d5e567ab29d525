// Lines above and below the tables of all commands that compute sums: totals, matched amounts, detection limit, and
// trustworthiness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/groups/call_tree.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

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
