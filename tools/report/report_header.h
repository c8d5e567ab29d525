// What stands above and below the tables of every command that adds up: how much in all, and how sure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/input/stream_traits.h"
#include "tools/query/scan.h"
#include "tools/report/group_estimates_format.h"

namespace heaprec::tools {

inline Unit UnitOf(const RecordingScan& scan) { return scan.of_exceptions() ? Unit::kEvents : Unit::kBytes; }

// What is counted beside the bytes: "objects", "blocks", "mappings".
inline const char* ItemNoun(const RecordingScan& scan) { return TraitsOf(scan.stream()).lifecycle.things; }

// "1.9 GiB allocated in 28.193 s, 68.0 MiB/s; 55.9 M objects (55.0-56.8)\n", and a line of what the filters took.
std::string Headline(const RecordingScan& scan);
// "unseen: up to 3.4 MiB of any class ...\n", and the loss line. `what`: "class or site".
std::string Footer(const RecordingScan& scan, std::string_view what);

// The members that the documents of all these commands have: schema, unit, scan, total, chosen, unseen.
nlohmann::json DocumentOf(const RecordingScan& scan, std::string_view schema);

}  // namespace heaprec::tools
