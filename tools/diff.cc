// heaprec diff: what allocates more, or less, than before, and what is but noise.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/comparison.h"
#include "tools/complain.h"
#include "tools/diff_page.h"
#include "tools/percent_option.h"
#include "tools/render/difference_text.h"
#include "tools/render/output.h"
#include "tools/render/text.h"
#include "tools/render/utf8.h"
#include "tools/survey.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;

struct DiffOptions {
  SurveyOptions survey;
  std::vector<std::string> windows;  // none, or two: FROM..TO
  std::string by, per, operations, html;
  double fdr = 0.05, margin = 0;
  std::optional<size_t> limit;
  bool objects = false, all = false, json = false, force = false;
};

constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;

// What both sides are.
struct Both {
  SurveyOptions before, after;
  Scale scale_before, scale_after;
};

format::Result<std::pair<std::string, std::string>> ParseWindow(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos || dots == 0 || dots + 2 == text.size()) {
    return format::Error{fmt::format("--window {}: FROM..TO, as in 10s..20s", text)};
  }
  return std::pair(text.substr(0, dots), text.substr(dots + 2));
}

std::optional<format::Error> SetWindows(const DiffOptions& options, Both* both) {
  const auto first = ParseWindow(options.windows[0]), second = ParseWindow(options.windows[1]);
  if (!first.ok()) return first.error();
  if (!second.ok()) return second.error();
  if (options.survey.files.size() != 1 || !options.survey.filter.from.empty() || !options.survey.filter.to.empty()) {
    return format::Error{"--window takes one recording, and neither --from nor --to"};
  }
  std::tie(both->before.filter.from, both->before.filter.to) = *first;
  std::tie(both->after.filter.from, both->after.filter.to) = *second;
  return {};
}

std::optional<format::Error> SetScales(const DiffOptions& options, Both* both) {
  Scale scale{.per = Per::kSecond, .objects = options.objects};
  if (options.per == "total") scale.per = Per::kTotal;
  if (options.per == "op" || (options.per.empty() && !options.operations.empty())) scale.per = Per::kOp;
  both->scale_before = both->scale_after = scale;
  if ((scale.per == Per::kOp) != !options.operations.empty()) {
    return format::Error{"--per op and --ops A=N,B=M belong together: how many operations each side did"};
  }
  const auto& filter = options.survey.filter;
  if (scale.per == Per::kTotal && (!options.windows.empty() || !filter.from.empty() || !filter.to.empty())) {
    return format::Error{"--per total compares shares of whole recordings: not with --window, --from or --to"};
  }
  if (options.html == "-") return format::Error{"--html -: standard output has the table; name a file"};
  if (scale.per == Per::kTotal && options.objects) return format::Error{"--per total compares shares of bytes"};
  if (scale.per != Per::kOp) return {};
  const auto operations = ParseOperations(options.operations);
  if (!operations.ok()) return operations.error();
  both->scale_before.operations = operations->first;
  both->scale_after.operations = operations->second;
  return {};
}

format::Result<Both> BothOf(const DiffOptions& options) {
  Both both{options.survey, options.survey, {}, {}};
  if (!options.windows.empty()) {
    if (const auto wrong = SetWindows(options, &both)) return *wrong;
  } else if (options.survey.files.size() != 2) {
    return format::Error{"two recordings are compared, A B; or two windows of one: --window 10s..20s 40s..60s A"};
  } else {
    both.before.files = {options.survey.files[0]};
    both.after.files = {options.survey.files[1]};
  }
  if (const auto wrong = SetScales(options, &both)) return *wrong;
  return both;
}

ValueStyle StyleOf(const Scale& scale) {
  using Unit = ValueStyle::Unit;
  return {scale.per == Per::kTotal ? Unit::kShare : scale.objects ? Unit::kCount : Unit::kBytes, scale.Suffix()};
}

// One grouping's rows.
struct ComparedTable {
  RowsBy by;
  std::vector<ComparedRow> rows;
  size_t changed = 0;
};

struct Result {
  Difference total;  // in bytes or objects; of shares as they are
  ValueStyle style, total_style;
  bool reversed = false;
  std::vector<ComparedTable> tables;
};

// The total is no share: per second it is.
Difference TotalOf(const Side& before, const Side& after, Scale scale_before, Scale scale_after) {
  if (scale_before.per == Per::kTotal) scale_before.per = scale_after.per = Per::kSecond;
  std::vector<Difference> one{Compare(scale_before.Of(before.all()), scale_after.Of(after.all()))};
  Judge(&one, 0.05);
  return one.front();
}

