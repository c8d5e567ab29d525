#include "tools/fleet/server/sql_text.h"

#include <algorithm>
#include <cctype>

namespace heaprec::tools::fleet {

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    switch (c) {
      case '\'':
        quoted += "\\'";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\0':
        quoted += "\\0";
        break;
      default:
        quoted.push_back(c);
    }
  }
  return quoted + "'";
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::ranges::all_of(name, [](unsigned char c) { return (c < 0x80 && std::isalnum(c)) || c == '_'; });
}

}  // namespace heaprec::tools::fleet
