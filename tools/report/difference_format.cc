#include "tools/report/difference_format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string Positive(double value, const ValueStyle& style) {
  switch (style.unit) {
    case ValueStyle::Unit::kShare:
      return fmt::format("{:.1f} %", 100 * value);
    case ValueStyle::Unit::kCount:
      return value < 100 ? fmt::format("{:.3g}", value) : Grouped(static_cast<uint64_t>(std::llround(value)));
    case ValueStyle::Unit::kBytes:
      break;
  }
  return Bytes(value);
}

// "+18.6 MiB", of a number that may be below 0.
std::string Signed(double value, const ValueStyle& style) {
  if (std::isnan(value)) return "unknown";
  if (!std::isfinite(value)) return value < 0 ? "-∞" : "∞";
  const char* const sign = value < 0 ? "-" : "+";
  if (style.unit == ValueStyle::Unit::kShare) return fmt::format("{}{:.1f} points", sign, 100 * std::abs(value));
  return sign + Positive(std::abs(value), style) + style.suffix;
}

std::string RatioDigits(double ratio) {
  if (std::isinf(ratio)) return "∞";
  return fmt::format("{:.{}f}", ratio, ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

std::string PercentText(double ratio) { return std::isinf(ratio) ? "∞" : fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

}  // namespace

const char* VerdictName(Verdict verdict) {
  static constexpr std::array<const char*, 5> kNames{"same", "more", "less", "new", "gone"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string ValueText(double value, const ValueStyle& style) {
  if (std::isnan(value)) return "unknown";
  return std::isfinite(value) ? Positive(value, style) + style.suffix : "?";
}

std::string ChangeText(const Estimate& change, const ValueStyle& style) { return Signed(change.value, style); }

std::string ChangeIntervalText(const Estimate& change, const ValueStyle& style) {
  if (IsUnknown(change)) return "";
  ValueStyle plain = style;
  plain.suffix.clear();
  return fmt::format("({} to {})", Signed(change.low, plain), Signed(change.high, plain));
}

std::string RatioText(double ratio) { return std::isnan(ratio) ? "unknown" : "x" + RatioDigits(ratio); }

std::string TotalText(const Difference& of, const ValueStyle& style) {
  const std::string values =
      fmt::format("{} before, {} after", ValueText(of.before.value, style), ValueText(of.after.value, style));
  if (!std::isfinite(of.ratio.value)) return values;
  const bool exact = of.before.low == of.before.high && of.after.low == of.after.high;
  const std::string interval = exact
                                   ? std::string(", counted")
                                   : fmt::format(" ({} to {})", PercentText(of.ratio.low), PercentText(of.ratio.high));
  return fmt::format("{}{}: {}", PercentText(of.ratio.value), interval, values);
}

}  // namespace heaprec::tools