Result ResultOf(const DiffOptions& options, const std::vector<RowsBy>& by, const Side& before, const Side& after,
                const Both& both) {
  Result result;
  result.total = TotalOf(before, after, both.scale_before, both.scale_after);
  result.style = result.total_style = StyleOf(both.scale_before);
  if (both.scale_before.per == Per::kTotal) result.total_style = {ValueStyle::Unit::kBytes, "/s"};
  result.reversed = options.windows.empty() && after.start_epoch_ns() < before.start_epoch_ns();
  for (size_t i = 0; i < by.size(); ++i) {
    ComparedTable table{by[i], CompareTables(before.table(i), both.scale_before, after.table(i), both.scale_after,
                                             options.margin, options.fdr)};
    for (const ComparedRow& row : table.rows) table.changed += row.difference.verdict != Verdict::kSame;
    result.tables.push_back(std::move(table));
  }
  return result;
}

std::string Printable(std::string_view text) {
  Text printable;
  AppendPrintable(printable, text);
  return fmt::to_string(printable);
}

std::string SideText(const char* name, const Survey& survey, const Side& side, const DiffOptions& options,
                     size_t which) {
  const std::string& file = which == 0 ? options.survey.files.front() : options.survey.files.back();
  const std::string window = options.windows.empty() ? "" : ", " + options.windows[which];
  const double bytes = side.all().bytes.value;
  return fmt::format("{:<9}{}: {} in {}, {} samples\n", name,
                     Printable(ToUtf8(file == "-" ? "standard input" : file) + window),
                     survey.of_exceptions() ? Grouped(static_cast<uint64_t>(bytes)) + " events" : Bytes(bytes),
                     Duration(static_cast<uint64_t>(survey.covered().seconds * 1e9)), Grouped(side.all().samples));
}

void AppendTable(const ComparedTable& of, const Result& result, const DiffOptions& options, size_t limit,
                 CallTree& tree, std::string* into) {
  const size_t shown = options.all ? of.rows.size() : of.changed;
  const size_t rows = limit > 0 ? std::min(limit, shown) : shown;
  *into += fmt::format("\nby {}: {} of {} changed, at a false discovery rate of {:g} %{}\n", RowsByText(of.by),
                       Grouped(of.changed), Grouped(of.rows.size()), 100 * options.fdr,
                       of.changed < of.rows.size() ? "; the others may be noise" : "");
  for (size_t i = 0; i < rows; ++i) {
    const Difference& one = of.rows[i].difference;
    *into += fmt::format("  {:<4} {:>14} {:<22} {:>8} {:>12} -> {:<12} {}\n", VerdictText(one.verdict),
                         ChangeText(one.change, result.style), ChangeIntervalText(one.change, result.style),
                         RatioText(one.ratio.value), ValueText(one.before.value, result.style),
                         ValueText(one.after.value, result.style), Printable(RowName(of.by, of.rows[i].key, tree)));
  }
  if (rows < shown) *into += fmt::format("  ... {} more; --limit 0 shows all\n", Grouped(shown - rows));
}

std::string TextForm(const Result& result, const DiffOptions& options, const Survey& before, const Side& side_before,
                     const Survey& after, const Side& side_after, CallTree& tree) {
  const std::string verdict = result.total.verdict == Verdict::kSame ? ", not shown to differ" : "";
  std::string text = fmt::format("{:<9}{}{}\n", "total", TotalText(result.total, result.total_style), verdict);
  text += SideText("before", before, side_before, options, 0);
  text += SideText("after", after, side_after, options, 1);
  const size_t limit = options.limit.value_or(result.tables.size() > 1 ? kRowsOfTwo : kRowsOfOne);
  for (const ComparedTable& table : result.tables) AppendTable(table, result, options, limit, tree, &text);
  return text + "\n" + before.LossLine() + after.LossLine();
}

json RowAsJson(const ComparedRow& row, const ComparedTable& table, CallTree& tree) {
  json one = AsJson(row.difference);
  one["name"] = RowName(table.by, row.key, tree);
  one["samples_before"] = row.samples_before;
  one["samples_after"] = row.samples_after;
  return one;
}

