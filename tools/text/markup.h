// Text in XML and HTML, as content or within quotes.
//
// Failure:  none: what XML 1.0 has no character for becomes U+FFFD.
#pragma once

#include <string_view>

#include "tools/text/text.h"

namespace heaprec::tools {

void AppendMarkup(Text& text, std::string_view utf8);

}  // namespace heaprec::tools
