// Names as numbers that are the same on all hosts: hashes.
//
// Context:  pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace heaprec::tools::fleet {

enum class NameKind : uint8_t { kClass = 1, kMethod = 2 };

// Returns the id of a name as shown (generated_names.h); never 0, which means "any" in the tables.
uint64_t NameId(NameKind kind, std::string_view name);

}  // namespace heaprec::tools::fleet
