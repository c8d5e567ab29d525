#include "tools/report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/report/estimate_format.h"
#include "tools/text/markup.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string_view Word(Outcome outcome) {
  static constexpr std::array<std::string_view, 4> kWords{"kept", "BROKEN", "not shown", "inconclusive"};
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

std::string Sentence(const Checked& check) {
  if (check.outcome == Outcome::kInconclusive) {
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
  std::string text = fmt::format("{} of {} budgets broken, {} not shown", report.Count(Outcome::kBroken),
                                 report.checks.size(), report.Count(Outcome::kNotShown));
  if (const size_t unknown = report.Count(Outcome::kInconclusive)) text += fmt::format(", {} inconclusive", unknown);
  return text;
}

// "by site: 2 of 412 broken against the baseline, at a false discovery rate of 5 %"
std::string Summary(const CheckedRows& rows) {
  return fmt::format("by {}: {} of {} broken against the baseline, at a false discovery rate of {:g} %", rows.by,
                     rows.broken.size(), Grouped(rows.count), 100 * rows.fdr);
}

// Of the recording, and of the baseline: "trustworthy: no, because ...".
std::vector<std::string> DoubtsOf(const CheckReport& report) {
  std::vector<std::string> doubts;
  if (!report.doubt.empty()) doubts.push_back("trustworthy: " + report.doubt);
  if (!report.doubt_of_baseline.empty()) doubts.push_back("baseline trustworthy: " + report.doubt_of_baseline);
  return doubts;
}

std::vector<Checked> AllOf(const CheckReport& report) {
  std::vector<Checked> all = report.checks;
  if (report.rows) all.insert(all.end(), report.rows->broken.begin(), report.rows->broken.end());
  return all;
}

void AppendTestCase(const Checked& check, std::string* xml) {
  *xml += fmt::format("    <testcase classname=\"heaprec.check\" name=\"{}\" time=\"0\">", Markup(check.name));
  const std::string sentence = Markup(Sentence(check));
  if (check.outcome == Outcome::kBroken) {
    *xml += fmt::format("\n      <failure type=\"budget\" message=\"{0}\">{0}</failure>\n    ", sentence);
  } else if (check.outcome == Outcome::kInconclusive) {
    *xml += fmt::format("\n      <error type=\"unknown\" message=\"{0}\">{0}</error>\n    ", sentence);
  } else if (check.outcome == Outcome::kNotShown) {
    *xml += fmt::format("\n      <skipped message=\"not shown: {}\"/>\n    ", sentence);
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
      Inconclusive(report), Markup(Printable(fmt::format("{}", fmt::join(DoubtsOf(report), "; ")))));
}

// That all were compared is a test that was passed.
void AppendRowsKept(const CheckedRows& rows, std::string* xml) {
  *xml += fmt::format(
      "    <testcase classname=\"heaprec.check\" name=\"every {} against the baseline\" time=\"0\">\n"
      "      <system-out>{}</system-out>\n    </testcase>\n",
      Markup(rows.by), Markup(Summary(rows)));
}

}  // namespace

size_t CheckReport::Count(Outcome outcome) const {
  return static_cast<size_t>(
      std::count_if(checks.begin(), checks.end(), [outcome](const Checked& one) { return one.outcome == outcome; }));
}

Outcome OutcomeOf(const Estimate& value, double limit) {
  if (IsUnknown(value)) return Outcome::kInconclusive;
  if (value.low > limit) return Outcome::kBroken;
  return value.high <= limit ? Outcome::kKept : Outcome::kNotShown;
}

std::string AsText(const CheckReport& report) {
  std::string text = Printable(report.recording) + ": " + Summary(report) + "\n";
  if (report.rows) text += Printable(Summary(*report.rows)) + "\n";
  for (const Checked& check : AllOf(report)) {
    text += fmt::format("{:<10} {}: {}\n", Word(check.outcome), Printable(check.name), Printable(Sentence(check)));
  }
  for (const std::string& doubt : DoubtsOf(report)) text += "# " + Printable(doubt) + "\n";
  return text;
}

