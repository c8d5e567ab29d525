// One pass over the events of recordings for all commands that sum them: opens the files, filters, determines how each
// sample was drawn, and reports what was read and lost.
//
//   auto scan = RecordingScan::Parse(options);             // bad options: exit code kUsage
//   NamePool names(scan->Naming());
//   std::optional<CallTree> tree;
//   std::optional<GroupsScan> groups;
//   const ExitCode code = scan->Run(&names, &tree, [&] { return &groups.emplace(groupings); });
//   output.Append(scan->summary().LossLine());
//
// Units:    as format/model/model.h. With --kind exception, fields named bytes are numbers of events.
// Failure:  Parse returns the message for the user. Run prints on stderr what it could not read, and returns
//           kUnreadable (only earlier files were visited) or kDamaged (everything that could be decoded was visited).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan/census_strata.h"
#include "tools/query/scan/scan_summary.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

// Help of --no-rows.
inline constexpr char kNoRows[] =
    "Ignore rows, the sums of all points by class and site; estimate from kept samples only";

// As given on the command line.
struct ScanOptions {
  std::vector<std::string> files;
  bool lines = false, fold = false;
  bool no_census = false;    // do not use the census
  bool no_rows = false;      // do not use rows
  bool exact_sites = false;  // a site is the frame that allocated, even if it is an allocation primitive
  std::string primitives;    // a file that lists these frames; empty: the built-in list
  // Base of shares: everything recorded, the time of --from and --to, or all samples that pass the filters.
  enum class ShareOf : uint8_t { kAll, kSpan, kSelection };
  ShareOf shares = ShareOf::kAll;
  std::string share_of;  // as given with --share-of
  std::string names;     // as given with --names
  bool quiet = false;    // another pass has reported damage
  FilterOptions filter;

  ScanOptions() { filter.allocations_only = true; }
  // REC... with this description, the filters with --focus, --ignore and --hide, and --lines.
  void AddTo(Command& command, const std::string& recordings = "Recordings to add together; - reads standard input");
  // --names
  static void AddNamesTo(Command& command, std::string* names);
  // Adds --share-of; shares are then relative to the selection by default.
  void AddShareTo(Command& command);
  // Returns the rule for generated names, for a NamePool; null: they stay unchanged.
  std::shared_ptr<MergedNames> Naming() const;
};

// A block, and its samples that pass the filters. If the block is read from its rows, block.samples are SamplesOfRows.
// If samples are calibrated to rows (SumsBySite), rows of sites without samples follow the samples. Names and tree have
// entered the block.
struct MatchedBlock {
  const format::Block& block;
  std::span<const WeightedSample* const> drawn;                      // `index` refers to block.samples
  std::span<const format::CheckpointSample* const> live_checkpoint;  // samples of block.live_checkpoint that pass
  Names& names;
  CallTree& tree;
  const Design& design;  // has added the block
  // Entries of block.outside in the filter's classes; none if it filters by anything else.
  std::span<const format::Row* const> outside;
};

// Receives the matched blocks.
class ScanVisitor {
 public:
  virtual ~ScanVisitor() = default;
  // Whether rows from `begin_ns` to `end_ns` (since 1970) can replace the samples of that time: the visitor needs only
  // class, path up to the site, and this time. Any thread may call it.
  virtual bool takes_rows(uint64_t, uint64_t) const { return false; }
  // Whether samples of blocks that are not read from their rows are calibrated to them.
  virtual bool calibrates() const { return false; }
  // Whether it uses the samples' weights, so that a census must be read first.
  virtual bool estimates() const { return true; }
  // The times at which a visitor lists live objects. nullopt: it visits only events.
  struct LiveTimes {
    std::optional<TimePoint> at;   // nullopt: the end
    const Filter* span = nullptr;  // for growth; null: it is not measured
  };
  virtual std::optional<LiveTimes> live_times() const { return std::nullopt; }
  virtual void Begin(const format::FileHeader& header) = 0;
  virtual void Visit(const MatchedBlock& matched_block) = 0;
  // Called after the last block of the recording, of which `seconds` passed the time filters.
  virtual void End(const Estimator& estimator, double seconds) = 0;
};

class RecordingScan {
 public:
  static Result<RecordingScan> Parse(const ScanOptions& options);

  CallTree::Options TreeOptions() const;
  std::shared_ptr<MergedNames> Naming() const { return options_.Naming(); }
  // As parsed, for another kind of pass.
  const Filter& filter() const { return filter_; }
  // Whether the samples are exceptions, so that weights are events.
  format::Stream stream() const { return stream_; }
  bool of_exceptions() const { return stream_ == format::Stream::kExceptions; }

