#include "tools/fleet/answers/tables.h"

#include <fmt/format.h>

#include "tools/fleet/answers/fleet_time.h"
#include "tools/fleet/answers/reports.h"
#include "tools/fleet/server/sql_text.h"

namespace heaprec::tools::fleet {

void TableOptions::AddTo(Command& command) {
  constexpr char kInit[] = "Tables (init, prune)";
  command.AddOption("--cluster", cluster, "Name of the cluster of which this server is a shard")
      .Value("NAME")
      .InGroup(kInit);
  command.AddOption("--slice", slice, "Time span of one row of sums (default: 10m; with --from-dir 1m)")
      .Value("LENGTH")
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

format::Result<uint32_t> SliceOf(const std::string& text, uint32_t otherwise) {
  if (text.empty()) return otherwise;
  auto length = ParseLength(text);
  if (!length.ok()) return length.error();
  if (!IsSliceLength(*length)) {
    return format::Error{
        fmt::format("--slice {}: a slice must divide an hour, and be a part or a multiple of a minute", text)};
  }
  return length;
}

format::Result<SchemaOptions> TableOptions::Schema() const {
  auto seconds = SliceOf(slice, 600);
  if (!seconds.ok()) return seconds.error();
  if (!cluster.empty() && !IsIdentifier(cluster)) {
    return format::Error{fmt::format("--cluster: '{}' is not a cluster name", cluster)};
  }
  return SchemaOptions{.slice_seconds = *seconds,
                       .cluster = cluster,
                       .sample_days = retention.sample_days,
                       .sum_days = retention.sum_days};
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
