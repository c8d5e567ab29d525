#include "tools/text/percent.h"

#include <fmt/format.h>

namespace heaprec::tools {

std::string ShortPercent(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1e-3) return "<0.001 %";
  return percent < 9.95 ? fmt::format("{:.2g} %", percent) : fmt::format("{:.0f} %", percent);
}

}  // namespace heaprec::tools
