#include "base/time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace heaprec {
namespace {

constexpr double kMaxNs = 9.2e18;

struct Unit {
  std::string_view name;
  double ns;
};
constexpr std::array<Unit, 8> kUnits{
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}}};
constexpr std::string_view kNumber = "0123456789.";

}  // namespace

std::optional<uint64_t> ParseDurationWithUnits(std::string_view text) {
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    if (kNumber.find(text.front()) == std::string_view::npos) return std::nullopt;  // "-1s", "inf"
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const std::string_view name = text.substr(0, text.find_first_of(kNumber));
    const auto unit = std::ranges::find(kUnits, name, &Unit::name);
    if (unit == kUnits.end()) return std::nullopt;
    text.remove_prefix(name.size());
    total += number * unit->ns;
  }
  if (total > kMaxNs) return std::nullopt;
  return static_cast<uint64_t>(std::llround(total));
}

std::optional<uint64_t> ParseDuration(std::string_view text) {
  const bool is_number = text.find_first_not_of(kNumber) == std::string_view::npos;
  return ParseDurationWithUnits(is_number ? std::string(text) + "s" : std::string(text));
}

std::string DurationText(uint64_t ns) {
  for (const size_t unit : {3, 2, 1}) {
    const auto size = static_cast<uint64_t>(kUnits[unit].ns);
    if (ns % size == 0) return std::to_string(ns / size).append(kUnits[unit].name);
  }
  return std::to_string(ns) + "ns";
}

}  // namespace heaprec
