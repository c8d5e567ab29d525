// A recording as data of the report page: data.js and model.js read it.
#pragma once

#include <string>

#include "tools/query/samples/sample_columns.h"
#include "tools/render/value.h"

namespace heaprec::tools {

// `facts`: name of the file, JVM, headlines, tables of the tabs: passed on to the page as they are.
std::string ReportData(const SampleColumns& columns, render::Object facts);

}  // namespace heaprec::tools
