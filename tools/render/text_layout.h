// A table as lines of a terminal.
//
//    bytes 95 %       share  class
// 9.65 MiB 8.12-11.5  8.8 %  com.sun.tools.javac.util.List
#pragma once

#include <string>

#include "tools/render/report.h"
#include "tools/text/terminal.h"

namespace heaprec::tools::render {

std::string LayOut(const Table& table, const Terminal& terminal, bool wide);

}  // namespace heaprec::tools::render
