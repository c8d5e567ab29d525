#include "tools/report/report_header.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/report/estimate_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string With(const Cell& cell, std::string_view what = "") {
  const std::string interval = cell.interval.empty() ? "" : fmt::format(" ({})", cell.interval);
  return fmt::format("{}{}{}", cell.value, what, interval);
}

std::string PerSecond(const Survey& survey, const Estimate& total) {
  const double seconds = survey.covered().seconds;
  if (!(seconds > 0)) return "";
  const Estimate rate = Scaled(total, 1 / seconds);
  const Cell cell = survey.of_exceptions() ? CountCell(rate) : BytesCell(rate);
  return fmt::format(", {}/s", cell.value);
}

}  // namespace

std::string Headline(const Survey& survey) {
  const bool events = survey.of_exceptions();
  const char* const how = events ? "thrown" : survey.stream() == format::Stream::kMapped ? "mapped" : "allocated";
  const Figures& chosen = survey.chosen();
  const auto seconds_ns = static_cast<uint64_t>(survey.covered().seconds * 1e9);
  std::string text;
  if (survey.chooses_all()) {
    text = With(events ? CountCell(survey.total()) : BytesCell(survey.total()), fmt::format(" {}", how));
  } else {
    text = fmt::format("{}, {} of all that was {}", With(events ? CountCell(chosen.bytes) : BytesCell(chosen.bytes)),
                       With(ShareCell(chosen.share)), how);
  }
  text += fmt::format(" in {}{}", Duration(seconds_ns), PerSecond(survey, chosen.bytes));
  if (!events && IsUnknown(chosen.objects)) return text + fmt::format("; an unknown number of {}\n", ThingsOf(survey));
  if (!events) text += "; " + With(CountCell(chosen.objects), fmt::format(" {}", ThingsOf(survey)));
  return text + "\n";
}

std::string Bottomline(const Survey& survey, std::string_view what) {
  const Estimate& unseen = survey.unseen().bytes;
  const double most = unseen.high;
  const std::string amount = survey.of_exceptions() ? CountCell({most, most, most}).value : Bytes(most);
  return fmt::format("unseen: up to {} of any {} that has no sample here (95 %)\n{}", amount, what, survey.LossLine());
}

nlohmann::json DocumentOf(const Survey& survey, std::string_view schema) {
  const Unit unit = UnitOf(survey);
  const double seconds = survey.covered().seconds;
  return {{"schema", schema},
          {"unit", unit == Unit::kBytes ? "bytes" : "events"},
          {"survey", survey.AsJson()},
          {"total", AsJson(survey.total())},
          {"chosen", AsJson(survey.chosen(), seconds, unit)},
          {"unseen", AsJson(survey.unseen(), seconds, unit)}};
}

}  // namespace heaprec::tools
