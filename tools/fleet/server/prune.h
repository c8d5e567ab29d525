// Partitions of the tables that are older than what is to be kept: for servers without retention of their own.
//
// Units:    rows, bytes on disk; times in seconds since 1970.
// Threads:  one.
// Failure:  the server's sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/fleet/server/server.h"

namespace heaprec::tools::fleet {

struct Partition {
  std::string table;
  std::string name;              // as DROP PARTITION takes it
  uint32_t from = 0, to = 0;     // times of its rows
  uint64_t rows = 0, bytes = 0;  // on this shard
};

struct Retention {
  uint32_t sample_days = 14, sum_days = 400;
};

// Those that lie before the retention as a whole, the oldest first. Of this server alone: each shard has its own.
format::Result<std::vector<Partition>> ExpiredPartitions(Server* server, const Retention& retention, uint32_t now);
std::optional<format::Error> Drop(Server* server, const Partition& partition);

}  // namespace heaprec::tools::fleet
