// A flame graph as a picture: what a frame is and holds is in its title, which browsers show when the pointer rests on
// it. No script. Names are untrusted text in valid UTF-8, and are escaped.
#pragma once

#include <string>

#include "tools/query/allocations/flame_query.h"
#include "tools/text/text.h"

namespace heaprec::tools {

struct FlameCaption {
  std::string title, headline;
  bool icicle = false;  // root at the top
};

// Appends the boxes that `scan` chose, except those too narrow to be seen. Returns the number of chosen boxes.
size_t AppendFlamePicture(const FlameScan& scan, const FlameCaption& caption, Text& into);

}  // namespace heaprec::tools
