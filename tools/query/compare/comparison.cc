#include "tools/query/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace heaprec::tools {
namespace {

// Parses the whole text as a number above 0.
std::optional<double> ParseNumber(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number > 0) || std::isinf(number)) return {};
  return number;
}

// The size of a row's change; unknown ones sort last.
double SizeOf(const ComparedRow& row) {
  const double change = row.difference.change.value;
  return std::isnan(change) ? -1 : std::abs(change);
}

// Rows with a smaller share are not tested: their few bytes mainly show when the JIT compiled code.
constexpr double kLeastShare = 0.005;
// A smaller difference is the same work; a larger difference of rates another speed. As the logarithm of a ratio.
constexpr double kSameWork = 0.0488, kOtherSpeed = 0.0488;

double MeanOf(const std::vector<Estimate>& runs) {
  double sum = 0;
  for (const Estimate& run : runs) sum += run.value;
  return sum / static_cast<double>(runs.size());
}

double RatioOfMeans(const std::vector<Estimate>& before, const std::vector<Estimate>& after) {
  const double ratio = MeanOf(after) / MeanOf(before);
  return ratio > 0 && std::isfinite(ratio) ? ratio : 1;
}

bool IsNear(double a, double b) { return std::abs(std::log(a / b)) < kSameWork; }

// The ratio, after to before, below which rows have half of all bytes (or objects).
double MiddleRatio(const Work& before, const Work& after, bool objects) {
  std::map<GroupTable::Key, std::pair<double, double>> rows;
  const auto add = [&](const Work& side, double std::pair<double, double>::*sum) {
    for (const GroupTable* table : side.tables) {
      for (const GroupTable::Row& row : table->Rows()) {
        const double value = objects ? row.estimates.objects.value : row.estimates.bytes.value;
        rows[row.key].*sum += std::isfinite(value) ? value / static_cast<double>(side.tables.size()) : 0;
      }
    }
  };
  add(before, &std::pair<double, double>::first);
  add(after, &std::pair<double, double>::second);
  std::vector<std::pair<double, double>> ratios;  // with weights
  double all = 0;
  for (const auto& [key, sums] : rows) {
    ratios.emplace_back(sums.second / sums.first, sums.first + sums.second);
    all += sums.first + sums.second;
  }
  std::ranges::sort(ratios);
  double below = 0;
  for (const auto& [ratio, weight] : ratios) {
    below += weight;
    if (below >= all / 2) return ratio;
  }
  return 1;
}

// If a side's runs differ, they are not repetitions of the same work.
bool IsSteady(const Work& side) {
  return std::ranges::all_of(side.totals, [&](const Estimate& run) { return IsNear(run.value, MeanOf(side.totals)); });
}

// A table of one run.
struct TableOfRun {
  const GroupTable* table = nullptr;
  Scale scale;
  const ProgressBlocks* progress = nullptr;  // null: unknown
  const GroupTable* parts = nullptr;         // if rows share samples, a table of rows that do not
};

std::vector<TableOfRun> TablesOf(const ComparedRuns& side, size_t table, const Scale& scale) {
  std::vector<TableOfRun> all;
  for (size_t run = 0; run < side.size(); ++run) {
    const ComparisonSide& of = side.tables(run);
    all.push_back({&of.table(table), side.ScaleOf(run, scale), of.progress(table), of.parts(table)});
  }
  return all;
}

// Returns the variance over time if both sides have one run with rows over time; otherwise 0.
double OverTime(const std::vector<TableOfRun>& before, const std::vector<TableOfRun>& after, GroupTable::Key key) {
  if (before.size() != 1 || after.size() != 1) return 0;
  if (before.front().progress == nullptr || after.front().progress == nullptr) return 0;
  const ProgressBlocks::Blocks was = before.front().progress->Of(key), is = after.front().progress->Of(key);
  return VarianceOverTime(was, is);
}

using TableMember = const GroupTable* TableOfRun::*;

std::set<GroupTable::Key> KeysOf(const std::vector<TableOfRun>& before, const std::vector<TableOfRun>& after,
                                 TableMember table) {
  std::set<GroupTable::Key> keys;
  for (const auto* side : {&before, &after}) {
    for (const TableOfRun& run : *side) {
      for (const GroupTable::Row& row : (run.*table)->Rows()) keys.insert(row.key);
    }
  }
  return keys;
}