  ExitCode Run(CallTree* tree, ScanVisitor* visitor);
  // Creates the tree, and its visitor; twice if more names must be merged (ReadNamed).
  ExitCode Run(NamePool* names, std::optional<CallTree>* tree, const std::function<ScanVisitor*()>& visitor);
  // For a second pass: the first one has reported damage.
  void SuppressMessages() { is_quiet_ = true; }

  // All recordings: events, losses, and whether the numbers are trustworthy; valid after Run.
  const ScanSummary& summary() const { return summary_; }
  // What estimates were computed from: "point", or "sample" if no row could be read.
  const char* observed() const { return summary_.scanned().points > 0 ? "point" : "sample"; }
  // Estimates of the matched samples, and of a group without samples. Shares are relative to total(). Without filters
  // the matched bytes are the total, which includes what could not be written.
  GroupEstimates matched() const;
  const GroupEstimates& unseen() const { return unseen_; }
  // Base of shares: "all", "span" or "selection"; without a filter they are equal.
  const char* share_of() const;
  // Bytes, or events, of everything recorded.
  const Estimate& total() const { return total_; }
  // Whether no recording has data for the requested time, or nothing could be read of one. Budgets then have no
  // estimates: the sum is unknown, not 0.
  bool lacks_data() const { return has_unread_ || asked_time_.is_beside_data(); }
  // The part of each recording between --from and --to, as (begin, end) in ns since 1970.
  const std::vector<std::pair<uint64_t, uint64_t>>& asked_times() const { return asked_time_.times(); }
  // CPU time of the processes within --from and --to; nullopt if a recording does not have it.
  const std::optional<CpuSeconds>& cpu() const { return cpu_; }
  // Prints on stderr why the numbers are not trustworthy, for formats without the loss line.
  void PrintTrust() const;

 private:
  RecordingScan(const ScanOptions& options, Filter filter, AllocationPrimitives primitives);
  struct RowRules {
    ByRows by_rows, calibrated;  // calibrated: empty: none
    // Which blocks' rows are used; empty: none.
    ByRows any() const;
  };
  struct Pass;
  // Reads one recording in five steps.
  ExitCode Read(Recording* recording, CallTree* tree, ScanVisitor* visitor);
  Pass Prepare(Recording* recording, ScanVisitor* visitor);
  void ReadBlocks(Pass* pass, CallTree* tree) const;
  void AskTimes(Pass* pass);
  void EstimateGroups(Pass* pass);
  ExitCode Summarize(const Pass& pass);
  // `filter` must have been started.
  RowRules RulesOf(const format::FileHeader& header, const Filter& filter, const ScanVisitor* visitor) const;
  void WarnIfTwice(const Recording& recording, uint64_t last_ns, bool of_live);
  void AddCpu(const std::optional<CpuSeconds>& cpu);
  void Conclude(const GroupEstimates& matched, const Estimator& estimator);

  ScanOptions options_;
  Filter filter_;  // as parsed; each recording starts a copy
  AllocationPrimitives primitives_;
  format::Stream stream_ = format::Stream::kAllocations;
  bool is_quiet_ = false;
  struct Seen {
    format::RecordingId id{};
    // PID, and start of the monotonic clock (ns since 1970). Equal in copies; nullopt: not recorded.
    std::optional<std::pair<uint32_t, uint64_t>> origin;
    std::string name;
    uint64_t begin_ns = 0, end_ns = 0;  // since 1970
  };
  std::vector<Seen> seen_;  // the recordings so far
  AskedTime asked_time_, asked_instant_, asked_span_;
  ScanSummary summary_;
  GroupEstimates matched_, unseen_;
  Estimate total_;
  std::optional<CpuSeconds> cpu_;
  bool has_unknown_cpu_ = false;
  bool has_unread_ = false;  // nothing could be read of a recording
  double whole_ = 0;         // base of shares, in bytes
};

// An additional scan of a file, by a visitor created for its tree; another scan has reported damage.
class FileScan {
 public:
  // `kinds`: values of --kind; empty: allocations.
  explicit FileScan(const std::string& path, std::vector<std::string> kinds = {});
  CallTree* tree() { return &tree_; }
  const RecordingScan& scan() const { return scan_; }
  bool Run(ScanVisitor* visitor) { return scan_.Run(&tree_, visitor) != ExitCode::kUnreadable; }

 private:
  RecordingScan scan_;
  NamePool names_;
  CallTree tree_{&names_, scan_.TreeOptions()};
};

}  // namespace heaprec::tools
