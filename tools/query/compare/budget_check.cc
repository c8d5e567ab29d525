#include "tools/query/compare/budget_check.h"

#include <fmt/format.h>

#include <functional>

#include "tools/query/compare/budget.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using render::Unit;

// Two totals up to this ratio count as the same work (SameWork).
constexpr double kOtherWork = 1.05;

std::optional<Error> ValidateOptions(const CheckOptions& options, const std::vector<Budget>& budgets) {
  if (budgets.empty() && options.baselines.empty()) {
    return Error{"nothing to check: give --budget 'total<2GiB', or --baseline old.hrec --max-regression 3%"};
  }
  if (options.baselines.empty() != (options.regression < 0)) {
    return Error{"--baseline and --max-regression need each other: --baseline old.hrec --max-regression 3%"};
  }
  const bool per_op = std::ranges::find(budgets, Budget::Per::kOp, &Budget::per) != budgets.end();
  if (per_op && !options.operations) return Error{"a budget per op needs --ops N, the number of operations"};
  if ((options.per == "op") && !options.operations) return Error{"--per op needs --ops N"};
  if (!options.per.empty() && options.baselines.empty()) return Error{"--per needs --baseline"};
  if (options.baseline_operations && !options.operations) return Error{"--baseline-ops needs --ops"};
  return {};
}

// Only exceptions are events.
std::optional<Error> RefuseEvents(const std::vector<Budget>& budgets) {
  const auto wrong = std::ranges::find(budgets, true, &Budget::is_of_events);
  if (wrong == budgets.end()) return {};
  return Error{fmt::format(
      "--budget '{}': events need --kind exception, because only exceptions are events; for objects write 'objects'",
      wrong->text)};
}

// Exceptions are measured in events, not bytes.
std::optional<Error> CountEvents(std::vector<Budget>* budgets) {
  for (Budget& budget : *budgets) {
    if (budget.unit != Budget::Unit::kBytes) continue;
    if (budget.has_unit) {
      return Error{
          fmt::format("--budget '{}': --kind exception counts throws, so the amount is a number: 'class:java.io.*<100'",
                      budget.text)};
    }
    budget.unit = Budget::Unit::kObjects;
  }
  return {};
}

// Returns the total, and each subject once. Shares are compared by bytes, because the budget itself checks the share.
std::vector<Budget> Subjects(const std::vector<Budget>& budgets) {
  std::vector<Budget> subjects(1);
  subjects[0].subject_text = "total";
  for (Budget budget : budgets) {
    if (budget.unit == Budget::Unit::kShare) budget.unit = Budget::Unit::kBytes;
    const bool known = std::ranges::any_of(subjects, [&](const Budget& one) {
      return one.subject_text == budget.subject_text && one.unit == budget.unit;
    });
    if (!known) subjects.push_back(std::move(budget));
  }
  return subjects;
}

CheckOutcome OutcomeOf(const Estimate& value, double limit) {
  if (IsUnknown(value)) return CheckOutcome::kUnknown;
  if (value.low > limit) return CheckOutcome::kExceeded;
  return value.high <= limit ? CheckOutcome::kWithin : CheckOutcome::kInconclusive;
}

// " objects", "" for bytes; for exceptions both are events.
std::string_view Noun(Budget::Unit unit, bool counts_events) {
  if (counts_events) return " events";
  return unit == Budget::Unit::kObjects ? " objects" : "";
}

// The total is the counted one, if available. For a time without data it is unknown, not 0.
GroupEstimates EstimatesOf(const RecordingScan& scan, const BudgetVisitor& visitor, const Budget& budget,
                           size_t index) {
  if (scan.lacks_data() || visitor.MissesStackChunks(index)) return kUnknownGroup;
  return budget.subject == Budget::Subject::kTotal ? scan.matched() : visitor.Of(index);
}

// Returns why a budget without samples has no verdict: its name may be mistyped, or may have changed. Empty: it has
// one.
std::string WhyNotJudged(const CheckQuestion& question, const BudgetVisitor& spent, size_t index) {
  const Budget& budget = question.budgets[index];
  const bool has_names = budget.pattern && budget.subject != Budget::Subject::kRule;
  if (!has_names || budget.may_be_absent || spent.Of(index).samples > 0 || spent.IsCounted(index)) return {};
  std::vector<std::string> files = question.options.scan.files;
  files.insert(files.end(), question.options.baselines.begin(), question.options.baselines.end());
  const auto why =
      WhyNoMatch({budget.Kind(), "", budget.pattern_text, std::bind_front(&Budget::Matches, &budget)}, files);
  return why ? *why + "; '?' at the end of the pattern allows that" : "";
}