RunsOfRow RunsOf(const std::vector<TableOfRun>& before, const std::vector<TableOfRun>& after, TableMember table,
                 GroupTable::Key key) {
  RunsOfRow runs;
  for (const TableOfRun& run : before) runs.before.push_back(run.scale.Of((run.*table)->Of(key)));
  for (const TableOfRun& run : after) runs.after.push_back(run.scale.Of((run.*table)->Of(key)));
  return runs;
}

// Passes the same blocks to two visitors.
class VisitorPair final : public ScanVisitor {
 public:
  VisitorPair(ScanVisitor* first, ScanVisitor* second) : both_{first, second} {}
  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override {
    return std::ranges::all_of(both_, [&](const ScanVisitor* one) { return one->takes_rows(begin_ns, end_ns); });
  }
  void Begin(const format::FileHeader& header) override {
    for (ScanVisitor* one : both_) one->Begin(header);
  }
  void Visit(const MatchedBlock& matched_block) override {
    for (ScanVisitor* one : both_) one->Visit(matched_block);
  }
  void End(const Estimator& estimator, double seconds) override {
    for (ScanVisitor* one : both_) one->End(estimator, seconds);
  }

 private:
  const std::array<ScanVisitor*, 2> both_;
};

bool Differs(const ComparedRow& row) { return row.difference.verdict != Verdict::kSame; }

}  // namespace

const std::vector<std::string>& PerWords() {
  static const auto* words = new std::vector<std::string>{"second", "total", "share", "cpu-second", "op"};
  return *words;
}

Per PerOf(std::string_view word) {
  const auto at = std::ranges::find(PerWords(), word);
  return static_cast<Per>(at - PerWords().begin());
}

Estimate Scale::Of(const GroupEstimates& estimates) const {
  if (per == Per::kShare) return objects ? kUnknownEstimate : estimates.share;
  const Estimate of = objects ? estimates.objects : estimates.bytes;
  double normalization = 1;
  if (per == Per::kSecond) normalization = seconds;
  if (per == Per::kCpuSecond) normalization = cpu_seconds;
  if (per == Per::kOp) normalization = operations;
  return normalization > 0 ? Scaled(of, 1 / normalization) : kUnknownEstimate;
}

std::string Scale::Suffix() const {
  if (per == Per::kSecond) return "/s";
  if (per == Per::kOp) return "/op";
  return per == Per::kCpuSecond ? "/CPU s" : "";
}

Result<std::pair<double, double>> ParseOperations(std::string_view text) {
  const Error wrong{
      fmt::format("--ops {}: expected the operations on each side, A=1000,B=1200, or 1000 for both", text)};
  if (const auto both = ParseNumber(text)) return std::pair(*both, *both);
  std::optional<double> before, after;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.starts_with("A=")) {
      before = ParseNumber(part.substr(2));
    } else if (part.starts_with("B=")) {
      after = ParseNumber(part.substr(2));
    } else {
      return wrong;
    }
  }
  if (!before || !after) return wrong;
  return std::pair(*before, *after);
}

ComparisonSide::ComparisonSide(const std::vector<Grouping>& by) : groups_(by.begin(), by.end()) {
  progress_.resize(groups_.size());
}

bool ComparisonSide::takes_rows(uint64_t, uint64_t) const { return std::ranges::all_of(groups_, &Groups::takes_rows); }

void ComparisonSide::Begin(const format::FileHeader& header) {
  start_epoch_ns_ = std::min(start_epoch_ns_, header.start_epoch_ns);
  epoch_ns_ = header.start_epoch_ns;
  for (Groups& one : groups_) one.Begin();
}

void ComparisonSide::Visit(const MatchedBlock& matched_block) {
  for (const format::ProcessState& state : matched_block.block.states) {
    if (state.paused_ns == 0) continue;
    pauses_.push_back({epoch_ns_ + state.time_ns, state.paused_ns, state.kind == format::ProcessStateKind::kGcEnd});
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].Visit(matched_block);
    if (groups_[i].cumulative() != nullptr) continue;
    const std::vector<GroupTable::Key>& keys = groups_[i].keys();
    for (size_t at = 0; at < matched_block.drawn.size(); ++at) {
      const WeightedSample& one = *matched_block.drawn[at];
      progress_[i].Add(keys[at], matched_block.block.samples[one.index].time_ns, one.weight);
    }
  }
}

