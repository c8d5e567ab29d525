#include "tools/fleet/server/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kDay = 86'400;

// Tables by partitions of so many days (schema/tables.sql), and which retention they have.
struct Kept {
  const char* table;
  uint32_t partition_days;
  uint32_t Retention::*days;
};
constexpr Kept kTables[] = {{"samples", 1, &Retention::sample_days}, {"sums", 1, &Retention::sample_days},
                            {"live", 1, &Retention::sample_days},    {"hours", 1, &Retention::sum_days},
                            {"totals", 1, &Retention::sum_days},     {"shipped", 30, &Retention::sum_days}};

}  // namespace

format::Result<std::vector<Partition>> ExpiredPartitions(Server* server, const Retention& retention, uint32_t now) {
  std::vector<Partition> expired;
  for (const Kept& kept : kTables) {
    auto answer = server->Select(
        fmt::format("SELECT partition AS name, sum(rows) AS n, sum(bytes_on_disk) AS size FROM system.parts WHERE "
                    "active AND database = {} AND table = {} GROUP BY partition",
                    Quoted(server->database()), Quoted(kept.table)));
    if (!answer.ok()) return answer.error();
    for (size_t row = 0; row < answer->rows; ++row) {
      const std::string name = answer->Text("name", row);
      uint32_t number = 0;
      const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
      if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
      const uint64_t length = uint64_t{kept.partition_days} * kDay;
      const uint64_t to = (uint64_t{number} + 1) * length;
      if (to + uint64_t{retention.*kept.days} * kDay > now) continue;
      expired.push_back({kept.table, name, static_cast<uint32_t>(to - length), static_cast<uint32_t>(to),
                         answer->Number("n", row), answer->Number("size", row)});
    }
  }
  std::ranges::sort(expired, {}, [](const Partition& one) { return std::tuple(one.from, one.table); });
  return expired;
}

std::optional<format::Error> Drop(Server* server, const Partition& partition) {
  return server->Run(
      fmt::format("ALTER TABLE {}.{} DROP PARTITION {}", server->database(), partition.table, partition.name));
}

}  // namespace heaprec::tools::fleet
