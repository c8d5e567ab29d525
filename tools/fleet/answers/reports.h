// The answers of `heaprec fleet` as reports.
#pragma once

#include <vector>

#include "tools/fleet/answers/answers.h"
#include "tools/fleet/server/schema.h"
#include "tools/fleet/ship/ship_run.h"
#include "tools/render/report.h"

namespace heaprec::tools::fleet {

// `limit`: rows of a table; 0: all.
render::Report ServicesReport(const Scope& scope, const std::vector<ServiceRow>& rows, size_t limit);
render::Report TopReport(const Scope& scope, const TopAnswer& answer, RowGrain by);
render::Report TimelineReport(const Scope& scope, const std::vector<TimelineRow>& rows);
render::Report DiffReport(const Scope& scope, const DiffAnswer& answer, RowGrain by, double rate, size_t limit);
render::Report LiveReport(const FleetLiveAnswer& answer, RowGrain by);
render::Report OutliersReport(const Scope& scope, const std::vector<OutlierRow>& rows, RowGrain by, double least_z,
                              size_t limit);
render::Report ShowReport(const Scope& scope, const ShowAnswer& answer, size_t limit);

render::Report TablesReport(const InitReport& init, const Server& server);
// `server`: nullptr: nothing was sent.
render::Report ShipReport(const ShipRun& run, const Server* server, bool dry_run);
render::Report PruneReport(const std::vector<Partition>& expired, bool is_dropped);

}  // namespace heaprec::tools::fleet