void ComparisonSide::End(const Estimator& estimator, double) {
  for (Groups& one : groups_) one.End(estimator);
}

const GroupTable& ComparisonSide::table(size_t i) const {
  const Groups& of = groups_[i];
  return of.cumulative() != nullptr ? *of.cumulative() : of.own();
}

const GroupTable* ComparisonSide::parts(size_t i) const {
  return groups_[i].cumulative() != nullptr ? &groups_[i].own() : nullptr;
}

const ProgressBlocks* ComparisonSide::progress(size_t i) const {
  return groups_[i].cumulative() == nullptr ? &progress_[i] : nullptr;
}

ComparedRuns::ComparedRuns(const ScanOptions& side, const std::vector<Grouping>& by) : files_(side.files) {
  for (const std::string& file : files_) {
    ScanOptions run = side;
    run.files = {file};
    surveys_.push_back(*RecordingScan::Parse(run));
    tables_.emplace_back(by);
  }
}

ExitCode ComparedRuns::Read(CallTree* tree, const std::vector<ScanVisitor*>& beside) {
  ExitCode code = ExitCode::kOk;
  for (size_t run = 0; run < size(); ++run) {
    VisitorPair pair(&tables_[run], beside.empty() ? nullptr : beside[run]);
    const ExitCode one = surveys_[run].Run(tree, beside.empty() ? &tables_[run] : static_cast<ScanVisitor*>(&pair));
    if (one == ExitCode::kUnreadable) return one;
    if (one != ExitCode::kOk) code = one;
  }
  return code;
}

uint64_t ComparedRuns::start_epoch_ns() const {
  uint64_t first = UINT64_MAX;
  for (const ComparisonSide& run : tables_) first = std::min(first, run.start_epoch_ns());
  return first;
}

Scale ComparedRuns::ScaleOf(size_t run, Scale scale) const {
  scale.seconds = surveys_[run].summary().scanned().seconds;
  scale.cpu_seconds = surveys_[run].cpu() ? surveys_[run].cpu()->process : 0;
  return scale;
}

std::vector<Scale> ComparedRuns::Scales(const Scale& scale) const {
  std::vector<Scale> scales;
  for (size_t run = 0; run < size(); ++run) scales.push_back(ScaleOf(run, scale));
  return scales;
}

std::vector<Estimate> ComparedRuns::Totals(const Scale& scale) const {
  std::vector<Estimate> totals;
  for (size_t run = 0; run < size(); ++run) totals.push_back(ScaleOf(run, scale).Of(surveys_[run].matched()));
  return totals;
}

Work ComparedRuns::WorkOf(Scale scale) const {
  scale.per = Per::kTotal;
  Work work{Totals(scale), {}};
  for (const ComparisonSide& run : tables_) {
    if (run.has_tables()) work.tables.push_back(&run.table(0));
  }
  return work;
}

bool ComparedRuns::HasCpuTime() const {
  return std::ranges::all_of(surveys_, [](const RecordingScan& run) { return run.cpu().has_value(); });
}

ComparedRuns::GcPauses ComparedRuns::PausesOf(size_t run) const {
  GcPauses sum;
  for (const ComparisonSide::Pause& pause : tables_[run].pauses()) {
    const bool is_asked = std::ranges::any_of(surveys_[run].asked_times(), [&](const auto& time) {
      return pause.end_epoch_ns >= time.first && pause.end_epoch_ns <= time.second;
    });
    if (!is_asked) continue;
    const double seconds = static_cast<double>(pause.ns) * 1e-9;
    sum.seconds += seconds;
    if (pause.is_one) sum.longest = std::max(sum.longest, seconds);
  }
  return sum;
}

std::string ComparedRuns::TrustVerdict() const {
  for (const RecordingScan& run : surveys_) {
    if (std::string doubt = run.summary().TrustVerdict(); !doubt.empty()) return doubt;
  }
  return "";
}

std::string SameWork(const Work& before, const Work& after, bool objects) {
  if (!IsSteady(before) || !IsSteady(after)) return "";
  if (IsNear(MeanOf(before.totals), MeanOf(after.totals))) {
    return "the same work: all that each side allocated differs by less than 5 %";
  }
  if (IsNear(MiddleRatio(before, after, objects), 1)) {
    return "the same work: half of what was allocated differs by less than 5 %";
  }
  return "";
}

