#include "tools/render/value_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools::render {
namespace {

// A unit of a quantity: numbers below the next unit's `size` are shown in it.
struct Step {
  double size;
  const char* name;    // after a value: " MiB"
  const char* suffix;  // after an end of an interval: "M"
};

constexpr size_t kBarColumns = 20;

constexpr Step kByteSteps[] = {{1, " B", " B"},
                               {1024.0, " KiB", " KiB"},
                               {1048576.0, " MiB", " MiB"},
                               {1073741824.0, " GiB", " GiB"},
                               {1099511627776.0, " TiB", " TiB"},
                               {1125899906842624.0, " PiB", " PiB"}};
constexpr Step kCountSteps[] = {{1, "", ""}, {1e3, " k", "k"}, {1e6, " M", "M"}, {1e9, " G", "G"}, {1e12, " T", "T"}};
constexpr Step kPlainSteps[] = {{1, "", ""}};
constexpr Step kTimeSteps[] = {{1e-9, " ns", " ns"}, {1e-6, " us", " us"}, {1e-3, " ms", " ms"}, {1, " s", " s"},
                               {60, " min", " min"}, {3600, " h", " h"},   {86400, " d", " d"}};

// How a quantity is shown.
struct Scale {
  std::span<const Step> steps;
  bool is_whole = false;   // whole values below the second step have no decimals
  bool is_signed = false;  // "+1.20"
  const char* after = "";  // "/s"
};

Scale ScaleOf(Unit unit) {
  if (unit == Unit::kBytes) return {kByteSteps, true, false, ""};
  if (unit == Unit::kBytesPerSecond) return {kByteSteps, true, false, "/s"};
  if (unit == Unit::kGrowth) return {kByteSteps, true, true, "/s"};
  if (unit == Unit::kByteChange) return {kByteSteps, true, true, ""};
  if (unit == Unit::kCountChange) return {kCountSteps, true, true, ""};
  if (unit == Unit::kCount) return {kCountSteps, true, false, ""};
  if (unit == Unit::kPerSecond) return {kCountSteps, true, false, "/s"};
  if (unit == Unit::kSeconds) return {kTimeSteps, false, false, ""};
  return {kPlainSteps, false, false, ""};
}

// Returns the largest step of which there is at least one; minutes and hours only from two on.
const Step& StepOf(double number, const Scale& scale) {
  const double size = std::abs(number);
  const Step* step = &scale.steps[0];
  if (size == 0 && scale.steps.data() == kTimeSteps) return kTimeSteps[3];
  for (const Step& next : scale.steps) {
    const double previous = step->size;
    const bool is_long = scale.steps.data() == kTimeSteps && next.size >= 60;
    const double from = is_long                            ? 2 * next.size
                        : scale.steps.data() == kByteSteps ? 999.5 * previous
                                                           : 0.9995 * next.size;
    if (size >= from) step = &next;
  }
  return *step;
}

// At most three digits below 1,000; for a larger number its whole part.
std::string Digits(double number, const Step& step, const Scale& scale) {
  if (!std::isfinite(number)) return "?";
  const double of = number / step.size, size = std::abs(of);
  const std::string sign = of < 0 ? "-" : scale.is_signed ? "+" : "";
  if (size < 0.005) return sign == "-" ? "0" : sign + "0";
  const bool is_exact = scale.is_whole && step.size == 1 && std::abs(size - std::round(size)) < 0.005;
  return sign + fmt::format("{:.{}f}", size, is_exact || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string Alone(double number, const Scale& scale, bool is_end) {
  if (!std::isfinite(number)) return "?";
  const Step& step = StepOf(number, scale);
  return Digits(number, step, scale) + (is_end ? step.suffix : step.name) + scale.after;
}

// Whether a number has digits in this step, and no more than three before the point.
bool IsNear(double number, const Step& step, const Scale& scale) {
  const double of = std::abs(number) / step.size;
  const bool has_digits = number == 0 || of >= 0.005 || &step == &scale.steps[0];
  return !std::isfinite(number) || (has_digits && of < 999.5);
}

// Formats a range without a value. An unknown upper end gives "at least LOW".
CellText RangeCell(const Interval& of, const std::string& low, const std::string& between, const std::string& high) {
  return {std::isfinite(of.high) ? low + between + high : "at least " + low, ""};
}

// 0 has no scale; it uses that of the end of its interval.
CellText ZeroCell(const Interval& of, const Scale& scale) {
  return {Alone(0, scale, false), "0-" + Alone(of.high, {scale.steps, scale.is_whole}, true)};
}

CellText Scaled(const Interval& of, const Scale& scale) {
  const std::string between = scale.is_signed ? ".." : "-";
  if (of.is_range()) return RangeCell(of, Alone(of.low, scale, false), between, Alone(of.high, scale, false));
  const double largest = std::max(std::abs(of.low), std::abs(of.high));
  const bool by_end = (scale.is_signed || of.value == 0) && std::isfinite(largest);
  const Step& step = StepOf(by_end ? largest : of.value, scale);
  CellText cell{Digits(of.value, step, scale) + step.name + scale.after, ""};
  if (!std::isfinite(of.high)) return {std::isfinite(of.value) ? cell.value : "?", "?"};
  const std::string low = Digits(of.low, step, scale), high = Digits(of.high, step, scale);
  if (low == high && low == Digits(of.value, step, scale)) return cell;
  if (of.value == 0 && of.low == 0 && !scale.is_signed) return ZeroCell(of, scale);
  const bool has_own = scale.steps.data() == kCountSteps && step.size > 1;
  if (!has_own && IsNear(of.low, step, scale) && IsNear(of.high, step, scale))
    return {cell.value, low + between + high};
  cell.interval = Alone(of.low, {scale.steps, scale.is_whole, scale.is_signed}, true) + between +
                  Alone(of.high, {scale.steps, scale.is_whole, scale.is_signed}, true);
  return cell;
}

std::string Percent(double part, bool is_signed) {
  if (!std::isfinite(part)) return "?";
  return is_signed ? fmt::format("{:+.1f}", 100 * part) : fmt::format("{:.1f}", 100 * part);
}

CellText ShareCell(const Interval& of, bool is_signed, const char* after) {
  const std::string between = is_signed ? ".." : "-";
  const std::string value = Percent(of.value, is_signed), low = Percent(of.low, is_signed),
                    high = Percent(of.high, is_signed);
  if (of.is_range()) return {low + between + high + after, ""};
  return {value + after, low == value && high == value ? "" : low + between + high};
}

std::string WholeNumber(double number) {
  if (!std::isfinite(number)) return "?";
  const std::string grouped = Grouped(static_cast<uint64_t>(std::llround(std::min(std::abs(number), 9e18))));
  return number < 0 ? "-" + grouped : grouped;
}

std::string LocalTime(double epoch_ns) {
  Text text;
  ClockText(static_cast<uint64_t>(epoch_ns)).AppendLocal(text, 0);
  return fmt::to_string(text);
}

CellText NumberCell(const Interval& of, Unit unit) {
  switch (unit) {
    case Unit::kShare:
      return ShareCell(of, false, " %");
    case Unit::kChange:
      return ShareCell(of, true, " %");
    case Unit::kRatio:
      if (std::isinf(of.value)) return {"new", ""};
      return ShareCell({of.value - 1, of.low - 1, of.high - 1}, true, " %");
    case Unit::kPoints:
      return ShareCell(of, true, " points");
    case Unit::kInteger: {
      if (of.is_range()) return RangeCell(of, WholeNumber(of.low), "-", WholeNumber(of.high));
      CellText cell{WholeNumber(of.value), ""};
      if (of.low != of.value || of.high != of.value) cell.interval = WholeNumber(of.low) + "-" + WholeNumber(of.high);
      return cell;
    }
    case Unit::kProbability:
      return {of.value < 1e-4 ? "<0.0001" : fmt::format("{:.2g}", of.value), ""};
    case Unit::kNanoseconds:
      return {Duration(static_cast<uint64_t>(std::max(of.value, 0.0))), ""};
    case Unit::kEpochNs:
      return {LocalTime(of.value), ""};
    case Unit::kText:
    case Unit::kDigits:
      return {fmt::format("{}", of.value), ""};
    default:
      return Scaled(of, ScaleOf(unit));
  }
}

std::string Joined(const List& list, Unit unit, bool unicode) {
  std::string text;
  for (const Value& one : list) text += (text.empty() ? "" : ", ") + FormatInline(one, unit, unicode);
  return text;
}

// Appends the words of a line; "(s)" after a field is a plural ending.
void AppendWords(std::string_view words, bool is_one, std::string* text) {
  constexpr std::string_view kEnding = "(s)";
  for (;;) {
    const size_t at = words.find(kEnding);
    text->append(words.substr(0, at));
    if (at == std::string_view::npos) return;
    if (!is_one) text->push_back('s');
    words.remove_prefix(at + kEnding.size());
  }
}

}  // namespace

std::string Printable(const std::string& utf8) {
  Text printable;
  AppendPrintable(printable, utf8);
  return fmt::to_string(printable);
}

CellText FormatCell(const Value& value, Unit unit, bool unicode) {
  if (const auto* text = value.As<std::string>()) return {Printable(*text), ""};
  if (const auto* truth = value.As<bool>()) return {*truth ? "yes" : "no", ""};
  if (const auto* list = value.As<List>()) {
    return {unit == Unit::kSparkline ? FormatChart(value, 1, 1, unicode).front() : Joined(*list, unit, unicode), ""};
  }
  if (const auto* interval = value.As<Interval>()) return NumberCell(*interval, unit);
  // digits that a double cannot represent
  if (unit == Unit::kInteger || unit == Unit::kText || unit == Unit::kDigits) {
    const auto text = [unit](auto number) {
      return unit != Unit::kInteger ? fmt::to_string(number) : WholeNumber(static_cast<double>(number));
    };
    if (const auto* number = value.As<uint64_t>()) {
      return {unit == Unit::kInteger ? Grouped(*number) : fmt::to_string(*number), ""};
    }
    if (const auto* number = value.As<int64_t>()) return {text(*number), ""};
  }
  const auto number = value.Number();
  if (number && unit == Unit::kBar) return {FormatBar(value, kBarColumns, unicode), ""};
  if (!number) return {"unknown", ""};
  return NumberCell({*number, *number, *number}, unit);
}

CellText FormatCell(const Row& row, size_t column, Unit unit, bool unicode) {
  if (unit != Unit::kByRow) return FormatCell(row.cells[column], unit, unicode);
  CellText cell = FormatCell(row.cells[column], row.unit, unicode);
  if (!row.cells[column].is_unknown()) cell.value += row.suffix;
  return cell;
}

std::string FormatBar(const Value& part, size_t columns, bool unicode) {
  return Bar(part.Number().value_or(0), columns, unicode);
}

std::vector<std::string> FormatChart(const Value& list, size_t height, size_t repeat, bool unicode) {
  std::vector<double> values;
  double peak = 0;
  const auto* of = list.As<List>();
  for (const Value& one : of != nullptr ? *of : List()) {
    values.insert(values.end(), repeat, one.Number().value_or(0));
    peak = std::max(peak, values.back());
  }
  std::vector<std::string> lines;
  for (size_t line = 0; line < height; ++line) lines.push_back(ChartLine(values, peak, line, height, unicode));
  return lines;
}

std::string FormatInline(const Value& value, Unit unit, bool unicode) {
  return FormatInline(FormatCell(value, unit, unicode));
}

std::string FormatInline(const CellText& cell) {
  return cell.interval.empty() ? cell.value : fmt::format("{} ({})", cell.value, cell.interval);
}

std::string FormatLine(const Line& line, bool unicode) {
  if (line.fields.empty()) return Printable(line.text);  // it may contain braces
  std::string text;
  size_t at = 0, field = 0;
  bool is_one = false;
  for (;;) {
    const size_t open = line.text.find('{', at);
    AppendWords(std::string_view(line.text).substr(at, open == std::string::npos ? open : open - at), is_one, &text);
    if (open == std::string::npos) return text;
    const size_t close = line.text.find('}', open);
    const Field& of = line.fields.at(field++);
    const bool is_value = line.text.compare(open, close - open, "{value") == 0;
    const bool is_counted = of.unit == Unit::kCount && line.text.compare(close + 1, 1, " ") == 0;
    const std::string shown = of.value.is_unknown() && is_counted ? "an unknown number of"
                              : is_value                          ? FormatCell(of.value, of.unit, unicode).value
                                                                  : FormatInline(of.value, of.unit, unicode);
    text += shown;
    is_one = shown == "1";
    at = close + 1;
  }
}

}  // namespace heaprec::tools::render
