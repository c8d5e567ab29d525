#include "tools/text/csv_field.h"

namespace heaprec::tools {

void AppendCsvField(std::string_view utf8, Text& into) {
  // One after the other is faster than all at once: fields are long.
  const bool is_plain = utf8.find(',') == std::string_view::npos && utf8.find('"') == std::string_view::npos &&
                        utf8.find('\n') == std::string_view::npos && utf8.find('\r') == std::string_view::npos;
  if (is_plain) return Append(into, utf8);
  into.push_back('"');
  for (const char c : utf8) {
    if (c == '"') into.push_back('"');
    into.push_back(c);
  }
  into.push_back('"');
}

}  // namespace heaprec::tools
