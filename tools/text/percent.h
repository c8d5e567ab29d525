// Shares and changes as percentages.
#pragma once

#include <string>

namespace heaprec::tools {

// Two significant digits below 10 %, whole percents above, never an exponent: "0.5 %", "5 %", "12 %", "200 %".
// `share` must be finite and at least 0; 1 is 100 %. Below 0.001 %: "<0.001 %", and "0 %" only for 0.
std::string ShortPercent(double share);

}  // namespace heaprec::tools
