// Compares two sides: the total, and each row of each grouping.
//
//   auto diff = DiffScan::Parse(options);   // bad options: exit code kUsage
//   const ExitCode read = diff->Run();
//   diff->result() ...
//
// Failure:  Parse returns an error message for the user. Run fails like RecordingScan::Run.
// Maths:    docs/estimates.md#differences
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/query/compare/comparison.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// As given on the command line.
struct DiffOptions {
  ScanOptions scan;                  // for one recording, two, or the runs of the first side
  std::vector<std::string> windows;  // empty, or two: FROM..TO
  std::vector<std::string> after;    // runs of the other side
  std::string by, per, operations;
  double fdr = 0.05, margin = 0;
  bool objects = false;
  bool whole_runs = false;  // each recording contains all of its command's work
};

// Whether each site with more than 1 % of all bytes has a clear result: it differs, or it certainly differs by less
// than `resolution`.
bool IsDecided(const DiffOptions& options, double resolution);

// The rows of one grouping.
struct ComparedTable {
  Grouping by;
  std::vector<ComparedRow> rows;
  size_t changed = 0;
  RunComparison runs;  // without its rows
};

struct DiffResult {
  Difference total;  // in bytes or objects; for shares unscaled
  Scale scale;
  std::string unit_reason;  // why `scale` has this unit
  MachineSpeed speed;
  Scale total_scale;  // for shares the total is a rate: per second
  Question question;
  bool reversed = false;
  std::vector<ComparedTable> tables;
};

class DiffScan {
 public:
  static Result<DiffScan> Parse(const DiffOptions& options);

  // Warns about windows without data.
  ExitCode Run();

  const DiffResult& result() const { return result_; }
  const ComparedRuns& before() const { return *before_; }
  const ComparedRuns& after() const { return *after_; }
  const CallTree& tree() const { return *tree_; }
  // The scales of the runs, by which their amounts are divided.
  std::vector<Scale> ScalesBefore() const { return before_->Scales(sides_.scale_before); }
  std::vector<Scale> ScalesAfter() const { return after_->Scales(sides_.scale_after); }
  // The sides as separate scans; windows differ in --from and --to.
  bool are_windows() const { return !options_.windows.empty(); }
  const ScanOptions& scan_before() const { return sides_.before; }
  const ScanOptions& scan_after() const { return sides_.after; }

 private:
  struct Sides {
    ScanOptions before, after;
    Scale scale_before, scale_after;
    std::optional<Per> per;  // as requested; nullopt: chosen from the sides

    std::optional<Error> SetWindows(const DiffOptions& options);
    std::optional<Error> SetScales(const DiffOptions& options);
    static Result<Sides> Of(const DiffOptions& options);
  };
  DiffScan(DiffOptions options, Sides sides, std::vector<Grouping> by);
  ExitCode ReadSides();
  std::string ChooseScales();
  void Compare();

  DiffOptions options_;
  Sides sides_;
  std::vector<Grouping> by_;
  std::unique_ptr<NamePool> names_;
  std::unique_ptr<CallTree> tree_;
  std::unique_ptr<ComparedRuns> before_, after_;
  DiffResult result_;
};

}  // namespace heaprec::tools
