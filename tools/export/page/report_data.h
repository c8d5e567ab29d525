// A recording as data of the report page: samples.js and recording.js read it.
//
// Threads:  one.
// Failure:  none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/query/sample_columns.h"

namespace heaprec::tools {

// `facts`: name of the file, JVM, headlines, tables of the tabs: passed on to the page as they are.
std::string ReportData(const SampleColumns& columns, nlohmann::json facts);

}  // namespace heaprec::tools
