// `heaprec escape` as a report: what a call allocates in each mode of the JVM's compiler.
//
// Context:  pure functions.
#pragma once

#include <string>
#include <vector>

#include "tools/query/allocations/escape_result.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// `modes`: in the order of EscapeModes(), each with an outcome of every method.
render::Report EscapeReport(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes);

}  // namespace heaprec::tools
