#include "tools/report/estimate_format.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace heaprec::tools {

std::string WithInterval(const std::string& value, const std::string& low, const std::string& high) {
  return low == value && high == value ? value : fmt::format("{} ({} to {})", value, low, high);
}

nlohmann::json AsJson(const Estimate& estimate) {
  const auto number = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
  return {{"value", number(estimate.value)}, {"low", number(estimate.low)}, {"high", number(estimate.high)}};
}

}  // namespace heaprec::tools
