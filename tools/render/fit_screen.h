// Makes a report fit a screen: its tables get fewer rows, or are left out.
//
// Context:  pure function.
#pragma once

#include <cstddef>

#include "tools/render/report.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {

// Removes table rows of `group`, evenly, until its text has at most `max_lines` lines on the terminal, wrapped lines
// included. A table without room for a row is left out, the last one first. Other lines stay, so the text may be
// longer. The tables must be direct sections of the group and have one line a row.
void FitScreen(const Terminal& terminal, size_t max_lines, Group* group);

}  // namespace heaprec::tools::render
