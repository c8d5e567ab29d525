#include "tools/fleet/server/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "base/result.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kHour = 3600, kDay = 86'400;
// The first server version that supports modern.sql.
constexpr int kModernMajor = 21;
constexpr std::string_view kCreate = "CREATE TABLE IF NOT EXISTS ", kEngine = "ENGINE = ReplacingMergeTree";
// Number of inserts per table that ZooKeeper remembers: repeating one of them changes nothing. 1,000 hosts make two
// inserts per second.
constexpr std::string_view kRemembered =
    " SETTINGS replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800";

void ReplaceAll(const std::string& what, const std::string& by, std::string* in) {
  for (size_t at = 0; (at = in->find(what, at)) != std::string::npos; at += by.size()) in->replace(at, what.size(), by);
}

Status RunAll(Server* server, const std::vector<std::string>& statements) {
  for (const std::string& statement : statements) {
    RETURN_IF_ERROR(server->Run(statement));
  }
  return {};
}

Result<std::string> ServerVersion(Server* server) {
  // The database may not exist yet.
  ASSIGN_OR_RETURN(auto answer, server->Select("SELECT version() AS v"));
  const std::string version = answer.Text("v", 0);
  if (version.empty()) return Error{server->name() + ": reports no version; is it ClickHouse?"};
  return version;
}

bool IsModern(const std::string& version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major >= kModernMajor;
}

Result<std::optional<Schema>> Find(Server* server) {
  ASSIGN_OR_RETURN(auto there, server->SelectNumber(fmt::format(
                                   "SELECT count() AS n FROM system.tables WHERE database = {} AND name = 'schema'",
                                   Quoted(server->database()))));
  if (there == 0) return std::optional<Schema>();
  ASSIGN_OR_RETURN(auto answer,
                   server->Select(fmt::format(
                       "SELECT version, slice_seconds, cluster FROM {}.schema ORDER BY version DESC, at DESC LIMIT 1",
                       server->database())));
  if (answer.rows == 0) return std::optional<Schema>();
  const uint64_t version = answer.Number("version", 0);
  if (version != kSchemaVersion) {
    return Error{fmt::format("{}: the tables are of version {}, this heaprec knows {}; use the heaprec that made them",
                             server->name(), version, kSchemaVersion)};
  }
  const Schema schema{.slice_seconds = static_cast<uint32_t>(answer.Number("slice_seconds", 0)),
                      .cluster = answer.Text("cluster", 0)};
  if (!IsSliceLength(schema.slice_seconds) || (!schema.cluster.empty() && !IsIdentifier(schema.cluster))) {
    return Error{fmt::format("{}: the table {}.schema is not heaprec's", server->name(), server->database())};
  }
  return std::optional(schema);
}

// Existing tables keep their engine. New tables on a cluster are replicated if the server supports that.
Result<bool> IsReplicated(Server* server, const std::string& cluster) {
  if (cluster.empty()) return false;
  ASSIGN_OR_RETURN(auto answer, server->Select(fmt::format(
                                    "SELECT engine FROM system.tables WHERE database = {} AND name = 'recordings'",
                                    Quoted(server->database()))));
  if (answer.rows > 0) return answer.Text("engine", 0).starts_with("Replicated");
  ASSIGN_OR_RETURN(
      auto has_keeper,
      server->SelectNumber("SELECT count() AS n FROM system.tables WHERE database = 'system' AND name = 'zookeeper'"));
  ASSIGN_OR_RETURN(auto macros,
                   server->SelectNumber("SELECT count() AS n FROM system.macros WHERE macro IN ('shard', 'replica')"));
  if (has_keeper > 0 && macros == 2) return true;
  ASSIGN_OR_RETURN(auto replicas, server->SelectNumber(fmt::format(
                                      "SELECT count() AS n FROM system.clusters WHERE cluster = {} AND replica_num > 1",
                                      Quoted(cluster))));
  if (replicas == 0) return false;
  return Error{fmt::format("{}: shards of cluster {} have replicas, but this server has no {}; configure it first",
                           server->name(), cluster, has_keeper == 0 ? "ZooKeeper" : "macros shard and replica")};
}

