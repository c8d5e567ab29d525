// The data of `summary`, computed once for both of its forms.
//
// Units:    ns, bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tools/analysis/live/live_sum.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/analysis/totals/totals.h"
#include "tools/analysis/totals/trend.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/allocations/census_query.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan/census_strata.h"

namespace heaprec::tools {

// Objects outside of TLABs, which were counted.
struct OutsideTotals {
  OutsideSums all{};
  std::map<std::string, OutsideSums, std::less<>> classes;
  void Add(const format::Block& block, Names* names);
};

struct Facts {
  format::PerStream<StreamTotals> totals;
  AllocationTotals volume{};
  ExceptionTotals thrown{};
  GcSummary heap{};
  TimeToFull full{};
  std::optional<LiveAtEndTotals> live{};  // at the end
  CensusTotals census{};
  OutsideTotals outside{};
  CensusStrata by_census{};
  uint64_t events = 0;  // of all streams
  // What classes and sites are estimated from: points of rows, including those not kept as samples, or samples if there
  // are no rows.
  uint64_t points = 0;
  bool has_rows = false;
  uint64_t duration_ns = 0, end_ns = 0;
  uint64_t asked_ns = 0;  // the part of duration_ns that passes the filter
  double mean_rate = 0;   // events/s
  double fill = 0;        // used fraction of the rate limit
  double bytes_per_event = 0;
  std::string ended{};

  // As RecordingScan::observed.
  const char* observed() const { return has_rows ? "point" : "sample"; }
  const StreamTotals& allocations() const { return totals[format::Stream::kAllocations]; }
};

// Reads the recording to its end, and fills `volume` and `breakdown`. `filter`: for the breakdown, already started;
// null: no filter, otherwise `asked` gets its times.
Facts FactsOf(Recording* recording, Filter* filter, VolumeOfBlocks* volume, ClassSiteTotals* breakdown,
              AskedTime* asked);

// Returns whether the filter keeps a sample; empty if there is no filter.
ClassSiteTotals::Keeps KeptBy(Filter* filter);

}  // namespace heaprec::tools
