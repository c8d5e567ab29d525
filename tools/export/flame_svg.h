// A flame graph as a picture. The description of a frame is in its title, which browsers show on hover. Contains no
// script. Names are untrusted text in valid UTF-8, and are escaped.
#pragma once

#include <string>

#include "tools/query/allocations/flame_query.h"
#include "tools/text/text.h"

namespace heaprec::tools {

struct FlameCaption {
  std::string title, headline;
  bool icicle = false;  // root at the top
};

// Appends the boxes that `scan` chose, except those that are too narrow. Returns the number of chosen boxes.
size_t AppendFlamePicture(const FlameScan& scan, const FlameCaption& caption, Text& into);

}  // namespace heaprec::tools
