#include "tools/report/estimate_format.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

enum class Rounding { kDown, kUp };

std::string Whole(double number) {
  return number < 1e18 ? Grouped(static_cast<uint64_t>(std::llround(number))) : fmt::format("{:.3g}", number);
}

// To three significant digits, and to a whole number.
double ThreeDigits(double number, Rounding rounding) {
  if (!(number > 0) || !std::isfinite(number)) return number;
  const double unit = std::max(1.0, std::pow(10, std::floor(std::log10(number)) - 2));
  return (rounding == Rounding::kDown ? std::floor(number / unit) : std::ceil(number / unit)) * unit;
}

}  // namespace

std::string WithInterval(const std::string& value, const std::string& low, const std::string& high) {
  return low == value && high == value ? value : fmt::format("{} ({} to {})", value, low, high);
}

std::string BytesText(const Estimate& bytes) {
  if (IsUnknown(bytes)) return "unknown";
  if (IsRange(bytes)) return fmt::format("{} to {}", Bytes(bytes.low), Bytes(bytes.high));
  if (std::isinf(bytes.high)) return fmt::format("{} (at least {})", Bytes(bytes.value), Bytes(bytes.low));
  return WithInterval(Bytes(bytes.value), Bytes(bytes.low), Bytes(bytes.high));
}

std::string CountText(const Estimate& count) {
  if (IsUnknown(count)) return "unknown";
  if (IsRange(count)) {
    return fmt::format("{} to {}", Whole(ThreeDigits(count.low, Rounding::kDown)),
                       Whole(ThreeDigits(count.high, Rounding::kUp)));
  }
  if (std::isinf(count.high)) return fmt::format("{} (at least {})", Whole(count.value), Whole(count.low));
  if (count.low == count.high) return Whole(count.value);
  return WithInterval(Whole(count.value), Whole(ThreeDigits(count.low, Rounding::kDown)),
                      Whole(ThreeDigits(count.high, Rounding::kUp)));
}

std::string CountText(const Estimate& count, std::string_view things) {
  return fmt::format("{} {}", IsUnknown(count) ? "an unknown number of" : CountText(count), things);
}

nlohmann::json AsJson(const Estimate& estimate) {
  const auto number = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
  return {{"value", number(estimate.value)}, {"low", number(estimate.low)}, {"high", number(estimate.high)}};
}

}  // namespace heaprec::tools
