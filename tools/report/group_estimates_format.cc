#include "tools/report/group_estimates_format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "tools/report/estimate_format.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kBytes{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
constexpr std::array<std::string_view, 6> kCounts{"", " k", " M", " G", " T", " P"};

// At most three digits of a number below 1,000; all of a larger one's whole part.
std::string Digits(double number, bool is_count) {
  if (!std::isfinite(number)) return "?";
  if (std::abs(number) < 0.005) return "0";
  // Of bytes and objects themselves, whole ones are exact, as far as digits tell.
  if (is_count && std::abs(number - std::round(number)) < 0.005) return fmt::format("{:.0f}", number);
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

struct Scale {
  double factor = 1;
  std::string_view unit;
};

// In which a number has no more than three digits before the point.
Scale ScaleOf(double size, double step, std::span<const std::string_view> units) {
  Scale scale{1, units[0]};
  for (size_t unit = 0; unit + 1 < units.size() && size * scale.factor >= 999.5;) {
    scale = {scale.factor / step, units[++unit]};
  }
  return scale;
}

// Whether a number has digits in this unit, and no more than three before the point. Below the first unit there is
// none.
bool IsNear(double number, double factor) {
  const bool has_digits = factor == 1 || number == 0 || number * factor >= 0.005;
  return !std::isfinite(number) || (has_digits && number * factor < 999.5);
}

std::string TextIn(double number, const Scale& scale) { return Digits(number * scale.factor, scale.factor == 1); }

// Of a number by itself. A bare "k" sticks to it.
std::string WithUnit(double number, double step, std::span<const std::string_view> units) {
  const Scale scale = ScaleOf(std::isfinite(number) ? number : 0, step, units);
  const bool is_bare = units[0].empty();
  return TextIn(number, scale) + std::string(scale.unit.substr(is_bare && !scale.unit.empty() ? 1 : 0));
}

// In the unit in which the value, or the end of what is nothing yet, has no more than three digits. So are the ends of
// the interval, unless that is no unit for them; and a "k" of counts is said of each, for "36.2 k 6.38-205" might be
// read as if it were of the first number alone.
Cell Scaled(const Estimate& estimate, double step, std::span<const std::string_view> units) {
  if (IsUnknown(estimate)) return {"unknown", ""};
  if (IsRange(estimate)) {
    return {WithUnit(estimate.low, step, units) + "-" + WithUnit(estimate.high, step, units), ""};
  }
  const double size = estimate.value > 0 || !std::isfinite(estimate.high) ? estimate.value : estimate.high;
  const Scale scale = ScaleOf(size, step, units);
  const std::string value = TextIn(estimate.value, scale);
  Cell cell{value + std::string(scale.unit), ""};
  if (!(estimate.low > 0) && !std::isfinite(estimate.high)) return {cell.value, "?"};
  const std::string low = TextIn(estimate.low, scale), high = TextIn(estimate.high, scale);
  if (low == value && high == value) return cell;
  const bool is_bare = units[0].empty() && !scale.unit.empty();
  const bool is_near = IsNear(estimate.low, scale.factor) && IsNear(estimate.high, scale.factor);
  cell.interval = is_near && !is_bare
                      ? low + "-" + high
                      : WithUnit(estimate.low, step, units) + "-" + WithUnit(estimate.high, step, units);
  return cell;
}

Cell WithSuffix(Cell cell, std::string_view suffix) {
  if (cell.value != "unknown") cell.value += suffix;
  return cell;
}

// Per second of what was covered; of nothing nothing is known.
Estimate Rate(const Estimate& of, double seconds) {
  return seconds > 0 ? tools::Scaled(of, 1 / seconds) : Estimate{0, 0, std::numeric_limits<double>::infinity()};
}

}  // namespace

Cell BytesCell(const Estimate& bytes) { return Scaled(bytes, 1024, kBytes); }
Cell CountCell(const Estimate& count) { return Scaled(count, 1000, kCounts); }

Cell ShareCell(const Estimate& share) {
  if (IsUnknown(share)) return {"unknown", ""};
  const auto percent = [](double part) { return fmt::format("{:.1f}", 100 * part); };
  const std::string low = percent(share.low), high = percent(share.high);
  if (IsRange(share)) return {low + "-" + high + " %", ""};
  const std::string value = percent(share.value);
  return {value + " %", low == value && high == value ? "" : low + "-" + high};
}

std::vector<Column> EstimateColumns(Unit unit, const char* things) {
  // Intervals of share and rate tell what that of the bytes does.
  if (unit == Unit::kEvents) return {{"events"}, {"share", Column::kStays, 1}, {"events/s", 3, 2}};
  return {{"bytes"}, {"share", Column::kStays, 1}, {"bytes/s", 3, 0}, {things, 7, 6}, {"mean size", 5, 4}};
}

std::vector<Cell> EstimateCells(const GroupEstimates& estimates, double seconds, Unit unit) {
  const Estimate rate = Rate(estimates.bytes, seconds);
  if (unit == Unit::kEvents) {
    return {CountCell(estimates.bytes), ShareCell(estimates.share), WithSuffix(CountCell(rate), "/s")};
  }
  return {BytesCell(estimates.bytes), ShareCell(estimates.share), WithSuffix(BytesCell(rate), "/s"),
          CountCell(estimates.objects), BytesCell(estimates.mean_size)};
}

json AsJson(const GroupEstimates& estimates, double seconds, Unit unit) {
  const json rate = AsJson(Rate(estimates.bytes, seconds));
  json document = {{"samples", estimates.samples}, {"share", AsJson(estimates.share)}};
  if (unit == Unit::kEvents) {
    document["events"] = AsJson(estimates.bytes);
    document["events_per_second"] = rate;
    return document;
  }
  document["bytes"] = AsJson(estimates.bytes);
  document["bytes_per_second"] = rate;
  document["objects"] = AsJson(estimates.objects);
  document["mean_size"] = AsJson(estimates.mean_size);
  return document;
}

}  // namespace heaprec::tools
