// heaprec diff: what allocates more, or less, than before, and what is but noise.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <memory>

#include "tools/export/flame/diff_page.h"
#include "tools/options/command.h"
#include "tools/query/comparison.h"
#include "tools/query/scan.h"
#include "tools/report/diff_report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

struct DiffOptions {
  SurveyOptions survey;
  std::vector<std::string> windows;  // none, or two: FROM..TO
  std::string by, per, operations, html;
  double fdr = 0.05, margin = 0;
  std::optional<size_t> limit;
  bool objects = false, all = false, json = false, force = false;
};

// What both sides are.
struct Both {
  SurveyOptions before, after;
  Scale scale_before, scale_after;
};

format::Result<std::pair<std::string, std::string>> ParseWindow(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos || dots == 0 || dots + 2 == text.size()) {
    return format::Error{fmt::format("--window {}: expected FROM..TO, such as 10s..20s", text)};
  }
  return std::pair(text.substr(0, dots), text.substr(dots + 2));
}

std::optional<format::Error> SetWindows(const DiffOptions& options, Both* both) {
  const auto first = ParseWindow(options.windows[0]), second = ParseWindow(options.windows[1]);
  if (!first.ok()) return first.error();
  if (!second.ok()) return second.error();
  if (options.survey.files.size() != 1 || !options.survey.filter.from.empty() || !options.survey.filter.to.empty()) {
    return format::Error{"--window takes one recording and excludes --from and --to"};
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
    return format::Error{"--per op and --ops A=N,B=M need each other; --ops gives the operations on each side"};
  }
  both->before.shares_of_span = both->after.shares_of_span = scale.per == Per::kTotal;
  if (options.html == "-") return format::Error{"--html -: standard output is used for the table; name a file"};
  if (scale.per == Per::kTotal && options.objects)
    return format::Error{"--per total compares shares of bytes; remove --objects"};
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
    return format::Error{"give two recordings, A B, or two windows of one recording: --window 10s..20s 40s..60s A"};
  } else {
    both.before.files = {options.survey.files[0]};
    both.after.files = {options.survey.files[1]};
  }
  if (const auto wrong = SetScales(options, &both)) return *wrong;
  return both;
}

// The total is no share: per second it is.
Difference TotalOf(const Survey& before, const Survey& after, Scale scale_before, Scale scale_after) {
  if (scale_before.per == Per::kTotal) scale_before.per = scale_after.per = Per::kSecond;
  std::vector<Difference> one{Compare(scale_before.Of(AllOf(before)), scale_after.Of(AllOf(after)))};
  Judge(&one, 0.05);
  return one.front();
}

DiffResult ResultOf(const DiffOptions& options, const std::vector<Grouping>& by, const Side& before, const Side& after,
                    const Both& both) {
  DiffResult result;
  result.scale = both.scale_before;
  result.question = {options.margin, options.fdr};
  result.reversed = options.windows.empty() && after.start_epoch_ns() < before.start_epoch_ns();
  for (size_t i = 0; i < by.size(); ++i) {
    ComparedTable table{
        by[i], CompareTables(before.table(i), both.scale_before, after.table(i), both.scale_after, result.question)};
    for (const ComparedRow& row : table.rows) table.changed += row.difference.verdict != Verdict::kSame;
    result.tables.push_back(std::move(table));
  }
  return result;
}

std::string NameOf(const DiffOptions& options, size_t which) {
  const std::string& file = which == 0 ? options.survey.files.front() : options.survey.files.back();
  const std::string window = options.windows.empty() ? "" : ", " + options.windows[which];
  return ToUtf8(file == "-" ? "standard input" : file) + window;
}

format::Result<std::vector<Grouping>> GroupingsOf(const std::string& by) {
  if (by.empty()) return std::vector<Grouping>{Grouping(By::kClass), Grouping(By::kSite)};
  auto one = Grouping::Parse(by);
  if (!one.ok()) return one.error();
  return std::vector<Grouping>{std::move(*one)};
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
  Complain(
      fmt::format("{}: {} has no data between {} and {}", name, side.files.front(), side.filter.from, side.filter.to));
}

ExitCode WritePage(const DiffOptions& options, const Both& both, const DiffResult& result, const Survey& before,
                   const Survey& after) {
  if (options.html.empty()) return ExitCode::kOk;
  return WriteDiffPage({both.before, both.after, both.scale_before, both.scale_after, result.question, options.html,
                        options.force, TotalText(result.total, result.total_style), before.Doubt(), after.Doubt()});
}

