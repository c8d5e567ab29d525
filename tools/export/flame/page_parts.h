// The files of the page, as they stand beside this one. Made by the rule :page_parts_source.
#pragma once

#include <string_view>

namespace heaprec::tools {

extern const std::string_view kPageHtml, kPageStyle, kPageScript;

}  // namespace heaprec::tools
