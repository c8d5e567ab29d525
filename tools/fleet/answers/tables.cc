#include "tools/fleet/answers/tables.h"

#include <fmt/format.h>

#include "tools/fleet/answers/reports.h"
#include "tools/fleet/server/server.h"
#include "tools/options/duration.h"

namespace heaprec::tools::fleet {

void TableOptions::AddTo(Command& command) {
  constexpr char kInit[] = "Tables (init, prune)";
  command.AddOption("--cluster", cluster, "Name of the cluster of which this server is a shard")
      .Value("NAME")
      .InGroup(kInit);
  command.AddDuration("--slice", slice_ns, "Time span of one row of sums (default: 10m; with --from-dir 1m)")
      .InGroup(kInit);
  command.AddOption("--sample-days", retention.sample_days, "Days to keep samples and slices (default: 14)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddOption("--sum-days", retention.sum_days, "Days to keep sums by hour (default: 400)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddFlag("--yes", drops, "prune: drop the listed days").InGroup(kInit);
}

format::Result<uint32_t> SliceOf(std::optional<uint64_t> slice_ns, uint32_t otherwise) {
  if (!slice_ns) return otherwise;
  const uint64_t seconds = *slice_ns / 1'000'000'000;
  if (*slice_ns % 1'000'000'000 == 0 && seconds <= UINT32_MAX && IsSliceLength(static_cast<uint32_t>(seconds)))
    return static_cast<uint32_t>(seconds);
  return format::Error{fmt::format("--slice {}: a slice must divide an hour, and be a part or a multiple of a minute",
                                   DurationText(*slice_ns))};
}

format::Result<SchemaOptions> TableOptions::Schema() const {
  auto seconds = SliceOf(slice_ns, 600);
  if (!seconds.ok()) return seconds.error();
  if (!cluster.empty() && !IsIdentifier(cluster)) {
    return format::Error{fmt::format("--cluster: '{}' is not a cluster name", cluster)};
  }
  return SchemaOptions{.slice_seconds = *seconds, .cluster = cluster, .retention = retention};
}

format::Result<render::Report> InitTables(Server* server, const SchemaOptions& schema) {
  auto tables = InitSchema(server, schema);
  if (!tables.ok()) return tables.error();
  return TablesReport(*tables, *server);
}

format::Result<render::Report> PruneTables(Server* server, const TableOptions& options, uint32_t now) {
  auto there = ReadSchema(server);
  if (!there.ok()) return there.error();
  auto expired = ExpiredPartitions(server, options.retention, now);
  if (!expired.ok()) return expired.error();
  if (options.drops) {
    for (const Partition& one : *expired) {
      if (auto error = Drop(server, one)) return *error;
    }
  }
  return PruneReport(*expired, options.drops);
}

}  // namespace heaprec::tools::fleet