// One sample exceeds a budget of 0.
CheckResult CheckBudget(const Budget& budget, const GroupEstimates& estimates, double seconds,
                        const CheckQuestion& question) {
  const bool is_share = budget.unit == Budget::Unit::kShare;
  Scale scale{.per = is_share                             ? Per::kShare
                     : budget.per == Budget::Per::kSecond ? Per::kSecond
                     : budget.per == Budget::Per::kOp     ? Per::kOp
                                                          : Per::kTotal,
              .objects = budget.unit == Budget::Unit::kObjects,
              .operations = question.options.operations.value_or(0),
              .seconds = seconds};
  const Estimate value = scale.Of(estimates);
  const bool is_broken = budget.limit <= 0 && estimates.samples > 0;
  CheckResult result;
  result.name = ToUtf8(budget.text);
  result.outcome = is_broken ? CheckOutcome::kExceeded : OutcomeOf(value, budget.limit);
  result.value = value;
  result.limit = budget.limit;
  if (is_share) result.unit = Unit::kShare;
  if (scale.objects) result.unit = Unit::kCount;
  if (!is_share) result.suffix = std::string(Noun(budget.unit, question.counts_events)) + scale.Suffix();
  return result;
}

// One side of a comparison with a baseline, with the amount of each subject in each run.
struct SideOfCheck {
  ComparedRuns runs;
  std::vector<BudgetVisitor> subjects;  // by run
  double operations;

  SideOfCheck(const CheckQuestion& question, const std::vector<std::string>& files, double its_operations)
      : runs(ScanOf(question, files), question.rows), operations(its_operations) {
    for (size_t run = 0; run < files.size(); ++run) subjects.emplace_back(&question.subjects);
  }
  static ScanOptions ScanOf(const CheckQuestion& question, const std::vector<std::string>& files) {
    ScanOptions scan = question.options.scan;
    scan.files = files;
    return scan;
  }
  ExitCode Read(CallTree* tree) {
    std::vector<ScanVisitor*> beside;
    for (BudgetVisitor& one : subjects) beside.push_back(&one);
    return runs.Read(tree, beside);
  }
  bool is_imported() const { return std::ranges::any_of(subjects, &BudgetVisitor::is_imported); }
  bool HasData() const {
    for (size_t run = 0; run < runs.size(); ++run) {
      if (runs.scan(run).lacks_data()) return false;
    }
    return true;
  }
  Scale ScaleOf(Scale scale) const {
    scale.operations = operations;
    return scale;
  }
  std::vector<Estimate> ValuesOf(const Budget& subject, size_t index, const Scale& scale) const {
    std::vector<Estimate> values;
    for (size_t run = 0; run < runs.size(); ++run) {
      const GroupEstimates estimates = EstimatesOf(runs.scan(run), subjects[run], subject, index);
      values.push_back(runs.ScaleOf(run, ScaleOf(scale)).Of(estimates));
    }
    return values;
  }
};

// The default unit for a comparison with a baseline: the same as diff's.
Per UnitOf(const CheckOptions& options, const ComparedRuns& before, const ComparedRuns& now) {
  if (!options.per.empty()) return PerOf(options.per);
  if (options.operations) return Per::kOp;
  return SameWork(before.WorkOf({}), now.WorkOf({}), false).empty() ? Per::kShare : Per::kTotal;
}

CheckResult CheckedRatio(const CheckQuestion& question, std::string_view subject, const Scale& scale,
                         const Difference& of) {
  const bool is_share = scale.per == Per::kShare, counts = scale.objects || question.counts_events;
  const std::string noun(Noun(scale.objects ? Budget::Unit::kObjects : Budget::Unit::kBytes, question.counts_events));
  const double most = 1 + question.options.regression;
  return {fmt::format("{} against the baseline, {}{}{}", subject, is_share ? "share of " : "",
                      noun.empty() ? "bytes" : noun.substr(1), scale.Suffix()),
          OutcomeOf(of.ratio, most),
          of.ratio,
          most,
          is_share ? Unit::kShare
          : counts ? Unit::kCount
                   : Unit::kBytes,
          scale.Suffix(),
          of,
          false,
          {}};
}