ExitCode Read(Survey* before, Survey* after, CallTree* tree, Side* side_before, Side* side_after) {
  const ExitCode first = before->Run(tree, side_before);
  if (first == ExitCode::kUnreadable) return first;
  const ExitCode second = after->Run(tree, side_after);
  return first != ExitCode::kOk && second != ExitCode::kUnreadable ? first : second;
}

ExitCode Diff(const DiffOptions& options) {
  const auto by = GroupingsOf(options.by);
  if (!by.ok()) return Usage(by.error());
  auto both = BothOf(options);
  if (!both.ok()) return Usage(both.error());
  both->before.fold = both->after.fold = by->front().by() == By::kMethod;
  auto before = Survey::Parse(both->before), after = Survey::Parse(both->after);
  if (!before.ok()) return Usage(before.error());
  if (!after.ok()) return Usage(after.error());

  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, before->TreeOptions());
  const bool own_frames = options.survey.lines || !options.survey.filter.hide.empty();
  Side side_before(*by, own_frames), side_after(*by, own_frames);
  const ExitCode read = Read(&*before, &*after, &tree, &side_before, &side_after);
  if (read == ExitCode::kUnreadable) return read;
  both->scale_before.seconds = before->covered().seconds;
  both->scale_after.seconds = after->covered().seconds;
  DiffResult result = ResultOf(options, *by, side_before, side_after, *both);
  result.total = TotalOf(*before, *after, both->scale_before, both->scale_after);
  result.style = result.total_style = StyleOf(both->scale_before, *before);
  if (result.scale.per == Per::kTotal) result.total_style = StyleOf({.per = Per::kSecond}, *before);
  WarnIfEmpty(*before, both->before, "A");
  WarnIfEmpty(*after, both->after, "B");
  if (result.reversed) Complain("B was recorded before A; swap them if this is not intended");
  const ExitCode page = WritePage(options, *both, result, *before, *after);
  if (page != ExitCode::kOk) return page;
  const DiffSide of_before{*before, NameOf(options, 0)}, of_after{*after, NameOf(options, 1)};
  const DiffRows shown{options.all, options.limit};
  const ExitCode written = Write(options.json ? DiffJson(result, of_before, of_after, shown, tree)
                                              : DiffText(result, of_before, of_after, shown, tree));
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command DiffCommand() {
  auto options = std::make_shared<DiffOptions>();
  Command command("diff", "Show what changed significantly between recordings");
  command.AddOption("--window", options->windows, "Compare two time ranges of one recording: 10s..20s 40s..60s")
      .Value("FROM..TO")
      .Exactly(2);
  command.AddOption("--by", options->by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--per", options->per,
                 "Compare bytes per second (default), per total (shares of each side's total) or per op")
      .Value("UNIT")
      .OneOf({"second", "total", "op"});
  command.AddOption("--ops", options->operations, "Operations on each side: A=1000,B=1200, or 1000 for both")
      .Value("A=N,B=M");
  command.AddPercent("--fdr", options->fdr, "False discovery rate among reported changes (default: 5%)");
  command.AddPercent("--min-change", options->margin, "Ignore changes below this percentage (default: 0%)", INFINITY);
  command.AddFlag("--objects", options->objects, "Compare objects instead of bytes");
  command.AddFlag("--all", options->all, "Also show changes that are not significant");
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20, or 10 per table; --json: all)")
      .Value("N");
  command.AddFlag("--json", options->json, "Print JSON");
  command.AddOption("--html", options->html, "Also write a differential flame graph as an HTML page").Value("OUT");
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->survey.AddTo(command);
  command.footer = R"(Examples:
  heaprec diff monday.hrec tuesday.hrec
  heaprec diff --ops A=10000,B=12000 --by site before.hrec after.hrec
  heaprec diff --window 10s..20s 40s..60s app.hrec
  heaprec diff --min-change 5% --html diff.html before.hrec after.hrec
  heaprec diff --json --all before.hrec after.hrec | jq '.tables[0].rows[] | select(.verdict == "new")')";
  command.run = [options](const auto&) { return Diff(*options); };
  return command;
}

}  // namespace heaprec::tools
