// Names as numbers that are the same on all hosts: hashes of what a JVM did not make up.
//
// Context:  pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heaprec::tools::fleet {

enum class NameKind : uint8_t { kClass = 1, kMethod = 2 };

// Without the numbers and addresses of lambdas, proxies, generated accessors and enhanced classes:
// "com.sun.proxy.$Proxy12.run" is "com.sun.proxy.$Proxy.run".
std::string FleetName(std::string_view name);

// Returns the id of a normalised name; never 0, which means "any" in the tables.
uint64_t NameId(NameKind kind, std::string_view name);

}  // namespace heaprec::tools::fleet
