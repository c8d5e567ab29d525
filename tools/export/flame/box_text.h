// A box of a flame graph in words.
//
// Failure:  none.
#pragma once

#include <cstdint>
#include <string>

#include "tools/export/flame/flame_graph.h"

namespace heaprec::tools {

// "java.util.HashMap.resize", "… 12 more".
std::string BoxName(const FlameBox& box, const FlameName& name);

// The name, and a line for each of the first so many estimates: "bytes: 18.6 MiB (17.2 MiB to 20.1 MiB)".
std::string BoxText(const FlameGraph& graph, size_t box, size_t figures = SIZE_MAX);

}  // namespace heaprec::tools