std::string AsMarkdown(const CheckReport& report) {
  std::string text = fmt::format("### Allocation budgets: {}\n\n{}\n\n", Code(report.recording), Summary(report));
  if (report.rows) text += fmt::format("{}\n\n", Markup(Summary(*report.rows)));
  text += "| | budget | measured (95 % interval) | allowed |\n|---|---|---|---|\n";
  static constexpr std::array<std::string_view, 4> kSigns{"✅ kept", "❌ **broken**", "❔ not shown", "⚠ inconclusive"};
  for (const Checked& check : AllOf(report)) {
    text += fmt::format("| {} | {} | {} | {} |\n", kSigns[static_cast<size_t>(check.outcome)], Code(check.name),
                        check.measured, check.allowed);
  }
  text += report.IsWithheld()
              ? "\nNot shown: no budget is judged by numbers that cannot be trusted.\n"
              : "\nBroken: the whole interval lies above what is allowed. Not shown: what is allowed lies within it.\n";
  if (report.Count(Outcome::kInconclusive) > 0) text += "\nInconclusive: the recording does not say how much it is.\n";
  for (const std::string& doubt : DoubtsOf(report)) text += fmt::format("\n⚠ {}\n", Markup(Printable(doubt)));
  return text;
}

std::string AsJunit(const CheckReport& report) {
  const std::vector<Checked> all = AllOf(report);
  const bool is_withheld = report.IsWithheld();
  const bool rows_kept = report.rows && report.rows->broken.empty() && !is_withheld;
  const std::string counts = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"", all.size() + rows_kept + is_withheld,
      report.Count(Outcome::kBroken) + report.BrokenRows(),
      report.Count(Outcome::kInconclusive) + (is_withheld ? 1 : 0), report.Count(Outcome::kNotShown), report.seconds);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"heaprec check\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n",
      counts, Markup(report.recording));
  for (const Checked& check : all) AppendTestCase(check, &xml);
  if (rows_kept) AppendRowsKept(*report.rows, &xml);
  if (is_withheld) AppendInconclusive(report, &xml);
  if (const auto doubts = DoubtsOf(report); !doubts.empty()) {
    xml +=
        fmt::format("    <system-err>{}</system-err>\n", Markup(Printable(fmt::format("{}", fmt::join(doubts, "; ")))));
  }
  return xml + "  </testsuite>\n</testsuites>\n";
}

nlohmann::json AsJson(const CheckReport& report) {
  static constexpr std::array<const char*, 4> kNames{"kept", "broken", "not_shown", "inconclusive"};
  nlohmann::json checks = nlohmann::json::array();
  for (const Checked& check : AllOf(report)) {
    checks.push_back({{"name", check.name},
                      {"outcome", kNames[static_cast<size_t>(check.outcome)]},
                      {"value", AsJson(check.value)},
                      {"limit", check.limit},
                      {"measured", check.measured},
                      {"allowed", check.allowed}});
  }
  nlohmann::json document = {{"schema", "heaprec.check/1"},
                             {"recording", report.recording},
                             {"seconds", report.seconds},
                             {"broken", report.Count(Outcome::kBroken) + report.BrokenRows()},
                             {"not_shown", report.Count(Outcome::kNotShown)},
                             {"inconclusive", report.IsInconclusive()},
                             {"trustworthy", DoubtsOf(report).empty()},
                             {"reasons", DoubtsOf(report)},
                             {"checks", checks}};
  if (report.rows) {
    document["rows"] = {{"by", report.rows->by},
                        {"count", report.rows->count},
                        {"broken", report.BrokenRows()},
                        {"fdr", report.rows->fdr}};
  }
  return document;
}

}  // namespace heaprec::tools