std::string JsonForm(const Result& result, const DiffOptions& options, const Both& both, const Survey& before,
                     const Survey& after, CallTree& tree) {
  static constexpr std::array<const char*, 3> kPer{"second", "total", "op"};
  json document = {{"schema", "heaprec.diff/1"},
                   {"per", kPer[static_cast<size_t>(both.scale_before.per)]},
                   {"unit", options.objects          ? "objects"
                            : before.of_exceptions() ? "events"
                                                     : "bytes"},
                   {"fdr", options.fdr},
                   {"min_change", options.margin},
                   {"reversed", result.reversed},
                   {"before", before.AsJson()},
                   {"after", after.AsJson()},
                   {"total", AsJson(result.total)},
                   {"tables", json::array()}};
  for (const ComparedTable& table : result.tables) {
    json rows = json::array();
    for (const ComparedRow& row : table.rows) {
      if (options.limit.value_or(0) > 0 && rows.size() == *options.limit) break;
      if (options.all || row.difference.verdict != Verdict::kSame) rows.push_back(RowAsJson(row, table, tree));
    }
    document["tables"].push_back(
        {{"by", RowsByText(table.by)}, {"count", table.rows.size()}, {"changed", table.changed}, {"rows", rows}});
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

format::Result<std::vector<RowsBy>> RowsOf(const std::string& by) {
  if (by.empty()) return std::vector<RowsBy>{RowsBy::kClass, RowsBy::kSite};
  const auto one = ParseRowsBy(by);
  if (!one.ok()) return one.error();
  return std::vector<RowsBy>{*one};
}

ExitCode Usage(const format::Error& error) {
  Complain(error.message);
  return ExitCode::kUsage;
}

ExitCode Write(const std::string& text) {
  Output output(STDOUT_FILENO);
  output.Append(text);
  output.Flush();
  return output.Report("standard output");
}

void WarnIfEmpty(const Survey& survey, const SurveyOptions& side, std::string_view name) {
  if (survey.covered().seconds > 0) return;
  Complain(fmt::format("{}: no time of {} lies within {}..{}: nothing is known of it", name, side.files.front(),
                       side.filter.from, side.filter.to));
}

ExitCode Diff(const DiffOptions& options) {
  const auto by = RowsOf(options.by);
  if (!by.ok()) return Usage(by.error());
  auto both = BothOf(options);
  if (!both.ok()) return Usage(both.error());
  both->before.fold = both->after.fold = by->front() == RowsBy::kMethod;
  auto before = Survey::Parse(both->before), after = Survey::Parse(both->after);
  if (!before.ok()) return Usage(before.error());
  if (!after.ok()) return Usage(after.error());

  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, before->TreeOptions());
  Side side_before(*by), side_after(*by);
  const ExitCode first = before->Run(&tree, &side_before);
  if (first == ExitCode::kUnreadable) return first;
  const ExitCode second = after->Run(&tree, &side_after);
  if (second == ExitCode::kUnreadable) return second;
  both->scale_before.seconds = before->covered().seconds;
  both->scale_after.seconds = after->covered().seconds;
  const Result result = ResultOf(options, *by, side_before, side_after, *both);
  WarnIfEmpty(*before, both->before, "A");
  WarnIfEmpty(*after, both->after, "B");
  if (result.reversed) Complain("B was recorded before A: if that is not meant, exchange them");
  if (!options.html.empty()) {
    const ExitCode page =
        WriteDiffPage({both->before, both->after, both->scale_before, both->scale_after, options.fdr, options.margin,
                       options.html, options.force, TotalText(result.total, result.total_style)});
    if (page != ExitCode::kOk) return page;
  }
  const ExitCode written =
      Write(options.json ? JsonForm(result, options, *both, *before, *after, tree)
                         : TextForm(result, options, *before, side_before, *after, side_after, tree));
  return written != ExitCode::kOk ? written : first != ExitCode::kOk ? first : second;
}

}  // namespace

Verb DeclareDiff(CLI::App& heaprec) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* verb = heaprec.add_subcommand("diff", "What allocates more or less than before, and what is but noise");
  verb->add_option("--window", options->windows, "Two times of one recording: 10s..20s 40s..60s")
      ->type_name("FROM..TO")
      ->expected(2);
  verb->add_option("--by", options->by, "One of " + std::string(kAllRowsBy) + " (default: class, and site)")
      ->type_name("KEY");
  verb->add_option("--per", options->per, "second (default), total (shares are compared) or op")
      ->type_name("UNIT")
      ->check(CLI::IsMember({"second", "total", "op"}));
  verb->add_option("--ops", options->operations, "How many operations each side did: A=1000,B=1200, or 1000")
      ->type_name("A=N,B=M");
  AddPercent(verb, "--fdr", &options->fdr, "So much of what is called changed may not be (default: 5%)");
  AddPercent(verb, "--min-change", &options->margin, "Smaller changes are none: 5% (default: 0%)");
  verb->add_flag("--objects", options->objects, "Compare objects, not bytes");
  verb->add_flag("--all", options->all, "Show also what may be noise");
  verb->add_option("--limit", options->limit,
                   "So many rows; 0: all. Default: 20, of two tables 10 each; all with --json")
      ->type_name("N");
  verb->add_flag("--json", options->json, "JSON instead of text");
  verb->add_option("--html", options->html, "A flame graph of the differences, too, as a page")->type_name("OUT");
  verb->add_flag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->survey.AddTo(verb);
  verb->footer(R"(Examples:
  heaprec diff monday.bin tuesday.bin
  heaprec diff --ops A=10000,B=12000 --by site before.bin after.bin
  heaprec diff --window 10s..20s 40s..60s rec.bin
  heaprec diff --min-change 5% --html diff.html before.bin after.bin
  heaprec diff --json --all before.bin after.bin | jq '.tables[0].rows[] | select(.verdict == "new")')");
  return {verb, [options](const auto&) { return Diff(*options); }};
}

}  // namespace heaprec::tools
