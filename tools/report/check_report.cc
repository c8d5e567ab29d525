#include "tools/report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/report/estimate_format.h"
#include "tools/text/markup.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string_view Word(CheckOutcome outcome) {
  static constexpr std::array<std::string_view, 4> kWords{"within", "EXCEEDED", "inconclusive", "unknown"};
  return kWords[static_cast<size_t>(outcome)];
}

constexpr std::string_view kUntrustworthy = "the recording is untrustworthy";
constexpr std::string_view kUntrustworthyBaseline = "the baseline is untrustworthy";
constexpr std::string_view kAccept = "--accept-untrustworthy judges it nevertheless";
constexpr std::string_view kAcceptImport =
    "an import from another recorder always is, because its weights are biased: record with heaprec, or let "
    "--accept-untrustworthy judge the weights as they are";

std::string Markup(std::string_view text) {
  Text escaped;
  AppendMarkup(escaped, text);
  return fmt::to_string(escaped);
}

std::string Printable(std::string_view text) {
  Text escaped;
  AppendPrintable(escaped, text);
  return fmt::to_string(escaped);
}

// Within a cell of a table, as code: no pipe ends it, no backtick either.
std::string Code(std::string_view text) {
  std::string code = "<code>";
  for (const char c : Printable(text)) {
    switch (c) {
      case '|':
        code += "&#124;";
        break;
      case '`':
        code += "&#96;";
        break;
      case '*':
        code += "&#42;";
        break;
      case '_':
        code += "&#95;";
        break;
      case '[':
        code += "&#91;";
        break;
      default:
        code += Markup(std::string_view(&c, 1));
    }
  }
  return code + "</code>";
}

std::string Sentence(const CheckResult& check) {
  if (check.outcome == CheckOutcome::kUnknown) {
    return fmt::format("the recording does not say how much it is, {} allowed", check.allowed);
  }
  return fmt::format("{} measured, {} allowed", check.measured, check.allowed);
}

// "inconclusive: the recording is untrustworthy"
std::string Inconclusive(const CheckReport& report) {
  return fmt::format("inconclusive: {}", report.doubt.empty() ? kUntrustworthyBaseline : kUntrustworthy);
}

std::string Summary(const CheckReport& report) {
  if (report.IsWithheld())
    return fmt::format("{}; {}", Inconclusive(report), report.is_imported ? kAcceptImport : kAccept);
  std::string text = fmt::format("{} of {} budgets exceeded, {} inconclusive", report.Count(CheckOutcome::kExceeded),
                                 report.checks.size(), report.Count(CheckOutcome::kInconclusive));
  if (const size_t unknown = report.Count(CheckOutcome::kUnknown)) text += fmt::format(", {} unknown", unknown);
  return text;
}

// "by site: 2 of 412 exceeded against the baseline, at a false discovery rate of 5 %"
std::string Summary(const CheckedRows& rows) {
  std::string text = fmt::format("by {}: {} of {} exceeded against the baseline, at a false discovery rate of {:.3g} %",
                                 rows.by, rows.broken.size(), Grouped(rows.count), 100 * rows.fdr);
  if (std::isfinite(rows.detectable)) {
    text += fmt::format("; a change of {} is found where a {} has 5 % of all", ShortPercent(rows.detectable), rows.by);
  }
  return text;
}

// "3 runs against 3 runs of the baseline"; of one each what that means.
std::string RunsText(const CheckReport& report) {
  if (report.runs_of_baseline == 0) return "";
  if (report.runs_now + report.runs_of_baseline == 2) {
    return "runs were not replicated: the total and subjects have intervals of sampling error alone\n";
  }
  return fmt::format("{} runs against {} of the baseline\n", report.runs_now, report.runs_of_baseline);
}

// Of the recording, and of the baseline: "trustworthy: no, because ...".
std::vector<std::string> TrustReasonsOf(const CheckReport& report) {
  std::vector<std::string> trust_reasons;
  if (!report.doubt.empty()) trust_reasons.push_back("trustworthy: " + report.doubt);
  if (!report.doubt_of_baseline.empty()) trust_reasons.push_back("baseline trustworthy: " + report.doubt_of_baseline);
  return trust_reasons;
}

std::vector<CheckResult> AllOf(const CheckReport& report) {
  std::vector<CheckResult> all = report.checks;
  if (report.rows) all.insert(all.end(), report.rows->broken.begin(), report.rows->broken.end());
  return all;
}

