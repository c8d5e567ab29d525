// Figures of groups, as the cells of a table and as JSON.
//
// In a cell an interval has the unit of its value, and no more digits than it is worth: "167.3 MiB", "156-179". Ends
// that are far from the value have units of their own ("26.5 KiB", "26.5 KiB-17.5 MiB"), and so have those of counts
// that have one ("2.16 M", "1.86M-2.51M"). A range is one number: "26.5 KiB-17.5 MiB".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/analysis/estimate/group_estimates.h"
#include "tools/text/table.h"

namespace heaprec::tools {

// What the weights of a scan count.
enum class Unit : bool { kBytes, kEvents };

Cell BytesCell(const Estimate& bytes);
Cell CountCell(const Estimate& count);
Cell ShareCell(const Estimate& share);

// Bytes, share, bytes/s, objects, mean size; of events: events, share, events/s. `things`: what objects are called.
std::vector<Column> EstimateColumns(Unit unit, const char* things = "objects");
std::vector<Cell> EstimateCells(const GroupEstimates& estimates, double seconds, Unit unit);

// {"samples": 3, "bytes": {...}, "bytes_per_second": {...}, "objects": {...}, "share": {...}, "mean_size": {...}};
// of events: "samples", "events", "events_per_second", "share".
nlohmann::json AsJson(const GroupEstimates& estimates, double seconds, Unit unit);

}  // namespace heaprec::tools
