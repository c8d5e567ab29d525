#include "tools/export/check_formats.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/render/value_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using render::FormatInline;
using render::Unit;
using render::Value;

std::string Markup(std::string_view text) {
  Text escaped;
  AppendMarkup(escaped, text);
  return fmt::to_string(escaped);
}

std::string Amount(const CheckResult& of, const Value& value) {
  render::Row row;
  row.cells = {value}, row.unit = of.unit, row.suffix = of.suffix;
  return FormatInline(FormatCell(row, 0, Unit::kByRow, true));
}

std::string Sentence(const CheckResult& check) {
  if (check.outcome == CheckOutcome::kUnknown) {
    return fmt::format("unknown ({}), {} allowed",
                       check.why_unknown.empty() ? "not in the recording" : check.why_unknown, AllowedText(check));
  }
  return fmt::format("{} measured, {} allowed{}", MeasuredText(check), AllowedText(check),
                     check.needs_runs ? "; one run per side is not sufficient" : "");
}

// Escapes what would end a workflow command, or one of its properties.
std::string WorkflowText(std::string_view text, bool is_property) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','))) {
      escaped += fmt::format("%{:02X}", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Reasons(const CheckAnswer& answer) {
  return Markup(render::Printable(fmt::format("{}", fmt::join(TrustTexts(answer), "; "))));
}

void AppendTestCase(std::string_view name, std::string_view content, std::string* xml) {
  *xml += fmt::format(
      "    <testcase classname=\"heaprec.check\" name=\"{}\" time=\"0\">\n      {}\n    "
      "</testcase>\n",
      Markup(name), content);
}

void AppendTestCase(const CheckResult& check, std::string* xml) {
  static constexpr std::array<std::string_view, 4> kContents{
      "<system-out>{0}</system-out>", "<failure type=\"budget\" message=\"{0}\">{0}</failure>",
      "<skipped message=\"inconclusive: {0}\"/>", "<error type=\"unknown\" message=\"{0}\">{0}</error>"};
  const std::string sentence = Markup(Sentence(check));
  AppendTestCase(check.name, fmt::format(fmt::runtime(kContents[static_cast<size_t>(check.outcome)]), sentence), xml);
}

}  // namespace

std::string MeasuredText(const CheckResult& check) {
  if (!check.difference) return Amount(check, check.value);
  const Difference& of = *check.difference;
  if (IsUnknown(of.ratio)) return "unknown";
  if (!(of.before.value > 0) && of.after.value > 0) return "new, " + Amount(check, of.after);
  return fmt::format("{}, from {} to {}", FormatInline(of.ratio, Unit::kRatio, true), Amount(check, of.before.value),
                     Amount(check, of.after.value));
}

std::string AllowedText(const CheckResult& check) {
  return check.difference ? FormatInline(check.limit, Unit::kRatio, true) : Amount(check, check.limit);
}

std::string WithheldText(const CheckAnswer& answer) {
  return fmt::format("inconclusive: the {} is untrustworthy", answer.doubt.empty() ? "baseline" : "recording");
}

std::string RowsText(const CheckedRows& rows) {
  if (!rows.is_judged) return fmt::format("by {}: no verdict, because one run per side is not sufficient", rows.by);
  return fmt::format("by {}: {} of {} exceeded against the baseline", rows.by, rows.exceeded.size(),
                     Grouped(rows.count));
}

std::vector<std::string> TrustTexts(const CheckAnswer& answer) {
  std::vector<std::string> texts;
  if (!answer.doubt.empty()) texts.push_back("trustworthy: " + answer.doubt);
  if (!answer.doubt_of_baseline.empty()) texts.push_back("baseline trustworthy: " + answer.doubt_of_baseline);
  return texts;
}

std::string AsJunit(const CheckAnswer& answer) {
  const std::vector<CheckResult> all = answer.All();
  const bool is_withheld = answer.IsWithheld();
  const bool rows_kept = answer.rows && answer.rows->exceeded.empty() && !is_withheld;
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                                         all.size() + rows_kept + is_withheld, answer.Exceeded(),
                                         answer.Count(CheckOutcome::kUnknown) + is_withheld,
                                         answer.Count(CheckOutcome::kInconclusive), answer.seconds);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"heaprec check\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n",
      counts, Markup(answer.recording));
  for (const CheckResult& check : all) AppendTestCase(check, &xml);
  // A comparison of all rows counts as one test that has passed.
  if (rows_kept) {
    AppendTestCase(fmt::format("every {} against the baseline", answer.rows->by),
                   fmt::format("<system-out>{}</system-out>", Markup(RowsText(*answer.rows))), &xml);
  }
  // An error, not a failure: it is unknown whether a budget is exceeded.
  if (is_withheld) {
    AppendTestCase(
        "the recording is trustworthy",
        fmt::format("<error type=\"untrustworthy\" message=\"{}\">{}</error>", WithheldText(answer), Reasons(answer)),
        &xml);
  }
  if (const std::string reasons = Reasons(answer); !reasons.empty()) {
    xml += fmt::format("    <system-err>{}</system-err>\n", reasons);
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

std::string AsGitHub(const CheckAnswer& answer) {
  static constexpr std::array<std::string_view, 4> kLevels{"", "error", "warning", "error"};
  std::string lines;
  const auto append = [&lines](std::string_view level, const std::string& title, const std::string& message) {
    lines += fmt::format("::{} title={}::{}\n", level, WorkflowText(title, /*is_property=*/true),
                         WorkflowText(message, /*is_property=*/false));
  };
  for (const CheckResult& check : answer.All()) {
    if (check.outcome == CheckOutcome::kWithin && !answer.IsWithheld()) continue;
    const auto outcome = static_cast<size_t>(answer.IsWithheld() ? CheckOutcome::kInconclusive : check.outcome);
    append(kLevels[outcome], "heaprec: " + check.name, Sentence(check));
  }
  for (const std::string& doubt : TrustTexts(answer)) {
    append(answer.IsWithheld() ? "error" : "warning", "heaprec: " + answer.recording, doubt);
  }
  return lines;
}

std::string AsSarif(const CheckAnswer& answer) {
  using Json = nlohmann::json;
  static constexpr std::array<const char*, 4> kLevels{"none", "error", "warning", "warning"};
  static constexpr std::array<const char*, 4> kKinds{"pass", "fail", "review", "open"};
  Json results = Json::array();
  for (const CheckResult& check : answer.All()) {
    const auto outcome = static_cast<size_t>(answer.IsWithheld() ? CheckOutcome::kUnknown : check.outcome);
    results.push_back({{"ruleId", "heaprec.budget"},
                       {"level", kLevels[outcome]},
                       {"kind", kKinds[outcome]},
                       {"message", {{"text", fmt::format("{}: {}", check.name, Sentence(check))}}},
                       {"locations", {{{"physicalLocation", {{"artifactLocation", {{"uri", answer.recording}}}}}}}}});
  }
  for (const std::string& doubt : TrustTexts(answer)) {
    results.push_back({{"ruleId", "heaprec.trustworthy"}, {"level", "warning"}, {"message", {{"text", doubt}}}});
  }
  const auto rule = [](const char* id, const char* text) {
    return Json{{"id", id}, {"shortDescription", {{"text", text}}}};
  };
  const Json driver = {{"name", "heaprec"},
                       {"rules",
                        {rule("heaprec.budget", "An allocation budget"),
                         rule("heaprec.trustworthy", "Whether the numbers are trustworthy")}}};
  const Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                         {"version", "2.1.0"},
                         {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heaprec::tools
