// Differences as text.
#pragma once

#include <string>
#include <string_view>

#include "tools/analysis/estimate/difference.h"

namespace heaprec::tools {

// How the values of a comparison are written.
struct ValueStyle {
  enum class Unit : uint8_t { kBytes, kCount, kShare };
  Unit unit = Unit::kBytes;
  std::string suffix;  // "/s", "/op"
};

// "more", "less", "new", "gone"; "same" for what may be noise.
const char* VerdictName(Verdict verdict);

// "18.6 MiB/s"
std::string ValueText(double value, const ValueStyle& style);
// "+18.6 MiB/s", of shares "+1.2 points"; and "(+17.1 to +20.0 MiB)".
std::string ChangeText(const Estimate& change, const ValueStyle& style);
std::string ChangeIntervalText(const Estimate& change, const ValueStyle& style);
// "x1.52"
std::string RatioText(double ratio);
// "+6.5 % (+3.1 % to +9.9 %): 68.0 MiB/s before, 72.4 MiB/s after"
std::string TotalText(const Difference& difference, const ValueStyle& style);

}  // namespace heaprec::tools
