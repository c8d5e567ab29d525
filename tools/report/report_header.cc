#include "tools/report/report_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/input/stream_traits.h"
#include "tools/report/estimate_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string With(const Cell& cell, std::string_view what = "") {
  const std::string interval = cell.interval.empty() ? "" : fmt::format(" ({})", cell.interval);
  return fmt::format("{}{}{}", cell.value, what, interval);
}

std::string PerSecond(const RecordingScan& scan, const Estimate& total) {
  const double seconds = scan.scanned().seconds;
  if (!(seconds > 0)) return "";
  const Estimate rate = Scaled(total, 1 / seconds);
  const Cell cell = scan.of_exceptions() ? CountCell(rate) : BytesCell(rate);
  return fmt::format(", {}/s", cell.value);
}

}  // namespace

std::string Headline(const RecordingScan& scan) {
  const bool events = scan.of_exceptions();
  const char* const how = TraitsOf(scan.stream()).verb;
  const GroupEstimates& matched = scan.matched();
  const auto seconds_ns = static_cast<uint64_t>(scan.scanned().seconds * 1e9);
  std::string text;
  if (scan.chooses_all()) {
    text = With(events ? CountCell(scan.total()) : BytesCell(scan.total()), fmt::format(" {}", how));
  } else {
    text = fmt::format("{}, {} of all that was {}", With(events ? CountCell(matched.bytes) : BytesCell(matched.bytes)),
                       With(ShareCell(matched.share)), how);
  }
  text += fmt::format(" in {}{}", Duration(seconds_ns), PerSecond(scan, matched.bytes));
  if (!events && IsUnknown(matched.objects)) return text + fmt::format("; an unknown number of {}\n", ItemNoun(scan));
  if (!events) text += "; " + With(CountCell(matched.objects), fmt::format(" {}", ItemNoun(scan)));
  return text + "\n";
}

std::string Footer(const RecordingScan& scan, std::string_view what) {
  const Estimate& unseen = scan.unseen().bytes;
  const double most = unseen.high;
  const std::string amount = scan.of_exceptions() ? CountCell({most, most, most}).value : Bytes(most);
  return fmt::format("unseen: up to {} of any {} that has no sample here (95 %)\n{}", amount, what, scan.LossLine());
}

nlohmann::json DocumentOf(const RecordingScan& scan, std::string_view schema) {
  const Unit unit = UnitOf(scan);
  const double seconds = scan.scanned().seconds;
  return {{"schema", schema},
          {"unit", unit == Unit::kBytes ? "bytes" : "events"},
          {"survey", scan.AsJson()},
          {"total", AsJson(scan.total())},
          {"chosen", AsJson(scan.matched(), seconds, unit)},
          {"unseen", AsJson(scan.unseen(), seconds, unit)}};
}

}  // namespace heaprec::tools