// Queries all other servers of the cluster through the server.
Result<std::vector<std::pair<std::string, std::string>>> WithoutTables(Server* server, const std::string& cluster) {
  std::vector<std::pair<std::string, std::string>> without;
  ASSIGN_OR_RETURN(auto others, server->Select(fmt::format("SELECT host_name, port FROM system.clusters WHERE cluster "
                                                           "= {} AND NOT is_local ORDER BY shard_num, replica_num",
                                                           Quoted(cluster))));
  for (size_t row = 0; row < others.rows; ++row) {
    const std::string address = fmt::format("{}:{}", others.Text("host_name", row), others.Number("port", row));
    // Tests for the last table: a server with it has all tables.
    auto tables = server->SelectNumber(
        fmt::format("SELECT count() AS n FROM remote({}, system, tables) WHERE database = {} AND name = 'leases'",
                    Quoted(address), Quoted(server->database())));
    if (!tables.ok()) without.emplace_back(address, "cannot be asked: " + tables.error().message);
    if (tables.ok() && *tables == 0) without.emplace_back(address, "no tables");
  }
  return without;
}

Status Conflict(const Server& server, const Schema& there, const SchemaOptions& options) {
  if (there.slice_seconds != options.slice_seconds) {
    return Error{fmt::format("{}: the tables have slices of {} s and keep them; omit --slice, or use another database",
                             server.name(), there.slice_seconds)};
  }
  if (there.cluster != options.cluster) {
    return Error{fmt::format("{}: the tables belong to {}; use another database", server.name(),
                             there.cluster.empty() ? "no cluster" : "cluster " + there.cluster)};
  }
  return {};
}

// Tables, the days in a partition of each (schema/tables.sql), and the retention.
struct Kept {
  const char* table;
  uint32_t partition_days;
  uint32_t Retention::*days;
};
constexpr Kept kTables[] = {{"samples", 1, &Retention::sample_days}, {"sums", 1, &Retention::sample_days},
                            {"live", 1, &Retention::sample_days},    {"hours", 1, &Retention::sum_days},
                            {"totals", 1, &Retention::sum_days},     {"shipped", 30, &Retention::sum_days}};

}  // namespace

bool IsSliceLength(uint32_t seconds) {
  return seconds > 0 && kHour % seconds == 0 && (60 % seconds == 0 || seconds % 60 == 0);
}

std::vector<std::string> StatementsOf(std::string_view sql,
                                      const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::string> statements;
  std::string statement;
  while (!sql.empty()) {
    const std::string_view line = sql.substr(0, sql.find('\n'));
    sql.remove_prefix(std::min(line.size() + 1, sql.size()));
    if (line.empty() || line.starts_with("--")) continue;
    statement += (statement.empty() ? "" : " ") + std::string(line);
    if (!statement.ends_with(';')) continue;
    statement.pop_back();
    for (const auto& [name, value] : values) ReplaceAll("$" + name, value, &statement);
    statements.push_back(std::move(statement));
    statement.clear();
  }
  return statements;
}

std::string Replicated(std::string statement, const std::string& folder) {
  const size_t engine = statement.find(kEngine);
  if (!statement.starts_with(kCreate) || engine == std::string::npos) return statement;
  const size_t name = statement.find('.') + 1;
  const std::string path = folder + "/" + statement.substr(name, statement.find(' ', name) - name);
  size_t arguments = engine + kEngine.size();
  if (statement.substr(arguments, 1) != "(") statement.insert(arguments, "()");
  const bool has_version = statement[++arguments] != ')';
  statement.insert(arguments, fmt::format("{}, '{{replica}}'{}", Quoted(path), has_version ? ", " : ""));
  statement.insert(engine + kEngine.find("Replacing"), "Replicated");
  return statement.append(kRemembered);
}

