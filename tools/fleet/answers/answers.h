// The answers of `heaprec fleet`, from the sums of a server or a folder, with the same estimates.
//
// Units:    bytes, objects, bytes per second; shares from 0 to 1; times in seconds since 1970.
// Failure:  each returns an error message for the user.
// Maths:    docs/estimates.md#fleet
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/fleet/answers/hosts.h"
#include "tools/fleet/answers/selection.h"

namespace heaprec::tools::fleet {

// What was recorded of a selection.
struct Scope {
  size_t hosts = 0, recordings = 0, untrustworthy = 0;
  uint32_t from = 0, to = 0;  // range of the available data
  double seconds = 0;         // total of all recordings
  Estimate bytes;             // allocated bytes
  double lost = 0;            // bytes without a sample
};
Scope ScopeOf(const Selection& selection);

struct ServiceRow {
  std::string service, version, environment;
  size_t hosts = 0;
  double host_seconds = 0;
  Estimate bytes;               // total of all hosts
  Estimate per_second;          // bytes, mean per host
  Estimate objects_per_second;  // mean per host
  double share = 0;             // of all bytes
};
std::vector<ServiceRow> Services(const Selection& selection);

struct TopRow {
  RowKey key;
  std::string name;
  Estimate bytes, objects, share;
  double points = 0;
};
struct TopAnswer {
  std::vector<TopRow> rows;  // ordered by size
  size_t count = 0;          // number of all rows
};
Result<TopAnswer> Top(Source* source, const Selection& selection, RowGrain by, size_t limit);

struct TimelineRow {
  uint32_t time = 0;
  Estimate per_second;  // bytes, total of all hosts
};
// `step`: a multiple of the slice; 0: about 60 rows.
Result<std::vector<TimelineRow>> Timeline(Source* source, const Selection& selection, uint32_t step);

// A site: the services that have it, its classes, and the time of its first occurrence.
struct ShowAnswer {
  std::string name;
  Estimate bytes, share;
  std::vector<ServiceRow> services;  // their bytes are those of the site
  std::vector<TopRow> classes;
  std::vector<TimelineRow> timeline;
};
// The selection's filter must name sites.
Result<ShowAnswer> Show(Source* source, const Selection& selection, const std::string& name);

struct LiveRowAnswer {
  RowKey key;
  std::string name;
  Estimate bytes, objects, share;  // ranges without a value if some may be garbage
  Estimate age_s;                  // mean over bytes
  double samples = 0;
};
struct FleetLiveAnswer {
  std::vector<LiveRowAnswer> rows;  // ordered by size
  size_t count = 0;                 // number of all rows
  LiveRowAnswer all;
  Estimate none;    // detection limit of a row without a live sample
  uint32_t at = 0;  // time of the latest snapshot
  size_t hosts = 0, processes = 0;
  size_t gone = 0;       // processes whose latest snapshot is older than kLiveSlices slices
  size_t untracked = 0;  // recordings without tracked objects
};
// Returns what is live at the end of the range, in the processes that run then.
Result<FleetLiveAnswer> FleetLive(Source* source, const Selection& selection, RowGrain by, size_t limit);
// A snapshot that is this much older than the latest one belongs to a process that has ended, or is no longer shipped.
inline constexpr uint32_t kLiveSlices = 2;

struct DiffOptions {
  RowGrain by = RowGrain::kSite;
  double rate = 0.05;        // false discovery rate
  double min_share = 0.001;  // of the bytes of both sides: smaller rows are not tested
};
struct DiffRow {
  RowKey key;
  std::string name;
  HostComparison rates;  // bytes per second and host
};
struct DiffAnswer {
  size_t hosts_before = 0, hosts_after = 0;
  bool is_paired = false;
  HostComparison all;
  std::vector<DiffRow> rows;  // significant ones first, ordered by size of change
  size_t real = 0;
};
// Compares the versions that two patterns select.
Result<DiffAnswer> DiffVersions(Source* source, const Selection& selection, const std::string& before,
                                const std::string& after, const DiffOptions& options);
// Compares the same hosts before and after a time. Omits hosts that lack a side.
Result<DiffAnswer> DiffDeploy(Source* source, const Selection& selection, uint32_t deploy, const DiffOptions& options);

struct OutlierRow {
  std::string host;
  RowKey key;
  std::string name;
  double rate = 0, median = 0, z = 0;  // bytes per second
};
// Returns hosts with |z| of at least `least_z`, largest first, in sites that have `min_share` of all bytes.
Result<std::vector<OutlierRow>> Outliers(Source* source, const Selection& selection, RowGrain by, double min_share,
                                         double least_z);

}  // namespace heaprec::tools::fleet