void AppendTestCase(const CheckResult& check, std::string* xml) {
  *xml += fmt::format("    <testcase classname=\"heaprec.check\" name=\"{}\" time=\"0\">", Markup(check.name));
  const std::string sentence = Markup(Sentence(check));
  if (check.outcome == CheckOutcome::kExceeded) {
    *xml += fmt::format("\n      <failure type=\"budget\" message=\"{0}\">{0}</failure>\n    ", sentence);
  } else if (check.outcome == CheckOutcome::kUnknown) {
    *xml += fmt::format("\n      <error type=\"unknown\" message=\"{0}\">{0}</error>\n    ", sentence);
  } else if (check.outcome == CheckOutcome::kInconclusive) {
    *xml += fmt::format("\n      <skipped message=\"inconclusive: {}\"/>\n    ", sentence);
  } else {
    *xml += fmt::format("\n      <system-out>{}</system-out>\n    ", sentence);
  }
  *xml += "</testcase>\n";
}

// An error, not a failure: no budget is known to be broken.
void AppendInconclusive(const CheckReport& report, std::string* xml) {
  *xml += fmt::format(
      "    <testcase classname=\"heaprec.check\" name=\"the recording is trustworthy\" time=\"0\">\n"
      "      <error type=\"untrustworthy\" message=\"{}\">{}</error>\n    </testcase>\n",
      Inconclusive(report), Markup(Printable(fmt::format("{}", fmt::join(TrustReasonsOf(report), "; ")))));
}

// That all were compared is a test that was passed.
void AppendRowsKept(const CheckedRows& rows, std::string* xml) {
  *xml += fmt::format(
      "    <testcase classname=\"heaprec.check\" name=\"every {} against the baseline\" time=\"0\">\n"
      "      <system-out>{}</system-out>\n    </testcase>\n",
      Markup(rows.by), Markup(Summary(rows)));
}

}  // namespace

size_t CheckReport::Count(CheckOutcome outcome) const {
  return static_cast<size_t>(std::count_if(checks.begin(), checks.end(),
                                           [outcome](const CheckResult& one) { return one.outcome == outcome; }));
}

CheckOutcome CheckOutcomeOf(const Estimate& value, double limit) {
  if (IsUnknown(value)) return CheckOutcome::kUnknown;
  if (value.low > limit) return CheckOutcome::kExceeded;
  return value.high <= limit ? CheckOutcome::kWithin : CheckOutcome::kInconclusive;
}

std::string AsText(const CheckReport& report) {
  std::string text = Printable(report.recording) + ": " + Summary(report) + "\n";
  if (report.rows) text += Printable(Summary(*report.rows)) + "\n";
  text += RunsText(report);
  for (const CheckResult& check : AllOf(report)) {
    text += fmt::format("{:<12} {}: {}\n", Word(check.outcome), Printable(check.name), Printable(Sentence(check)));
  }
  for (const std::string& doubt : TrustReasonsOf(report)) text += "# " + Printable(doubt) + "\n";
  return text;
}

std::string AsMarkdown(const CheckReport& report) {
  std::string text = fmt::format("### Allocation budgets: {}\n\n{}\n\n", Code(report.recording), Summary(report));
  if (report.rows) text += fmt::format("{}\n\n", Markup(Summary(*report.rows)));
  if (const std::string runs = RunsText(report); !runs.empty()) text += runs + "\n";
  text += "| | budget | measured (95 % interval) | allowed |\n|---|---|---|---|\n";
  static constexpr std::array<std::string_view, 4> kSigns{"✅ within", "❌ **exceeded**", "❔ inconclusive", "⚠ unknown"};
  for (const CheckResult& check : AllOf(report)) {
    text += fmt::format("| {} | {} | {} | {} |\n", kSigns[static_cast<size_t>(check.outcome)], Code(check.name),
                        check.measured, check.allowed);
  }
  text += report.IsWithheld() ? "\nInconclusive: no budget is judged by numbers that cannot be trusted.\n"
                              : "\nExceeded: the whole interval lies above what is allowed. Inconclusive: what is "
                                "allowed lies within it.\n";
  if (report.Count(CheckOutcome::kUnknown) > 0) text += "\nUnknown: the recording does not say how much it is.\n";
  for (const std::string& doubt : TrustReasonsOf(report)) text += fmt::format("\n⚠ {}\n", Markup(Printable(doubt)));
  return text;
}

