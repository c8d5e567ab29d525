// The files of the report page as they stand beside this one, and dygraphs as Debian packages it. Made by the rule
// :page_source_file.
#pragma once

#include <string_view>

namespace heaprec::tools {

extern const std::string_view kReportHtml, kReportStyle, kReportScript, kDygraphScript;

}  // namespace heaprec::tools