Result<InitReport> InitSchema(Server* server, const SchemaOptions& options) {
  const std::string& database = server->database();
  InitReport report;
  RETURN_IF_ERROR(server->Run("CREATE DATABASE IF NOT EXISTS " + database));
  ASSIGN_OR_RETURN(report.server_version, ServerVersion(server));
  ASSIGN_OR_RETURN(auto there, Find(server));
  report.is_new = !there.has_value();
  if (there) {
    RETURN_IF_ERROR(Conflict(*server, *there, options));
  }
  const std::vector<std::pair<std::string, std::string>> values{
      {"database", database},
      {"cluster", options.cluster},
      {"sample_days", std::to_string(options.retention.sample_days)},
      {"sum_days", std::to_string(options.retention.sum_days)}};
  ASSIGN_OR_RETURN(report.is_replicated, IsReplicated(server, options.cluster));
  std::vector<std::string> tables = StatementsOf(kTablesSql, values);
  if (report.is_replicated) {
    const std::string folder = fmt::format("/heaprec/{}/{{shard}}/{}", options.cluster, database);
    for (std::string& statement : tables) statement = Replicated(std::move(statement), folder);
  }
  RETURN_IF_ERROR(RunAll(server, tables));
  if (!options.cluster.empty()) {
    RETURN_IF_ERROR(RunAll(server, StatementsOf(kClusterSql, values)));
    ASSIGN_OR_RETURN(report.without_tables, WithoutTables(server, options.cluster));
  }
  report.has_retention = IsModern(report.server_version);
  if (report.has_retention) {
    RETURN_IF_ERROR(RunAll(server, StatementsOf(kModernSql, values)));
  }
  if (report.is_new) {
    // Written last: a server with this row has all tables.
    RETURN_IF_ERROR(server->Run(fmt::format("INSERT INTO {}.schema SELECT toUInt32({}), toUInt32({}), {}, now()",
                                            database, kSchemaVersion, options.slice_seconds, Quoted(options.cluster))));
  }
  return report;
}

Result<Schema> ReadSchema(Server* server) {
  ASSIGN_OR_RETURN(auto there, Find(server));
  if (!there) {
    return Error{fmt::format("{}: database {} has no heaprec tables; run heaprec fleet init --server {}/{}",
                             server->name(), server->database(), server->name(), server->database())};
  }
  return *there;
}

Result<std::vector<Partition>> ExpiredPartitions(Server* server, const Retention& retention, uint32_t now) {
  std::vector<Partition> expired;
  for (const Kept& kept : kTables) {
    ASSIGN_OR_RETURN(auto answer,
                     server->Select(fmt::format(
                         "SELECT partition AS name, sum(rows) AS n, sum(bytes_on_disk) AS size FROM system.parts WHERE "
                         "active AND database = {} AND table = {} GROUP BY partition",
                         Quoted(server->database()), Quoted(kept.table))));
    for (size_t row = 0; row < answer.rows; ++row) {
      const std::string name = answer.Text("name", row);
      uint32_t number = 0;
      const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
      if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
      const uint64_t length = uint64_t{kept.partition_days} * kDay;
      const uint64_t to = (uint64_t{number} + 1) * length;
      if (to + uint64_t{retention.*kept.days} * kDay > now) continue;
      expired.push_back({kept.table, name, static_cast<uint32_t>(to - length), static_cast<uint32_t>(to),
                         answer.Number("n", row), answer.Number("size", row)});
    }
  }
  std::ranges::sort(expired, {}, [](const Partition& one) { return std::tuple(one.from, one.table); });
  return expired;
}

Status Drop(Server* server, const Partition& partition) {
  return server->Run(
      fmt::format("ALTER TABLE {}.{} DROP PARTITION {}", server->database(), partition.table, partition.name));
}

}  // namespace heaprec::tools::fleet
