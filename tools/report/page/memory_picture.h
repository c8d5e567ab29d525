// The memory of a process over time as a picture for the report page: its owners stacked, the limits, and marks where
// something ran out, at collections and at the end.
//
// Failure:  empty without an account of the process.
#pragma once

#include <string>

#include "tools/query/why/end_facts.h"
#include "tools/query/why/verdict.h"

namespace heaprec::tools {

// HTML with a drawing (SVG) of any width, whose colours are classes of report.css, and its legend.
std::string MemoryPicture(const EndFacts& facts, const EndVerdict& verdict);

}  // namespace heaprec::tools
