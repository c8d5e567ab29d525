// Whose code a frame is, told by its name, and the place of its package among the colours.
//
// Context:  pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/export/flame/flame_graph.h"

namespace heaprec::tools {

// Of "java.util.HashMap.resize", "[truncated]", "[unknown]": all but kNative, kFolded and kClass, which no name tells.
FrameKind KindOfFrame(std::string_view name);

// The same for every class of a package, in every graph: 0 to 255.
uint8_t HueOfFrame(std::string_view name);

// "Class.method:line" and "method:line" of a frame; of a class its simple name twice.
std::string_view ShortName(const FlameName& name, bool shortest);

}  // namespace heaprec::tools