std::string AsJunit(const CheckReport& report) {
  const std::vector<CheckResult> all = AllOf(report);
  const bool is_withheld = report.IsWithheld();
  const bool rows_kept = report.rows && report.rows->broken.empty() && !is_withheld;
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                  all.size() + rows_kept + is_withheld, report.Count(CheckOutcome::kExceeded) + report.BrokenRows(),
                  report.Count(CheckOutcome::kUnknown) + (is_withheld ? 1 : 0),
                  report.Count(CheckOutcome::kInconclusive), report.seconds);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"heaprec check\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n",
      counts, Markup(report.recording));
  for (const CheckResult& check : all) AppendTestCase(check, &xml);
  if (rows_kept) AppendRowsKept(*report.rows, &xml);
  if (is_withheld) AppendInconclusive(report, &xml);
  if (const auto trust_reasons = TrustReasonsOf(report); !trust_reasons.empty()) {
    xml += fmt::format("    <system-err>{}</system-err>\n",
                       Markup(Printable(fmt::format("{}", fmt::join(trust_reasons, "; ")))));
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

nlohmann::json AsSarif(const CheckReport& report) {
  static constexpr std::array<const char*, 4> kLevels{"none", "error", "warning", "warning"};
  static constexpr std::array<const char*, 4> kKinds{"pass", "fail", "review", "open"};
  nlohmann::json results = nlohmann::json::array();
  for (const CheckResult& check : AllOf(report)) {
    const auto outcome = static_cast<size_t>(report.IsWithheld() ? CheckOutcome::kUnknown : check.outcome);
    results.push_back({{"ruleId", "heaprec.budget"},
                       {"level", kLevels[outcome]},
                       {"kind", kKinds[outcome]},
                       {"message", {{"text", fmt::format("{}: {}", check.name, Sentence(check))}}},
                       {"locations", {{{"physicalLocation", {{"artifactLocation", {{"uri", report.recording}}}}}}}}});
  }
  for (const std::string& doubt : TrustReasonsOf(report)) {
    results.push_back({{"ruleId", "heaprec.trustworthy"}, {"level", "warning"}, {"message", {{"text", doubt}}}});
  }
  const auto rule = [](const char* id, const char* text) {
    return nlohmann::json{{"id", id}, {"shortDescription", {{"text", text}}}};
  };
  const nlohmann::json driver = {{"name", "heaprec"},
                                 {"rules",
                                  {rule("heaprec.budget", "An allocation budget"),
                                   rule("heaprec.trustworthy", "Whether numbers can be relied on")}}};
  const nlohmann::json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", nlohmann::json::array({run})}};
}

nlohmann::json AsJson(const CheckReport& report) {
  static constexpr std::array<const char*, 4> kNames{"within", "exceeded", "inconclusive", "unknown"};
  nlohmann::json checks = nlohmann::json::array();
  for (const CheckResult& check : AllOf(report)) {
    checks.push_back({{"name", check.name},
                      {"outcome", kNames[static_cast<size_t>(check.outcome)]},
                      {"value", AsJson(check.value)},
                      {"limit", check.limit},
                      {"measured", check.measured},
                      {"allowed", check.allowed}});
  }
  nlohmann::json document = {{"schema", "heaprec.check/2"},
                             {"recording", report.recording},
                             {"seconds", report.seconds},
                             {"exceeded", report.Count(CheckOutcome::kExceeded) + report.BrokenRows()},
                             {"inconclusive", report.Count(CheckOutcome::kInconclusive)},
                             {"unknown", report.Count(CheckOutcome::kUnknown)},
                             {"withheld", report.IsWithheld()},
                             {"runs", report.runs_now},
                             {"runs_of_baseline", report.runs_of_baseline},
                             {"trustworthy", TrustReasonsOf(report).empty()},
                             {"reasons", TrustReasonsOf(report)},
                             {"checks", checks}};
  if (report.rows) {
    document["rows"] = {
        {"by", report.rows->by},
        {"count", report.rows->count},
        {"exceeded", report.BrokenRows()},
        {"detectable_at_5_percent",
         std::isfinite(report.rows->detectable) ? nlohmann::json(report.rows->detectable) : nlohmann::json(nullptr)},
        {"fdr", report.rows->fdr}};
  }
  return document;
}

}  // namespace heaprec::tools
