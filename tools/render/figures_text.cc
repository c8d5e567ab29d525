#include "tools/render/figures_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "tools/render/estimate_text.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 7> kBytes{" B", " kB", " MB", " GB", " TB", " PB", " EB"};
constexpr std::array<std::string_view, 6> kCounts{"", " k", " M", " G", " T", " P"};

// At most three digits of a number below 1,000; all of a larger one's whole part.
std::string Digits(double number, bool is_count) {
  if (!std::isfinite(number)) return "?";
  if (number == 0) return "0";
  // Of bytes and objects themselves, whole ones are exact.
  if (is_count && std::abs(number - std::round(number)) < 1e-6) return fmt::format("{:.0f}", number);
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

Cell CellOf(const Estimate& estimate, double scale, std::string_view unit) {
  const std::string value = Digits(estimate.value * scale, scale == 1);
  Cell cell{value + std::string(unit), ""};
  if (!(estimate.low > 0) && !std::isfinite(estimate.high)) return {cell.value, "?"};
  const std::string low = Digits(estimate.low * scale, scale == 1), high = Digits(estimate.high * scale, scale == 1);
  if (low != value || high != value) cell.interval = low + "-" + high;
  return cell;
}

// In the unit in which the value, or the end of what is nothing yet, has no more than three digits.
Cell Scaled(const Estimate& estimate, double step, std::span<const std::string_view> units) {
  const double size = estimate.value > 0 || !std::isfinite(estimate.high) ? estimate.value : estimate.high;
  size_t unit = 0;
  double scale = 1;
  for (; unit + 1 < units.size() && size * scale >= 999.5; ++unit) scale /= step;
  return CellOf(estimate, scale, units[unit]);
}

Cell WithSuffix(Cell cell, std::string_view suffix) {
  cell.value += suffix;
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
  const auto percent = [](double part) { return fmt::format("{:.1f}", 100 * part); };
  return {percent(share.value) + " %", percent(share.low) + "-" + percent(share.high)};
}

std::vector<Column> FigureColumns(Unit unit) {
  // Intervals of share and rate tell what that of the bytes does.
  if (unit == Unit::kEvents) return {{"events"}, {"share", Column::kStays, 1}, {"events/s", 3, 2}};
  return {{"bytes"}, {"share", Column::kStays, 1}, {"bytes/s", 3, 0}, {"objects", 7, 6}, {"mean size", 5, 4}};
}

std::vector<Cell> FigureCells(const Figures& figures, double seconds, Unit unit) {
  const Estimate rate = Rate(figures.bytes, seconds);
  if (unit == Unit::kEvents) {
    return {CountCell(figures.bytes), ShareCell(figures.share), WithSuffix(CountCell(rate), "/s")};
  }
  return {BytesCell(figures.bytes), ShareCell(figures.share), WithSuffix(BytesCell(rate), "/s"),
          CountCell(figures.objects), BytesCell(figures.mean_size)};
}

json AsJson(const Figures& figures, double seconds, Unit unit) {
  const json rate = AsJson(Rate(figures.bytes, seconds));
  json document = {{"samples", figures.samples}, {"share", AsJson(figures.share)}};
  if (unit == Unit::kEvents) {
    document["events"] = AsJson(figures.bytes);
    document["events_per_second"] = rate;
    return document;
  }
  document["bytes"] = AsJson(figures.bytes);
  document["bytes_per_second"] = rate;
  document["objects"] = AsJson(figures.objects);
  document["mean_size"] = AsJson(figures.mean_size);
  return document;
}

}  // namespace heaprec::tools
