// Names as the JVM stores them (modified UTF-8), made fit for any output.
//
// U+0000 in two bytes and surrogate pairs in six become standard UTF-8; what is neither becomes U+FFFD. The result is
// always valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace heaprec::tools {

std::string ToUtf8(std::string_view modified_utf8);

}  // namespace heaprec::tools
