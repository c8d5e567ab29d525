// A text as a field of CSV.
#pragma once

#include <string_view>

#include "tools/text/text.h"

namespace heaprec::tools {

// Quoted as RFC 4180 asks: only when it must be, inner quotes doubled.
void AppendCsvField(std::string_view utf8, Text& into);

}  // namespace heaprec::tools