ChosenUnit ChooseUnit(const ComparedRuns& before, const ComparedRuns& after, const Scale& scale, SidesAre sides) {
  if (scale.operations > 0) return {Per::kOp, "--ops gives the operations"};
  if (sides == SidesAre::kPartsOfOne) return {Per::kSecond, "both sides are parts of one recording"};
  const Work was = before.WorkOf(scale), is = after.WorkOf(scale);
  if (const std::string reason = SameWork(was, is, scale.objects); !reason.empty()) return {Per::kTotal, reason};
  if (sides == SidesAre::kWholeRuns && IsSteady(was) && IsSteady(is)) {
    return {Per::kTotal, "each run is the whole work of its command, and all of a side's allocate the same"};
  }
  if (scale.objects) {
    if (before.HasCpuTime() && after.HasCpuTime()) return {Per::kCpuSecond, "the runs allocated different totals"};
    return {Per::kSecond, "the runs allocated different totals, and a recording lacks CPU time"};
  }
  return {Per::kShare, "the runs allocated different totals; the first line compares the rate"};
}

bool CanJudge(const ComparedRuns& before, const ComparedRuns& after, Per per, SidesAre sides) {
  const bool is_rate = per == Per::kSecond || per == Per::kCpuSecond;
  return !is_rate || sides == SidesAre::kPartsOfOne || before.size() + after.size() > 2;
}

MachineSpeed CompareSpeed(const ComparedRuns& before, const ComparedRuns& after) {
  MachineSpeed speed;
  if (!before.HasCpuTime() || !after.HasCpuTime()) return speed;
  speed.ratio_per_second = RatioOfMeans(before.Totals({.per = Per::kSecond}), after.Totals({.per = Per::kSecond}));
  speed.ratio_per_cpu_second =
      RatioOfMeans(before.Totals({.per = Per::kCpuSecond}), after.Totals({.per = Per::kCpuSecond}));
  const double wall = std::abs(std::log(speed.ratio_per_second)), cpu = std::abs(std::log(speed.ratio_per_cpu_second));
  speed.is_cause = wall > kOtherSpeed && cpu < wall / 2;
  return speed;
}

std::string RowName(const Grouping& by, GroupTable::Key key, const CallTree& tree) {
  if (by.by() != By::kStack) return by.NameOf(key, tree);
  std::string stack;
  for (CallTree::NodeId node = key; node != CallTree::kRoot; node = tree.At(node).parent) {
    stack.insert(0, std::string(tree.NameOf(node)) + (stack.empty() ? "" : ";"));
  }
  return stack;
}

ComparedRows CompareTables(const ComparedRuns& side_before, const ComparedRuns& side_after, size_t table,
                           const Scale& scale_before, const Scale& scale_after, const Question& question) {
  const std::vector<TableOfRun> before = TablesOf(side_before, table, scale_before),
                                after = TablesOf(side_after, table, scale_after);
  ComparedRows all;
  const bool overlaps = !before.empty() && before.front().parts != nullptr;
  std::vector<RunsOfRow> values;
  for (const GroupTable::Key key : KeysOf(before, after, &TableOfRun::table)) {
    ComparedRow row;
    row.key = key;
    values.push_back(RunsOf(before, after, &TableOfRun::table, key));
    values.back().over_time = OverTime(before, after, key);
    values.back().overlaps = overlaps;
    values.back().is_asked = question.is_judged;
    for (const TableOfRun& run : before) row.points_before += run.table->Of(key).samples;
    for (const TableOfRun& run : after) row.points_after += run.table->Of(key).samples;
    all.rows.push_back(row);
  }
  if (overlaps) {
    for (const GroupTable::Key key : KeysOf(before, after, &TableOfRun::parts)) {
      values.push_back(RunsOf(before, after, &TableOfRun::parts, key));
      values.back().is_asked = false;
    }
  }
  all.runs = CompareRuns(
      values, {.rate = question.fdr, .margin = question.margin, .asked = question.asked, .least_share = kLeastShare});
  for (size_t i = 0; i < all.rows.size(); ++i) all.rows[i].difference = all.runs.rows[i];
  all.runs.rows.clear();
  std::stable_sort(all.rows.begin(), all.rows.end(), [](const ComparedRow& a, const ComparedRow& b) {
    if (Differs(a) != Differs(b)) return Differs(a);
    return SizeOf(a) > SizeOf(b);
  });
  return all;
}

}  // namespace heaprec::tools
