// One pass over the events of recordings, which every command shares that adds them up: opens the files, filters, knows
// how each sample was drawn, and says at the end what was covered and what was lost.
//
//   auto scan = RecordingScan::Parse(options);             // bad options: exit code kUsage
//   NamePool names;
//   CallTree tree(&names, scan->TreeOptions());
//   const ExitCode code = scan->Run(&tree, &visitor);
//   output.Append(scan->LossLine());
//
// Units:    as format/model/model.h. With --kind exception the samples are events: what the estimators call bytes.
// Threads:  one.
// Failure:  Parse returns the sentence for the user. Run says on stderr what it could not read, and returns kUnreadable
//           (nothing was visited but what came before) or kDamaged (all that could be decoded was).
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/bytes/result.h"
#include "format/reader/reader.h"
#include "tools/analysis/allocation_primitives.h"
#include "tools/analysis/call_tree.h"
#include "tools/analysis/cpu_time.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/group_estimates.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan/scan_summary.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// As given on the command line.
struct ScanOptions {
  std::vector<std::string> files;
  bool lines = false, fold = false;
  bool no_census = false;    // do not use it
  bool exact_sites = false;  // a site is the frame that allocated, even if it only does so for its caller
  std::string primitives;    // a file that says which frames these are; empty: the built-in list
  // What shares are of: everything recorded, what --from and --to leave, or what all filters leave.
  enum class ShareOf : uint8_t { kAll, kSpan, kSelection };
  ShareOf shares = ShareOf::kAll;
  std::string share_of;  // as given with --share-of
  FilterOptions filter;

  ScanOptions() { filter.allocations_only = true; }
  // REC..., the filters with --focus, --ignore and --hide, and --lines.
  void AddTo(Command& command);
  // --share-of; shares are of the selection then, unless told otherwise.
  void AddShareTo(Command& command);
  // Whether more than the method of a stack's leaf decides which site it belongs to.
  bool OwnFrames() const { return lines || !exact_sites || !filter.hide.empty(); }
};

// What of a block passes the filters. Names and tree have entered the block.
struct MatchedBlock {
  const format::Block& block;
  std::span<const WeightedSample* const>
      drawn;  // in the order in which subsets take them; `index` is into block.samples
  std::span<const format::CheckpointSample* const> live_checkpoint;  // of block.live_checkpoint
  Names& names;
  CallTree& tree;
  const Design& design;  // has added the block
};

// What is done with it.
class ScanVisitor {
 public:
  virtual ~ScanVisitor() = default;
  // Of the grains by which it chooses what belongs together.
  virtual OrderLevel finest() const { return OrderLevel::kThread; }
  // Whether it asks how much samples stand for: what a census says to that is then found out first.
  virtual bool estimates() const { return true; }
  // `matched_by`: the finest grain of the filters, for GroupTable::Start.
  virtual void Begin(const format::FileHeader& header, std::optional<OrderLevel> matched_by) = 0;
  virtual void Visit(const MatchedBlock& matched_block) = 0;
  // After the last block of the recording: `seconds` of it passed the filters of time.
  virtual void End(const Estimator& estimator, double seconds) = 0;
};

class RecordingScan {
 public:
  static format::Result<RecordingScan> Parse(const ScanOptions& options);

  CallTree::Options TreeOptions() const;
  // Events: what is counted are exceptions.
  format::Stream stream() const { return stream_; }
  bool of_exceptions() const { return stream_ == format::Stream::kExceptions; }

  ExitCode Run(CallTree* tree, ScanVisitor* visitor);
  // For a second pass: damage was reported in the first.
  void BeQuiet() { is_quiet_ = true; }

  // What has been read, once Run is over.
  const ScannedTotals& scanned() const { return summary_.scanned(); }
  // Of what passed the filters, and of any group that nothing passed of. Shares are of total().
  const GroupEstimates& matched() const { return matched_; }
  const GroupEstimates& unseen() const { return unseen_; }
  // What shares are of: "all", "span" or "selection"; without a filter all the same.
  const char* share_of() const;
  // Bytes, or events, of all that was recorded.
  const Estimate& total() const { return total_; }
  bool chooses_all() const { return !filter_.matched_by(); }
  // Of all recordings: how many events, what was lost, and whether the numbers can be relied on (Coverage).
  std::string LossLine() const { return summary_.LossLine(); }
  std::string TrustVerdict() const { return summary_.TrustVerdict(); }
  const std::vector<std::string>& trust_reasons() const { return summary_.trust_reasons(); }
  // CPU time of the processes within --from and --to; nothing if any recording does not tell.
  const std::optional<CpuSeconds>& cpu() const { return cpu_; }
  // That on stderr, for forms without the loss line.
  void PrintTrust() const;
  render::Object AsObject() const { return summary_.AsObject(); }
  // For reports that are not declared yet.
  nlohmann::json AsJson() const;

 private:
  RecordingScan(const ScanOptions& options, Filter filter, AllocationPrimitives primitives);
  ExitCode ReadFile(const std::string& path, CallTree* tree, ScanVisitor* visitor);
  ExitCode Read(Recording* recording, CallTree* tree, ScanVisitor* visitor);
  std::pair<uint64_t, uint64_t> Span(const Recording& recording, const Filter& filter, uint64_t last_ns) const;
  void AddCpu(const std::optional<CpuSeconds>& cpu);
  void Conclude(const Subset& matched, OrderLevel matched_by, const Estimator& estimator);

  ScanOptions options_;
  Filter filter_;  // as parsed: each recording starts a copy
  AllocationPrimitives primitives_;
  format::Stream stream_ = format::Stream::kAllocations;
  bool is_quiet_ = false;
  ScanSummary summary_;
  GroupEstimates matched_, unseen_;
  Estimate total_;
  std::optional<CpuSeconds> cpu_;
  bool has_unknown_cpu_ = false;
  double whole_ = 0;  // bytes that shares are of
};

}  // namespace heaprec::tools
