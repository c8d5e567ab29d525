// The tables on a server: reads their version, creates them, and drops old partitions. Never rewrites data.
//
// Units:    rows, bytes on disk; times in seconds since 1970.
// Failure:  the server's error message; the next call completes a partly created schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/fleet/server/server.h"

namespace heaprec::tools::fleet {

inline constexpr uint32_t kSchemaVersion = 1;

struct Retention {
  uint32_t sample_days = 14, sum_days = 400;
};

struct SchemaOptions {
  uint32_t slice_seconds = 600;
  std::string cluster;  // empty: a single server
  Retention retention;
};

// The schema of a server.
struct Schema {
  uint32_t slice_seconds = 0;
  std::string cluster;
  // Returns "sums" or, on a cluster, "sums_all".
  std::string Table(const std::string& name) const { return cluster.empty() ? name : name + "_all"; }
};

struct InitReport {
  bool is_new = false;  // there were no tables
  std::string server_version;
  bool has_retention = false;  // the server drops old rows automatically
  bool is_replicated = false;  // each replica of a shard has all its rows
  // Other servers of the cluster, "host:port", that lack the tables or could not be queried, with the reason.
  std::vector<std::pair<std::string, std::string>> without_tables;
};

// Changes a CREATE statement so that the replicas of a shard share the rows: `folder` is the path of the tables in
// ZooKeeper. Returns other statements unchanged.
std::string Replicated(std::string statement, const std::string& folder);

// Whether it is a divisor or a multiple of 60 that divides an hour.
bool IsSliceLength(uint32_t seconds);

Result<InitReport> InitSchema(Server* server, const SchemaOptions& options);

// Returns an Error that says what to do if there is no schema, or one of another version.
Result<Schema> ReadSchema(Server* server);

// Returns the statements of an SQL file, without comments, with $name replaced.
std::vector<std::string> StatementsOf(std::string_view sql,
                                      const std::vector<std::pair<std::string, std::string>>& values);

struct Partition {
  std::string table;
  std::string name;              // as used in DROP PARTITION
  uint32_t from = 0, to = 0;     // times of its rows
  uint64_t rows = 0, bytes = 0;  // on this shard
};

// Returns partitions that are completely older than the retention, the oldest first, for servers without automatic
// retention. For this server only, because each shard has its own.
Result<std::vector<Partition>> ExpiredPartitions(Server* server, const Retention& retention, uint32_t now);
Status Drop(Server* server, const Partition& partition);

// The files of schema/, embedded at build time.
extern const std::string_view kTablesSql, kClusterSql, kModernSql;

}  // namespace heaprec::tools::fleet
