// Two sides of a comparison: their data, the unit of the comparison, and the rows of a table that differ.
//
//   ComparisonSide before({Grouping(By::kClass)});
//   ComparisonSide after({Grouping(By::kClass)});         // both scanned with one call tree
//   CompareTables({&before}, {&after}, 0, scale_before, scale_after, {});
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

// The unit in which two recordings are compared.
enum class Per : uint8_t { kSecond, kTotal, kShare, kCpuSecond, kOp };

// "second", "total", "share", "cpu-second", "op"
const std::vector<std::string>& PerWords();
Per PerOf(std::string_view word);

struct Scale {
  Per per = Per::kSecond;
  bool objects = false;    // otherwise bytes
  double operations = 0;   // for kOp
  double seconds = 0;      // for kSecond
  double cpu_seconds = 0;  // for kCpuSecond

  // Converts estimates to this unit. Without seconds the result is unknown.
  Estimate Of(const GroupEstimates& estimates) const;
  // "/s", "/op", "/CPU s"; empty for totals and shares.
  std::string Suffix() const;
};

// Parses "A=100,B=120", or "100" for both.
Result<std::pair<double, double>> ParseOperations(std::string_view text);

// One side: the scan of its files, in groups. By method, groups include all stacks with the method, so that they share
// samples; the tree must fold. Keys are names of the tree's pool or, for stacks, nodes of the tree.
class ComparisonSide final : public ScanVisitor {
 public:
  explicit ComparisonSide(const std::vector<Grouping>& by);

  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override;
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  bool has_tables() const { return !groups_.empty(); }
  const GroupTable& table(size_t i) const;
  // If rows of the table share samples, a table of rows that do not; otherwise null.
  const GroupTable* parts(size_t i) const;
  // Values of the table's rows over time; null if rows share samples.
  const ProgressBlocks* progress(size_t i) const;
  // Start of the first recording; UINT64_MAX if there is none.
  uint64_t start_epoch_ns() const { return start_epoch_ns_; }

  // A pause of a collection, or the sum of several pauses that the JVM only counts.
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

// The allocations of a side's runs.
struct Work {
  std::vector<Estimate> totals;
  std::vector<const GroupTable*> tables;  // empty: unknown
};

// One side of a comparison: each of its recordings is a separate run.
class ComparedRuns {
 public:
  ComparedRuns(const ScanOptions& side, const std::vector<Grouping>& by);

  // `beside`: empty, or for each run another visitor for the same data.
  ExitCode Read(CallTree* tree, const std::vector<ScanVisitor*>& beside = {});

  size_t size() const { return surveys_.size(); }
  const RecordingScan& scan(size_t run) const { return surveys_[run]; }
  const ComparisonSide& tables(size_t run) const { return tables_[run]; }
  const std::string& file(size_t run) const { return files_[run]; }
  uint64_t start_epoch_ns() const;
  // Returns `scale` with the values of the run.
  Scale ScaleOf(size_t run, Scale scale) const;
  std::vector<Scale> Scales(const Scale& scale) const;
  std::vector<Estimate> Totals(const Scale& scale) const;
  Work WorkOf(Scale scale) const;
  bool HasCpuTime() const;
  // Share of a run's time within --from and --to that collections take.
  struct GcPauses {
    double seconds = 0, longest = 0;
  };
  GcPauses PausesOf(size_t run) const;
  // Returns why a run is not trustworthy; empty: all are.
  std::string TrustVerdict() const;

 private:
  std::vector<std::string> files_;
  std::vector<RecordingScan> surveys_;
  std::vector<ComparisonSide> tables_;
};

// Returns why the runs of both sides did the same work; empty: they did not. A side's totals must agree, and either the
// totals or most rows of both sides: a few rows that grew have changed the total, not the work.
std::string SameWork(const Work& before, const Work& after, bool objects);

// The unit in which rows are compared if the user names none, and the reason.
struct ChosenUnit {
  Per per = Per::kTotal;
  std::string reason;
};
// The kind of sides in a comparison.
enum class SidesAre : uint8_t {
  kRecordings,
  kPartsOfOne,  // two windows of one recording
  kWholeRuns,   // each run contains all of its command's work
};
ChosenUnit ChooseUnit(const ComparedRuns& before, const ComparedRuns& after, const Scale& scale, SidesAre sides);

// Whether the sides' rates per second differ while those per second of CPU time do not: the machine was slower, or
// busier.
struct MachineSpeed {
  bool is_cause = false;
  double ratio_per_second = 1, ratio_per_cpu_second = 1;  // after / before
};
MachineSpeed CompareSpeed(const ComparedRuns& before, const ComparedRuns& after);

// Returns the name of a row; for a stack all its frames, from the root.
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
  bool is_judged = true;  // false: shows values, and calls no row different
};

// Whether a comparison can show a change of the program. Rates of single runs cannot, because they also depend on the
// machine's speed. Two windows of one recording can, because one JVM ran both.
bool CanJudge(const ComparedRuns& before, const ComparedRuns& after, Per per, SidesAre sides);

struct ComparedRows {
  std::vector<ComparedRow> rows;  // different ones first, ordered by size of change
  RunComparison runs;             // over all rows; the rows themselves are in `rows`
};

// Tests all rows of the tables with this index, of all runs, together.
ComparedRows CompareTables(const ComparedRuns& before, const ComparedRuns& after, size_t table,
                           const Scale& scale_before, const Scale& scale_after, const Question& question);

}  // namespace heaprec::tools
