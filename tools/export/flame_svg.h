// A flame graph as a picture: what a frame is and holds stands in its title, which browsers show when the
// pointer rests on it. No script.
//
// Units:    pixels.
// Failure:  none.
#pragma once

#include <cstdint>

#include "tools/export/flame_graph.h"
#include "tools/text/text.h"

namespace heaprec::tools {

inline constexpr double kPictureWidth = 1200;

// Boxes too narrow to be seen are left out.
void AppendFlamePicture(const FlameGraph& graph, Text& into);

}  // namespace heaprec::tools
