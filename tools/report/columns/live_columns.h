// What the reports of tracked objects share: their columns, what their JSON begins with, and the lines below them.
#pragma once

#include <string>
#include <vector>

#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// Which rows of each table, in which order.
struct LiveRanking {
  std::string sort = "bytes";
  size_t limit = 0;  // 0: all
};
const std::vector<std::string>& LiveSortKeys();

// What a scan of tracked objects answers.
struct LiveAnswer {
  const RecordingScan& scan;
  const LiveResult& live;
  const CallTree& tree;
  LiveRanking ranking;
};

// A class, a site, ... and what is live of it.
struct LiveRow {
  std::string name;
  LiveRange range;
  Slope growth;
  std::vector<double> series;       // live bytes at the instants of LiveResult
  std::vector<std::string> frames;  // of a stack, the root first
};

// Bytes, share, objects, ages and growth, and the name last, under this heading. `has_frames`: rows are stacks.
std::vector<render::Column<LiveRow>> LiveColumns(const LiveResult& live, const std::string& name_heading,
                                                 bool has_frames = false);
// The same of a total, as members of `path`: "live.bytes", ...
std::vector<render::Field> LiveFields(const std::string& path, const LiveRow& all, const LiveResult& live);

// In JSON alone: scan, times, collections, and what was not tracked.
render::Line LiveContext(const LiveAnswer& answer);
// What could not be tracked, if anything, and the line of losses.
std::vector<render::Line> LiveFooter(const LiveAnswer& answer);

// Says why it is unknown how many collections objects survived.
const char* WhySurvivorsAreUnknown(const LiveResult& live);
const char* WhyGrowthIsUnknown(const LiveResult& live);

// "{} collections", "{} major collections", or that their number is unknown; takes one field of `collections`.
std::string CollectionsText(const LiveResult& live);
// The field for CollectionsText; none if the number is unknown.
std::vector<render::Field> CollectionsField(const LiveResult& live);
// " that survived {} collections" and its field; empty of 0.
std::string SurvivedText(uint64_t collections);
std::vector<render::Field> SurvivedField(uint64_t collections);
// A list of the ages and of the shares that reach them: members "seconds" (or `age`), "reached", "low" and "high".
std::vector<render::Column<std::vector<Survival>>> SurvivalColumns(const std::string& age);

}  // namespace heaprec::tools