// Tests one subject against the baseline. That needs the subject's variation between runs: with one run per side, the
// variation of the other rows stands in for it (`variation`). A total (index 0) has no other rows, and without --ops it
// also depends on the machine's speed and the duration; so with one run per side an increase that such differences
// explain is inconclusive.
CheckResult CheckRegression(const CheckQuestion& question, const SideOfCheck& before, const SideOfCheck& now, Per per,
                            size_t index, const RunVariation& variation) {
  const Budget& subject = question.subjects[index];
  Scale scale{.per = per, .objects = subject.unit == Budget::Unit::kObjects};
  // Objects have no shares, and the share of everything is constant: their rate is the most informative.
  if (per == Per::kShare && (scale.objects || index == 0)) scale.per = Per::kSecond;
  const RunsOfRow runs{before.ValuesOf(subject, index, scale), now.ValuesOf(subject, index, scale), 0};
  CheckResult result = CheckedRatio(question, ToUtf8(subject.subject_text), scale,
                                    CompareTotals(runs, {}, index > 0 ? &variation : nullptr));
  if (before.runs.size() + now.runs.size() > 2 || result.outcome == CheckOutcome::kUnknown) return result;
  const bool is_chosen_total = index == 0 && scale.per == Per::kTotal && question.options.per.empty();
  result.needs_runs = !CanJudge(before.runs, now.runs, scale.per, SidesAre::kRecordings) ||
                      (is_chosen_total && result.outcome == CheckOutcome::kExceeded && result.value.low < kOtherWork);
  if (result.needs_runs) result.outcome = CheckOutcome::kInconclusive;
  return result;
}

// Tests all rows of the grouping together, and returns those that exceed the baseline.
CheckedRows CheckRows(const CheckQuestion& question, const SideOfCheck& before, const SideOfCheck& now, Per per,
                      const CallTree& tree, RunVariation* variation) {
  const bool judged = CanJudge(before.runs, now.runs, per, SidesAre::kRecordings);
  const CheckOptions& options = question.options;
  const Grouping& by = question.rows.front();
  const Scale scale{.per = per};
  const ComparedRows rows = CompareTables(
      before.runs, now.runs, 0, before.ScaleOf(scale), now.ScaleOf(scale),
      {.margin = options.regression, .fdr = options.fdr, .asked = Alternative::kMore, .is_judged = judged});
  *variation = rows.runs.variation;
  CheckedRows checked{by.Text(), rows.rows.size(), options.fdr, rows.runs.DetectableAt(0.05), judged, {}};
  for (const ComparedRow& row : rows.rows) {
    if (row.difference.verdict == Verdict::kSame) continue;
    const std::string subject = fmt::format("{}:{}", by.Text(), RowName(by, row.key, tree));
    checked.exceeded.push_back(CheckedRatio(question, subject, scale, row.difference));
    checked.exceeded.back().outcome = CheckOutcome::kExceeded;
  }
  return checked;
}

bool IsRead(ExitCode code) { return code == ExitCode::kOk || code == ExitCode::kDamaged; }

ExitCode Compare(const CheckQuestion& question, CallTree* tree, CheckAnswer* answer) {
  const CheckOptions& options = question.options;
  const double operations = options.operations.value_or(0);
  SideOfCheck before(question, options.baselines, options.baseline_operations.value_or(operations));
  SideOfCheck now(question, options.scan.files, operations);
  for (SideOfCheck* side : {&before, &now}) {
    const ExitCode code = side->Read(tree);
    if (!IsRead(code)) return code;
  }
  const Per per = UnitOf(options, before.runs, now.runs);
  RunVariation variation = CompareRuns({}, {}).variation;  // the usual variation
  if (!question.rows.empty() && before.HasData() && now.HasData()) {
    answer->rows = CheckRows(question, before, now, per, *tree, &variation);
  }
  for (size_t i = 0; i < question.subjects.size(); ++i) {
    answer->checks.push_back(CheckRegression(question, before, now, per, i, variation));
  }
  answer->runs = now.runs.size(), answer->runs_of_baseline = before.runs.size();
  answer->doubt_of_baseline = before.runs.TrustVerdict();
  answer->is_imported |= before.is_imported();
  return ExitCode::kOk;
}

