#include "tools/report/live_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/report/difference_format.h"
#include "tools/report/estimate_format.h"
#include "tools/report/group_estimates_format.h"
#include "tools/text/bars.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

struct TimeUnit {
  double seconds;
  const char* name;
};

// In the unit in which it has no more than three digits before the point.
TimeUnit UnitOf(double seconds) {
  if (seconds < 0.9995) return {1e-3, "ms"};
  if (seconds < 120) return {1, "s"};
  if (seconds < 7200) return {60, "min"};
  return {3600, "h"};
}

std::string Digits(double number) {
  if (!std::isfinite(number)) return "?";
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

// Whether an age has digits in this unit, and no more than three before the point.
bool IsNear(double age, double unit) { return age == 0 || (age / unit >= 0.005 && age / unit < 999.5); }

Cell CellOf(const Estimate& estimate, double unit, const std::string& suffix) {
  Cell cell{Digits(estimate.value / unit) + suffix, ""};
  if (!std::isfinite(estimate.high)) {
    cell.interval = "?";
  } else if (Digits(estimate.low / unit) != Digits(estimate.high / unit)) {
    cell.interval = Digits(estimate.low / unit) + "-" + Digits(estimate.high / unit);
  }
  return cell;
}

const ValueStyle& PerSecond() {
  static const auto* style = new ValueStyle{ValueStyle::Unit::kBytes, "/s"};
  return *style;
}

json NumberOrNull(const std::optional<double>& number) { return number ? json(*number) : json(); }

}  // namespace

std::string AgeText(double seconds) {
  if (std::isnan(seconds)) return "unknown";
  if (!std::isfinite(seconds)) return "?";
  if (seconds == 0) return "0 s";
  const TimeUnit unit = UnitOf(seconds);
  return Digits(seconds / unit.seconds) + " " + unit.name;
}

Cell AgeCell(const Estimate& seconds) {
  if (IsUnknown(seconds)) return {"unknown", ""};
  if (seconds.value == 0 && !std::isfinite(seconds.high)) return {"-", ""};  // of nothing
  const TimeUnit unit = UnitOf(seconds.value);
  Cell cell = CellOf(seconds, unit.seconds, std::string(" ") + unit.name);
  const bool is_near = IsNear(seconds.low, unit.seconds) && IsNear(seconds.high, unit.seconds);
  if (std::isfinite(seconds.high) && !cell.interval.empty() && !is_near) {
    cell.interval = AgeText(seconds.low) + "-" + AgeText(seconds.high);
  }
  return cell;
}

Cell NumberCell(const Estimate& number) { return IsUnknown(number) ? Cell{"unknown", ""} : CellOf(number, 1, ""); }

Cell GrowthCell(const Estimate& bytes_per_second) {
  if (!std::isfinite(bytes_per_second.high)) return {"?", ""};
  if (bytes_per_second.low == 0 && bytes_per_second.high == 0) return {"0 B/s", ""};
  constexpr const char* kUnits[] = {"B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"};
  const double size = std::max(std::abs(bytes_per_second.low), std::abs(bytes_per_second.high));
  double scale = 1;
  size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && size * scale >= 999.5; ++unit) scale /= 1024;
  const auto part = [scale](double number) { return (number < 0 ? "-" : "+") + Digits(std::abs(number) * scale); };
  return {fmt::format("{} {}", part(bytes_per_second.value), kUnits[unit]),
          fmt::format("{}..{}", part(bytes_per_second.low), part(bytes_per_second.high))};
}

std::string GrowthText(const Estimate& bytes_per_second) {
  if (!std::isfinite(bytes_per_second.high)) return "?";
  if (std::max(std::abs(bytes_per_second.low), std::abs(bytes_per_second.high)) < 0.5) return "0 B/s";
  return ChangeText(bytes_per_second, PerSecond()) + " " + ChangeIntervalText(bytes_per_second, PerSecond());
}

std::string SurvivalLine(const std::vector<Survival>& curve, double longest_s, bool unicode) {
  constexpr int kColumns = 8;
  constexpr double kFirstAge = 0.01;
  std::vector<double> values;
  for (int i = 0; i < kColumns; ++i) {
    const double age = kFirstAge * std::pow(std::max(longest_s / kFirstAge, 1.0), i / (kColumns - 1.0));
    const auto reached = LifeSteps::ReachedAt(curve, age);
    if (!reached) break;
    values.push_back(reached->value);
  }
  std::string line = Sparkline(values, 1, unicode);
  return line.append(kColumns - values.size(), ' ');
}

json AsJson(const LiveFigures& figures) {
  return {{"samples", figures.samples},
          {"bytes", AsJson(figures.bytes)},
          {"objects", AsJson(figures.objects)},
          {"share", AsJson(figures.share)},
          {"mean_age_seconds", AsJson(figures.mean_age_s)},
          {"median_age_seconds", figures.median_age_s},
          {"mean_survived", AsJson(figures.mean_survived)},
          {"median_survived", figures.median_survived}};
}

json AsJson(const Slope& slope) {
  json document = AsJson(slope.per_second);
  document["p"] = slope.p;
  return document;
}

json AsJson(const std::vector<Survival>& curve, const char* age) {
  json points = json::array();
  for (const Survival& one : curve) {
    json point = AsJson(one.reached);
    point[age] = one.age;
    points.push_back(std::move(point));
  }
  return points;
}

json AsJson(const MedianLife& median) {
  return {
      {"value", NumberOrNull(median.value)}, {"low", NumberOrNull(median.low)}, {"high", NumberOrNull(median.high)}};
}

}  // namespace heaprec::tools
