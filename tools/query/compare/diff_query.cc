#include "tools/query/compare/diff_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "tools/query/filter/event_filter.h"

namespace heaprec::tools {
namespace {

constexpr double kSharesThatCount = 0.01;

Result<std::pair<std::string, std::string>> ParseWindow(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos || dots == 0 || dots + 2 == text.size()) {
    return Error{fmt::format("--window {}: expected FROM..TO, such as 10s..20s", text)};
  }
  return std::pair(text.substr(0, dots), text.substr(dots + 2));
}

// With shares, the total is shown as a rate per second.
Scale ScaleOfTotal(Scale scale) {
  if (scale.per == Per::kShare) scale.per = Per::kSecond;
  return scale;
}

SidesAre KindOfSides(const DiffOptions& options) {
  if (!options.windows.empty()) return SidesAre::kPartsOfOne;
  return options.whole_runs ? SidesAre::kWholeRuns : SidesAre::kRecordings;
}

}  // namespace

std::optional<Error> DiffScan::Sides::SetWindows(const DiffOptions& options) {
  const auto first = ParseWindow(options.windows[0]), second = ParseWindow(options.windows[1]);
  if (!first.ok()) return first.error();
  if (!second.ok()) return second.error();
  if (options.scan.files.size() != 1 || !options.scan.filter.from.empty() || !options.scan.filter.to.empty()) {
    return Error{"--window takes one recording and excludes --from and --to"};
  }
  std::tie(before.filter.from, before.filter.to) = *first;
  std::tie(after.filter.from, after.filter.to) = *second;
  return {};
}

std::optional<Error> DiffScan::Sides::SetScales(const DiffOptions& options) {
  if (!options.per.empty()) per = PerOf(options.per);
  if (options.per.empty() && !options.operations.empty()) per = Per::kOp;
  scale_before = scale_after = {.objects = options.objects};
  if ((per == Per::kOp) != !options.operations.empty()) {
    return Error{"--per op and --ops A=N,B=M need each other; --ops gives the operations of a run on each side"};
  }
  before.shares = after.shares = ScanOptions::ShareOf::kSpan;
  if (per == Per::kShare && options.objects) return Error{"--per share compares shares of bytes; remove --objects"};
  if (per != Per::kOp) return {};
  const auto operations = ParseOperations(options.operations);
  if (!operations.ok()) return operations.error();
  std::tie(scale_before.operations, scale_after.operations) = *operations;
  return {};
}

Result<DiffScan::Sides> DiffScan::Sides::Of(const DiffOptions& options) {
  Sides sides{options.scan, options.scan, {}, {}, {}};
  if (!options.windows.empty()) {
    if (const auto wrong = sides.SetWindows(options)) return *wrong;
  } else if (!options.after.empty()) {
    sides.after.files = options.after;
  } else if (options.scan.files.size() != 2) {
    return Error{
        "give two recordings, A B; several runs of each side, A1 A2 A3 -- B1 B2 B3; or two windows of one recording: "
        "--window 10s..20s 40s..60s A"};
  } else {
    sides.before.files = {options.scan.files[0]};
    sides.after.files = {options.scan.files[1]};
  }
  if (const auto wrong = sides.SetScales(options)) return *wrong;
  return sides;
}

Result<DiffScan> DiffScan::Parse(const DiffOptions& options) {
  auto by = GroupingsOption(options.by, {By::kClass, By::kSite});
  if (!by.ok()) return by.error();
  auto sides = Sides::Of(options);
  if (!sides.ok()) return sides.error();
  for (ScanOptions* side : {&sides->before, &sides->after}) {
    side->fold = by->front().by() == By::kMethod;
    if (const auto scan = RecordingScan::Parse(*side); !scan.ok()) return scan.error();
  }
  return DiffScan(options, std::move(*sides), std::move(*by));
}

