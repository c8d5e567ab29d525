// Lines of styled text: what is drawn on a terminal, or printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heaprec::tools {

enum class Style : uint8_t { kPlain, kStrong, kDim, kGood, kWarning, kBad, kCurve, kSelected };

struct StyledText {
  std::string text;  // valid UTF-8 without control characters
  Style style = Style::kPlain;
};
using FrameLine = std::vector<StyledText>;
using Frame = std::vector<FrameLine>;

}  // namespace heaprec::tools
