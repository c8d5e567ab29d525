// `heaprec live` and `leaks` as reports.
#pragma once

#include <cstddef>

#include "tools/query/live/path_query.h"
#include "tools/render/report.h"
#include "tools/report/columns/live_columns.h"

namespace heaprec::tools {

// `heaprec live` as reports: live objects, lifetimes, and dead objects.

render::Report LiveObjectsReport(const LiveAnswer& answer);
render::Report LifetimesReport(const LiveAnswer& answer);
// `newest`: the objects that died last; otherwise a random sample of all dead objects.
render::Report GarbageReport(const LiveAnswer& answer, bool newest);

// `heaprec leaks` as a report: the sites whose live bytes keep growing.
struct LeakRanking {
  double rate = 0.05;  // the false discovery rate
  size_t limit = 0;    // maximum rows; 0: all
  bool all = false;    // also show groups whose growth is not significant
};

// `paths`: says what holds the objects of each leak; null: not known.
render::Report LeaksReport(const LiveAnswer& answer, const LeakRanking& ranking,
                           const GroupPathVisitor* paths = nullptr);

// `heaprec paths` as a report: what holds live objects, of all recordings together.
struct PathLimits {
  size_t children = 0;      // of a place; 0: all
  double min_share = 0.01;  // of what is held
};

render::Report PathsReport(const RecordingScan& scan, const PathVisitor& paths, const PathLimits& limits);

}  // namespace heaprec::tools
