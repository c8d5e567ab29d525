// heaprec diff: what allocates more, or less, than before, and what is noise or varies between runs anyway.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "tools/commands/diff_options.h"
#include "tools/commands/pages.h"
#include "tools/options/command.h"
#include "tools/query/comparison.h"
#include "tools/query/scan.h"
#include "tools/report/diff_report.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// What both sides are. `per`: as asked for; none: chosen by what the sides hold.
struct Both {
  ScanOptions before, after;
  Scale scale_before, scale_after;
  std::optional<Per> per;
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
  if (options.scan.files.size() != 1 || !options.scan.filter.from.empty() || !options.scan.filter.to.empty()) {
    return format::Error{"--window takes one recording and excludes --from and --to"};
  }
  std::tie(both->before.filter.from, both->before.filter.to) = *first;
  std::tie(both->after.filter.from, both->after.filter.to) = *second;
  return {};
}

std::optional<format::Error> SetScales(const DiffOptions& options, Both* both) {
  if (!options.per.empty()) both->per = PerOf(options.per);
  if (options.per.empty() && !options.operations.empty()) both->per = Per::kOp;
  both->scale_before = both->scale_after = {.objects = options.objects};
  if ((both->per == Per::kOp) != !options.operations.empty()) {
    return format::Error{
        "--per op and --ops A=N,B=M need each other; --ops gives the operations of a run on each side"};
  }
  both->before.shares = both->after.shares = ScanOptions::ShareOf::kSpan;
  if (options.html == "-") return format::Error{"--html -: standard output is used for the table; name a file"};
  if (both->per == Per::kShare && options.objects)
    return format::Error{"--per share compares shares of bytes; remove --objects"};
  if (both->per != Per::kOp) return {};
  const auto operations = ParseOperations(options.operations);
  if (!operations.ok()) return operations.error();
  both->scale_before.operations = operations->first;
  both->scale_after.operations = operations->second;
  return {};
}

format::Result<Both> BothOf(const DiffOptions& options) {
  Both both{options.scan, options.scan, {}, {}, {}};
  if (!options.windows.empty()) {
    if (const auto wrong = SetWindows(options, &both)) return *wrong;
  } else if (!options.after.empty()) {
    both.after.files = options.after;
  } else if (options.scan.files.size() != 2) {
    return format::Error{
        "give two recordings, A B; several runs of each side, A1 A2 A3 -- B1 B2 B3; or two windows of one recording: "
        "--window 10s..20s 40s..60s A"};
  } else {
    both.before.files = {options.scan.files[0]};
    both.after.files = {options.scan.files[1]};
  }
  if (const auto wrong = SetScales(options, &both)) return *wrong;
  return both;
}

// Of shares the total is the rate: per second.
Scale ScaleOfTotal(Scale scale) {
  if (scale.per == Per::kShare) scale.per = Per::kSecond;
  return scale;
}

Difference TotalOf(const ComparedRuns& before, const ComparedRuns& after, const Both& both) {
  return CompareTotals(
      {before.Totals(ScaleOfTotal(both.scale_before)), after.Totals(ScaleOfTotal(both.scale_after)), 0});
}

SidesAre SidesOf(const DiffOptions& options) {
  if (!options.windows.empty()) return SidesAre::kPartsOfOne;
  return options.whole_runs ? SidesAre::kWholeRuns : SidesAre::kRecordings;
}

// Sets the unit of both scales, and says why it is this one.
std::string ChooseScales(const DiffOptions& options, const ComparedRuns& before, const ComparedRuns& after,
                         const MachineSpeed& speed, Both* both) {
  ChosenUnit unit = ChooseUnit(before, after, both->scale_before, SidesOf(options));
  if (both->per) unit = {*both->per, options.per.empty() ? "--ops gives the operations" : "as set by --per"};
  if (unit.per == Per::kSecond && speed.is_cause) {
    unit = {Per::kCpuSecond, "the sides ran at different speeds; rates per second would only show that"};
  }
  both->scale_before.per = both->scale_after.per = unit.per;
  return unit.reason;
}

