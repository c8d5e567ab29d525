// Two sides of a comparison: what each recorded, in which unit they compare, and which rows of a table differ.
//
//   Side before({Grouping(By::kClass)}, false), after(...);   // scanned with one call tree
//   CompareTables(before.table(0), scale_before, after.table(0), scale_after, {});
//
// Maths:    docs/estimates.md#differences
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/analysis/estimate/difference.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/replicates.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// In which unit two recordings compare.
enum class Per : uint8_t { kSecond, kTotal, kShare, kCpuSecond, kOp };

// "second", "total", "share", "cpu-second", "op"
const std::vector<std::string>& PerWords();
Per PerOf(std::string_view word);

struct Scale {
  Per per = Per::kSecond;
  bool objects = false;    // else bytes
  double operations = 0;   // kOp
  double seconds = 0;      // kSecond
  double cpu_seconds = 0;  // kCpuSecond

  // What estimates are in this unit. Without seconds nothing is known.
  Estimate Of(const GroupEstimates& estimates) const;
  // "/s", "/op", "/CPU s"; of totals and shares empty.
  std::string Suffix() const;
};

// "A=100,B=120", or "100" for both.
Result<std::pair<double, double>> ParseOperations(std::string_view text);

// One side: the scan of its files, in groups. By method these are of any method of a stack, so that they share
// samples; the tree must fold. Keys are names of the tree's pool, of stacks nodes of the tree.
class ComparisonSide final : public ScanVisitor {
 public:
  explicit ComparisonSide(const std::vector<Grouping>& by);

  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override;
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  bool has_tables() const { return !groups_.empty(); }
  const GroupTable& table(size_t i) const;
  // Where rows of the table share samples, rows that do not; else null.
  const GroupTable* parts(size_t i) const;
  // What rows of the table had over time; null where rows share samples.
  const ProgressBlocks* progress(size_t i) const;
  // The start of the first recording; UINT64_MAX if there was none.
  uint64_t start_epoch_ns() const { return start_epoch_ns_; }

  // A pause of a collection, or the sum of several that the JVM only counts.
  struct Pause {
    uint64_t end_epoch_ns, ns;
    bool is_one;
  };
  const std::vector<Pause>& pauses() const { return pauses_; }

 private:
  std::vector<Pause> pauses_;
  uint64_t epoch_ns_ = 0;  // start of the current recording
  std::vector<Groups> groups_;
  std::vector<ProgressBlocks> progress_;
  uint64_t start_epoch_ns_ = UINT64_MAX;
};

// What the runs of a side allocated.
struct Work {
  std::vector<Estimate> totals;
  std::vector<const GroupTable*> tables;  // none: not known
};

// One side of a comparison: each of its recordings is a run of its own.
class ComparedRuns {
 public:
  ComparedRuns(const ScanOptions& side, const std::vector<Grouping>& by);

  // `beside`: none, or for each run who else visits what it holds.
  ExitCode Read(CallTree* tree, const std::vector<ScanVisitor*>& beside = {});

  size_t size() const { return surveys_.size(); }
  const RecordingScan& scan(size_t run) const { return surveys_[run]; }
  const ComparisonSide& tables(size_t run) const { return tables_[run]; }
  const std::string& file(size_t run) const { return files_[run]; }
  uint64_t start_epoch_ns() const;
  // `scale` with what is known of the run.
  Scale ScaleOf(size_t run, Scale scale) const;
  std::vector<Scale> Scales(const Scale& scale) const;
  std::vector<Estimate> Totals(const Scale& scale) const;
  Work WorkOf(Scale scale) const;
  bool HasCpuTime() const;
  // What collections took of a run's seconds within --from and --to.
  struct GcPauses {
    double seconds = 0, longest = 0;
  };
  GcPauses PausesOf(size_t run) const;
  // Why a run should not be believed; empty: all may be.
  std::string TrustVerdict() const;

 private:
  std::vector<std::string> files_;
  std::vector<RecordingScan> surveys_;
  std::vector<ComparisonSide> tables_;
};

// Why the runs of both sides did the same work; empty: they did not. The totals of a side's runs agree, and either
// those of both sides do, or most rows of theirs: a few rows that grew have changed the total, not the work.
std::string SameWork(const Work& before, const Work& after, bool objects);

// The unit by which rows compare if the user names none, and why.
struct ChosenUnit {
  Per per = Per::kTotal;
  std::string reason;
};
// What the sides of a comparison are.
enum class SidesAre : uint8_t {
  kRecordings,
  kPartsOfOne,  // two windows of one recording
  kWholeRuns,   // each run is all that its command did
};
ChosenUnit ChooseUnit(const ComparedRuns& before, const ComparedRuns& after, const Scale& scale, SidesAre sides);

// Whether the sides' rates per second differ, and those per second of CPU time do not: one machine was slower, or
// busier.
struct MachineSpeed {
  bool is_cause = false;
  double ratio_per_second = 1, ratio_per_cpu_second = 1;  // after / before
};
MachineSpeed CompareSpeed(const ComparedRuns& before, const ComparedRuns& after);

// The name of a row; of a stack all its frames, from the root.
std::string RowName(const Grouping& by, GroupTable::Key key, const CallTree& tree);

struct ComparedRow {
  GroupTable::Key key = 0;
  uint64_t points_before = 0, points_after = 0;
  Difference difference;
};

struct Question {
  double margin = 0;
  double fdr = 0.05;
  Alternative asked = Alternative::kEither;
  bool is_judged = true;  // false: values are shown, and no row is called different
};

// Whether a comparison can tell a change of the program. Rates of single runs cannot: they also say how fast the
// machine was. Two windows of one recording can, because one JVM ran both.
bool CanJudge(const ComparedRuns& before, const ComparedRuns& after, Per per, SidesAre sides);

struct ComparedRows {
  std::vector<ComparedRow> rows;  // those that differ first, the largest change first
  RunComparison runs;             // of all of them; its rows are in `rows`
};

// A table of one run.
struct TableOfRun {
  const GroupTable* table = nullptr;
  Scale scale;
  const ProgressBlocks* progress = nullptr;  // null: not known
  const GroupTable* parts = nullptr;         // where rows share samples, rows that do not
};

// All rows of all tables, judged together.
ComparedRows CompareTables(const std::vector<TableOfRun>& before, const std::vector<TableOfRun>& after,
                           const Question& question);
// Likewise the i-th tables of both sides.
ComparedRows CompareTables(const ComparedRuns& before, const ComparedRuns& after, size_t table,
                           const Scale& scale_before, const Scale& scale_after, const Question& question);

}  // namespace heaprec::tools
