// SQL statements for sums on a server.
//
// Whole hours are read from the table `hours`, where the shipper has rolled them up; the edges of a range, and hours
// that are not rolled up yet, from `sums`. With Distributed tables, the innermost SELECT computes sums, so that shards
// send only those.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/fleet/answers/source.h"

namespace heaprec::tools::fleet {

// Recordings and hours (since 1970) that have slices, but no row of `hours`.
using OpenHours = std::vector<std::pair<uint64_t, uint32_t>>;

struct RowQuery {
  std::string sums, hours;  // tables, with their database
  TimeRange range;
  std::vector<uint64_t> recordings;
  RowGrain by = RowGrain::kClass;
  RowFilter filter;
  uint32_t step = 0;                 // of times; 0: no steps
  std::vector<std::string> columns;  // columns to sum: "bytes" becomes s_bytes
};

// The whole hours in a range; from == to if there are none.
TimeRange WholeHours(const TimeRange& range);

// SELECT recording, class, site, (step,) sum(...) AS s_..., one row per recording and key.
std::string RowsSql(const RowQuery& query, const OpenHours& open);

}  // namespace heaprec::tools::fleet