DiffResult ResultOf(const DiffOptions& options, const std::vector<Grouping>& by, const ComparedRuns& before,
                    const ComparedRuns& after, Both* both) {
  DiffResult result;
  result.speed = CompareSpeed(before, after);
  result.unit_reason = ChooseScales(options, before, after, result.speed, both);
  result.scale = both->scale_before;
  result.question = {options.margin, options.fdr};
  result.reversed = options.windows.empty() && after.start_epoch_ns() < before.start_epoch_ns();
  for (size_t i = 0; i < by.size(); ++i) {
    ComparedRows rows = CompareTables(before, after, i, both->scale_before, both->scale_after, result.question);
    ComparedTable table{by[i], std::move(rows.rows), 0, std::move(rows.runs)};
    for (const ComparedRow& row : table.rows) table.changed += row.difference.verdict != Verdict::kSame;
    result.tables.push_back(std::move(table));
  }
  result.total = TotalOf(before, after, *both);
  result.total_scale = ScaleOfTotal(both->scale_before);
  return result;
}

format::Result<std::vector<Grouping>> GroupingsOf(const std::string& by) {
  if (by.empty()) return std::vector<Grouping>{Grouping(By::kClass), Grouping(By::kSite)};
  auto one = Grouping::Parse(by);
  if (!one.ok()) return one.error();
  return std::vector<Grouping>{std::move(*one)};
}

ExitCode Usage(const format::Error& error) { return Fail(ExitCode::kUsage, error.message); }

void WarnIfEmpty(const ComparedRuns& side, const ScanOptions& options, std::string_view name) {
  for (size_t run = 0; run < side.size(); ++run) {
    if (side.scan(run).scanned().seconds > 0) continue;
    PrintError(fmt::format("{}: {} has no data between {} and {}", name, side.file(run), options.filter.from,
                           options.filter.to));
  }
}

// As good as infinitely many, which JSON does not have.
constexpr double kManyDegrees = 1e6;

// What the amounts of each run are divided by.
std::vector<double> DivisorsOf(const std::vector<Scale>& scales) {
  std::vector<double> divisors;
  for (const Scale& scale : scales) {
    const double divisor = scale.per == Per::kSecond      ? scale.seconds
                           : scale.per == Per::kCpuSecond ? scale.cpu_seconds
                           : scale.per == Per::kOp        ? scale.operations
                                                          : 1;
    divisors.push_back(divisor > 0 ? divisor : 1);
  }
  return divisors;
}

PageComparison ComparisonOf(const Both& both, const DiffResult& result, const ComparedRuns& before,
                            const ComparedRuns& after) {
  PageComparison comparison;
  comparison.headline = TotalText(result.total, StyleOf(result.total_scale, before.scan(0)));
  for (const auto& [side, verdict] : {std::pair("A", before.TrustVerdict()), std::pair("B", after.TrustVerdict())}) {
    if (!verdict.empty()) comparison.warnings.push_back(fmt::format("{} trustworthy: {}", side, verdict));
  }
  comparison.suffix = result.scale.Suffix();
  comparison.shares = result.scale.per == Per::kShare;
  comparison.objects = result.scale.objects;
  comparison.before = DivisorsOf(before.Scales(both.scale_before));
  comparison.after = DivisorsOf(after.Scales(both.scale_after));
  comparison.fdr = result.question.fdr;
  comparison.margin = result.question.margin;
  const RunVariation& variation = result.tables.back().runs.variation;
  comparison.deviation = variation.deviation;
  comparison.freedom = std::min(variation.degrees_of_freedom, kManyDegrees);
  return comparison;
}

ExitCode WriteView(const DiffOptions& options, const Both& both, PageComparison comparison,
                   const render::Report& report) {
  PageRequest request;
  request.scan = both.before;
  if (options.windows.empty()) {
    request.other = both.after;
  } else {
    request.other_times.emplace();
    std::tie(request.other_times->from, request.other_times->to) = *ParseWindow(options.windows[1]);
  }
  // Folding is for tables by method: a page shows stacks as they are.
  request.scan.fold = false;
  if (request.other) request.other->fold = false;
  request.output = options.html;
  request.force = options.force;
  request.quiet = true;
  request.view = "compare";
  request.tab = "difference";
  request.report = render::HtmlBody(report, /*wide=*/false);
  request.said = true;
  request.icicle = false;
  request.comparison = std::move(comparison);
  const ExitCode code = WritePage(request);
  return code == ExitCode::kDamaged ? ExitCode::kOk : code;
}

