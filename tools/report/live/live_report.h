// `heaprec live` as reports: what is live, how long objects live, and which died.
//
// Context:  pure functions.
#pragma once

#include "tools/render/report.h"
#include "tools/report/columns/live_columns.h"

namespace heaprec::tools {

render::Report LiveObjectsReport(const LiveAnswer& answer);
render::Report LifetimesReport(const LiveAnswer& answer);
// `newest`: the objects that died last, else a random sample of all that died.
render::Report GarbageReport(const LiveAnswer& answer, bool newest);

}  // namespace heaprec::tools
