// The answers of `heaprec fleet` as reports.
#pragma once

#include <vector>

#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/questions.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/ship/ship_run.h"
#include "tools/render/report.h"

namespace heaprec::tools::fleet {

using Answered = Result<render::Report>;
Answered ServicesReport(const FleetQuestion& of);
Answered TopReport(const FleetQuestion& of);
Answered TimelineReport(const FleetQuestion& of);
Answered DiffReport(const FleetQuestion& of);
Answered LiveReport(const FleetQuestion& of);
Answered OutliersReport(const FleetQuestion& of);
Answered ShowReport(const FleetQuestion& of);

render::Report TablesReport(const InitReport& init, const Server& server);
// `server`: nullptr: nothing was sent.
render::Report ShipReport(const ShipRun& run, const Server* server, bool dry_run);
render::Report PruneReport(const std::vector<Partition>& expired, bool is_dropped);

}  // namespace heaprec::tools::fleet
