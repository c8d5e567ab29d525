// Shared by reports of tracked objects: columns, the first JSON members, and the lines below the tables.
#pragma once

#include <string>
#include <vector>

#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// The rows of each table, and their order.
struct LiveRanking {
  std::string sort = "bytes";
  size_t limit = 0;  // 0: all
};
const std::vector<std::string>& LiveSortKeys();
const std::vector<std::string>& LifetimeSortKeys();

// The result of a scan of tracked objects.
struct LiveAnswer {
  const RecordingScan& scan;
  const LiveResult& live;
  const CallTree& tree;
  LiveRanking ranking;
};

// A class, a site, ... with its live objects.
struct LiveRow {
  std::string name;
  LiveRange range;
  Slope growth;
  std::vector<double> series;       // live bytes at the times of LiveResult
  std::vector<std::string> frames;  // of a stack, root first
};

// Returns columns for bytes, share, objects, ages and growth, with the name last, under this heading. `has_frames`:
// rows are stacks.
std::vector<render::Column<LiveRow>> LiveColumns(const LiveResult& live, const std::string& name_heading,
                                                 bool has_frames = false);
// The same for a total, as members of `path`: "live.bytes", ...
std::vector<render::Field> LiveFields(const std::string& path, const LiveRow& all, const LiveResult& live);

// What holds objects of a group: its paths, and their shares, as two lists.
render::Value PathsValue(const std::vector<GroupPath>& paths);
render::Value PathSharesValue(const std::vector<GroupPath>& paths);

// Only in JSON: scan, times, collections, and untracked samples.
render::Line LiveContext(const LiveAnswer& answer);
// Returns lines about untracked samples, if any, and losses.
std::vector<render::Line> LiveFooter(const LiveAnswer& answer);

// Says why it is unknown how many collections objects survived.
const char* WhySurvivorsAreUnknown(const LiveResult& live);
const char* WhyGrowthIsUnknown(const LiveResult& live);

// To continue a line: "{} collections", "{} major collections", or that their number is unknown; " that survived {}
// collections", or nothing for 0.
render::Line CollectionsOf(const LiveResult& live, uint64_t count);
render::Line Survived(uint64_t collections);
// A list of the ages and of the shares that reach them: members "seconds" (or `age`), "reached", "low" and "high".
std::vector<render::Column<std::vector<Survival>>> SurvivalColumns(const std::string& age);

}  // namespace heaprec::tools
