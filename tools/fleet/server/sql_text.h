// How texts get into SQL: as literals, or as names that were checked.
//
// Context:  pure functions.
#pragma once

#include <string>
#include <string_view>

namespace heaprec::tools::fleet {

// 'text' as a literal of SQL.
std::string Quoted(std::string_view text);
// Letters, digits and _ only.
bool IsIdentifier(std::string_view name);

}  // namespace heaprec::tools::fleet
