// One line on stderr, in the form all of the command's messages have: "heaprec: what and where".
#pragma once

#include <string_view>

namespace heaprec::tools {

void PrintError(std::string_view sentence);

}  // namespace heaprec::tools