// Numbers are still shown, but there is no verdict.
void Withhold(CheckAnswer* answer) {
  for (CheckResult& check : answer->checks) check.outcome = CheckOutcome::kInconclusive;
  if (answer->rows) answer->rows->exceeded.clear();
}

ExitCode CheckOnce(const CheckQuestion& question, NamePool* names, CheckAnswer* answer) {
  const CheckOptions& options = question.options;
  RecordingScan scan = *RecordingScan::Parse(options.scan);
  CallTree tree(names, scan.TreeOptions());
  BudgetVisitor budgets(&question.budgets);
  const ExitCode read = scan.Run(&tree, &budgets);
  if (!IsRead(read)) return read;
  answer->recording = ToUtf8(options.scan.files.front());
  answer->seconds = budgets.seconds();
  answer->observed = scan.summary().scanned().Line(scan.summary().scanned().matched);
  answer->scan = scan.summary().AsObject();
  // Without samples the total is still counted, and a part of it is between 0 and the total.
  const bool lacks_samples_only = scan.summary().scanned().events == 0 && scan.summary().scanned().complete &&
                                  !scan.lacks_data() && scan.total().low > 0 &&
                                  scan.summary().trust_reasons().size() == 1;
  if (!lacks_samples_only) answer->doubt = scan.summary().TrustVerdict();
  answer->is_imported = budgets.is_imported();
  answer->accepts_untrustworthy = options.accepts_untrustworthy, answer->is_strict = options.is_strict;
  for (size_t i = 0; i < question.budgets.size(); ++i) {
    const GroupEstimates estimates = EstimatesOf(scan, budgets, question.budgets[i], i);
    answer->checks.push_back(CheckBudget(question.budgets[i], estimates, answer->seconds, question));
    CheckResult& check = answer->checks.back();
    check.why_unknown = WhyNotJudged(question, budgets, i);
    if (!check.why_unknown.empty()) check.outcome = CheckOutcome::kUnknown;
  }
  if (!options.baselines.empty()) {
    const ExitCode compared = Compare(question, &tree, answer);
    if (!IsRead(compared)) return compared;
  }
  if (answer->IsWithheld()) Withhold(answer);
  return read;
}

}  // namespace

Result<CheckQuestion> CheckQuestion::Parse(const CheckOptions& options) {
  CheckQuestion question{.options = options, .budgets = {}, .subjects = {}, .rows = {}};
  for (const std::string& text : options.budgets) {
    auto budget = Budget::Parse(text);
    if (!budget.ok()) return budget.error();
    question.budgets.push_back(std::move(*budget));
  }
  if (const auto wrong = ValidateOptions(options, question.budgets)) return *wrong;
  const auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return scan.error();
  question.counts_events = scan->of_exceptions();
  if (scan->stream() != format::Stream::kAllocations) {
    const auto rule = std::ranges::find(question.budgets, Budget::Subject::kRule, &Budget::subject);
    if (rule != question.budgets.end())
      return Error{
          fmt::format("--budget '{}': rules are for allocations in the heap, not for this --kind", rule->text)};
  }
  const auto wrong = question.counts_events ? CountEvents(&question.budgets) : RefuseEvents(question.budgets);
  if (wrong) return *wrong;
  if (options.baselines.empty()) return question;
  question.subjects = Subjects(question.budgets);
  if (options.by == kByNothing) return question;
  auto by = Grouping::Parse(options.by);
  if (!by.ok()) return by.error();
  question.options.scan.fold = by->by() == By::kMethod;
  question.rows.push_back(std::move(*by));
  return question;
}

std::vector<CheckResult> CheckAnswer::All() const {
  std::vector<CheckResult> all = checks;
  if (rows) all.insert(all.end(), rows->exceeded.begin(), rows->exceeded.end());
  return all;
}

ExitCode Check(const CheckQuestion& question, CheckAnswer* answer) {
  CheckQuestion asked = question;
  ScanOptions all = asked.options.scan;
  all.files.insert(all.files.end(), asked.options.baselines.begin(), asked.options.baselines.end());
  NamePool names(all.Naming());
  const ExitCode read = ReadNamed(names.merged(), [&](bool is_again) {
    names.Clear();
    asked.options.scan.quiet = is_again;
    *answer = {};
    return CheckOnce(asked, &names, answer);
  });
  if (names.merged() != nullptr) answer->merged_names = names.merged()->Text();
  return read;
}

}  // namespace heaprec::tools
