// The report page: one HTML file with style, scripts and data, and a policy that lets nothing else in.
#pragma once

#include <string>
#include <string_view>

namespace heaprec::tools {

struct ReportPage {
  std::string title;
  std::string data, other_data;  // of ReportData; other_data: of the recording to compare with, or empty
};

std::string ReportHtml(const ReportPage& page);

}  // namespace heaprec::tools