DiffScan::DiffScan(DiffOptions options, Sides sides, std::vector<Grouping> by)
    : options_(std::move(options)), sides_(std::move(sides)), by_(std::move(by)) {
  ScanOptions all = sides_.before;
  all.files.insert(all.files.end(), sides_.after.files.begin(), sides_.after.files.end());
  names_ = std::make_unique<NamePool>(all.Naming());
}

ExitCode DiffScan::ReadSides() {
  tree_ = std::make_unique<CallTree>(names_.get(), RecordingScan::Parse(sides_.before)->TreeOptions());
  before_ = std::make_unique<ComparedRuns>(sides_.before, by_);
  after_ = std::make_unique<ComparedRuns>(sides_.after, by_);
  ExitCode code = ExitCode::kOk;
  for (ComparedRuns* side : {before_.get(), after_.get()}) {
    const ExitCode one = side->Read(tree_.get());
    if (one == ExitCode::kUnreadable) return one;
    if (code == ExitCode::kOk) code = one;
  }
  return code;
}

ExitCode DiffScan::Run() {
  const ExitCode code = ReadNamed(names_->merged(), [&](bool is_again) {
    names_->Clear();
    sides_.before.quiet = sides_.after.quiet = is_again;
    return ReadSides();
  });
  if (code != ExitCode::kUnreadable) Compare();
  return code;
}

// Sets the unit of both scales, and returns the reason.
std::string DiffScan::ChooseScales() {
  ChosenUnit unit = ChooseUnit(*before_, *after_, sides_.scale_before, KindOfSides(options_));
  if (sides_.per) unit = {*sides_.per, options_.per.empty() ? "--ops gives the operations" : "as set by --per"};
  if (unit.per == Per::kSecond && result_.speed.is_cause) {
    unit = {Per::kCpuSecond, "the sides ran at different speeds; rates per second would only show that"};
  }
  sides_.scale_before.per = sides_.scale_after.per = unit.per;
  return unit.reason;
}

void DiffScan::Compare() {
  result_.speed = CompareSpeed(*before_, *after_);
  result_.unit_reason = ChooseScales();
  result_.scale = sides_.scale_before;
  result_.question = {options_.margin, options_.fdr, Alternative::kEither,
                      CanJudge(*before_, *after_, result_.scale.per, KindOfSides(options_))};
  result_.reversed = options_.windows.empty() && after_->start_epoch_ns() < before_->start_epoch_ns();
  for (size_t i = 0; i < by_.size(); ++i) {
    ComparedRows rows = CompareTables(*before_, *after_, i, sides_.scale_before, sides_.scale_after, result_.question);
    ComparedTable table{by_[i], std::move(rows.rows), 0, std::move(rows.runs)};
    for (const ComparedRow& row : table.rows) table.changed += row.difference.verdict != Verdict::kSame;
    result_.tables.push_back(std::move(table));
  }
  result_.total_scale = ScaleOfTotal(sides_.scale_before);
  result_.total =
      CompareTotals({before_->Totals(result_.total_scale), after_->Totals(ScaleOfTotal(sides_.scale_after)), 0});
}

bool IsDecided(const DiffOptions& options, double resolution) {
  DiffOptions by_site = options;
  by_site.by = "site";
  auto diff = DiffScan::Parse(by_site);
  if (!diff.ok() || diff->Run() != ExitCode::kOk) return false;
  const std::vector<ComparedRow>& rows = diff->result().tables.front().rows;
  const auto bytes_of = [](const Difference& of) { return of.before.value + of.after.value; };
  double all = 0;
  for (const ComparedRow& row : rows) all += bytes_of(row.difference);
  return std::ranges::all_of(rows, [&](const ComparedRow& row) {
    const Difference& of = row.difference;
    return bytes_of(of) <= kSharesThatCount * all || of.verdict != Verdict::kSame ||
           (of.ratio.low >= 1 - resolution && of.ratio.high <= 1 + resolution);
  });
}

}  // namespace heaprec::tools