ExitCode Read(ComparedRuns* before, ComparedRuns* after, CallTree* tree) {
  const ExitCode first = before->Read(tree);
  if (first == ExitCode::kUnreadable) return first;
  const ExitCode second = after->Read(tree);
  return first != ExitCode::kOk && second != ExitCode::kUnreadable ? first : second;
}

std::string WindowText(const DiffOptions& options, size_t which) {
  return options.windows.empty() ? "" : ", " + options.windows[which];
}

}  // namespace

ExitCode Diff(const DiffOptions& options) {
  const auto by = GroupingsOf(options.by);
  if (!by.ok()) return Usage(by.error());
  auto both = BothOf(options);
  if (!both.ok()) return Usage(both.error());
  both->before.fold = both->after.fold = by->front().by() == By::kMethod;
  const auto scan = RecordingScan::Parse(both->before);
  if (!scan.ok()) return Usage(scan.error());
  if (const auto other = RecordingScan::Parse(both->after); !other.ok()) return Usage(other.error());

  NamePool names(NamePool::Runs::kSeveral);
  CallTree tree(&names, scan->TreeOptions());
  const bool own_frames = options.scan.OwnFrames();
  ComparedRuns before(both->before, *by, own_frames), after(both->after, *by, own_frames);
  const ExitCode read = Read(&before, &after, &tree);
  if (read == ExitCode::kUnreadable) return read;
  const DiffResult result = ResultOf(options, *by, before, after, &*both);
  WarnIfEmpty(before, both->before, "A");
  WarnIfEmpty(after, both->after, "B");
  if (result.reversed) PrintError("B was recorded before A; swap them if this is not intended");
  const DiffSide of_before{before, WindowText(options, 0)}, of_after{after, WindowText(options, 1)};
  const bool is_limited = options.limit || !options.output.is_for_people();
  const render::Report report =
      DiffReport(result, of_before, of_after, {options.all, is_limited, options.limit.value_or(0)}, tree);
  if (!options.html.empty()) {
    const ExitCode page = WriteView(options, *both, ComparisonOf(*both, result, before, after), report);
    if (page != ExitCode::kOk) return page;
  }
  return render::Print(report, options.output, read);
}

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
                 "Compare totals, shares of all bytes, or rates: per second, cpu-second or op (default: total for the "
                 "same work, else share; op with --ops)")
      .Value("UNIT")
      .OneOf(PerWords());
  command.AddOption("--ops", options->operations, "Operations of a run on each side: A=1000,B=1200, or 1000 for both")
      .Value("A=N,B=M");
  command.AddPercent("--fdr", options->fdr, "False discovery rate among reported changes (default: 5%)");
  command.AddPercent("--min-change", options->margin, "Ignore changes below this percentage (default: 0%)", INFINITY);
  command.AddFlag("--objects", options->objects, "Compare objects instead of bytes");
  command.AddFlag("--all", options->all, "Also show changes that are not significant");
  command.AddOption("--limit", options->limit, "Maximum rows; 0 = all (default: 20, or 10 per table; --json: all)")
      .Value("N");
  options->output.AddTo(command);
  command.AddOption("--html", options->html, "Also write the report page with both sides compared").Value("OUT");
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  options->scan.AddTo(command);
  command.operand = "REC...";
  command.footer = R"(Several runs of each side show how much a program varies between runs; the
recordings after "--" are the other side. Three runs of each side find far
smaller changes than one.

Examples:
  heaprec diff monday.hrec tuesday.hrec
  heaprec diff old-1.hrec old-2.hrec old-3.hrec -- new-1.hrec new-2.hrec new-3.hrec
  heaprec diff --ops A=10000,B=12000 --by site before.hrec after.hrec
  heaprec diff --window 10s..20s 40s..60s app.hrec
  heaprec diff --min-change 5% --html diff.html before.hrec after.hrec
  heaprec diff --json --all before.hrec after.hrec | jq '.tables[0].rows[] | select(.verdict == "new")')";
  command.run = [options](const Invocation& call) {
    options->after = call.rest;
    return Diff(*options);
  };
  return command;
}

}  // namespace heaprec::tools
