// A recording as data of the report page: data.js and model.js read it.
#pragma once

#include <string>
#include <string_view>

#include "tools/query/samples/sample_columns.h"
#include "tools/render/value.h"

namespace heaprec::tools {

// `facts`: name of the file, JVM, headlines, tables of the tabs: passed on to the page as they are.
std::string ReportData(const SampleColumns& columns, render::Object facts);

// The report page: one HTML file with style, scripts and data, and a policy that lets nothing else in.
struct ReportPage {
  std::string title;
  std::string data, other_data;  // of ReportData; other_data: of the recording to compare with, or empty
};

std::string ReportHtml(const ReportPage& page);

// The files of the report page as they stand beside this one, and dygraphs as Debian packages it. Made by the rule
// :page_source_file.
extern const std::string_view kReportHtml, kReportStyle, kReportScript, kDygraphScript;

}  // namespace heaprec::tools
