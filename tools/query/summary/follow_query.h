// A growing recording: its allocations in a span that ends now, by class, site, ..., with the callers of expanded rows;
// also counted bytes, heap and collections over time.
//
//   auto follow = Follow::Start(std::move(recording), question);
//   follow->Read();                                   // each second: what has been written since
//   const FollowAnswer answer = follow->Answer(10);   // of the last 10 s
//
// The rows of a span equal exactly those of `top --from --to` for the recording so far. They come from the recording's
// rows, which include all points, if these are sufficient; a span then begins with one of their intervals. Otherwise
// they come from kept samples, as with `top --no-rows`. Callers always come from samples, scaled to their row.
//
// Units:    bytes, ns since the start of the recording; spans in seconds.
// Memory:   the points of the last kLongestSpan seconds by row, their samples, and two Subsets per row since the start.
// Failure:  Start: an error message for the user. Damage is skipped, as everywhere.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/analysis/totals/trend.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan/scan.h"
#include "tools/query/scan/scan_summary.h"
#include "tools/query/summary/headlines.h"

namespace heaprec::tools {

// A row: its key, followed by expanded callers below it, nearest first.
using RowPath = std::vector<uint32_t>;

struct FollowQuestion {
  ScanOptions scan;  // filters and the definition of a site; one file, which is not reopened
  Grouping grouping{By::kSite};
  std::set<RowPath> opened;
  std::shared_ptr<MergedNames> merged = nullptr;  // merged names; created by Start
};

struct FollowRow {
  RowPath path;
  std::string name;
  bool is_open = false, has_callers = false;
  GroupEstimates estimates;
};

struct FollowAnswer {
  uint64_t begin_ns = 0, end_ns = 0;  // the span
  bool is_whole = false;              // since the start
  std::vector<FollowRow> rows;        // expanded rows are followed by their callers
  size_t all_rows = 0;                // without callers
  GroupEstimates all;                 // of what passes the filters in the span
  double counted_bytes = 0;           // exact, without filters
  uint64_t pauses = 0, paused_ns = 0;
  bool has_rows = false;  // all.samples counts points of rows
  double Seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
};

// The data of one interval (a second) of the recording.
struct FollowStep {
  uint64_t counted_bytes = 0;
  uint64_t heap_used = 0;  // latest value until then; 0: none
  uint64_t pauses = 0, paused_ns = 0;
  uint64_t heap_after = 0;  // after the latest collection until then; 0: none
};

class Follow {
 public:
  // The longest span except the whole recording, in seconds.
  static constexpr uint64_t kLongestSpan = 60;

  static Result<std::unique_ptr<Follow>> Start(std::unique_ptr<Recording> recording, FollowQuestion question);

  // Reads the blocks written since the last call. Returns whether there were any.
  bool Read();
  // Call after Read. Returns whether more names must be merged, as in `top`. If so, call Ask with question() again,
  // with all rows collapsed, because keys change.
  bool Settle() { return question_.merged != nullptr && question_.merged->Settle(); }
  // `span`: seconds until the end of the read data; 0: since the start. Rows are ordered by `ranking`, whose min_share
  // is ignored.
  FollowAnswer Answer(uint64_t span, const Ranking& ranking);
  // Reads the same recording from its start for another question.
  Result<std::unique_ptr<Follow>> Ask(FollowQuestion question) const;

  // Headlines of the data read so far, without filters. `file`: the recording's name on a command line.
  Headlines HeadlinesSoFar(const std::string& file);
  // The latest complete intervals, oldest first.
  std::vector<FollowStep> StepsSoFar() const;
  const GcSummary& heap() const { return heap_; }
  const Recording& recording() const { return *recording_; }
  const FollowQuestion& question() const { return question_; }
  // Time up to which everything is known: the end of the last interval.
  uint64_t end_ns() const { return end_ns_; }
  uint64_t begin_ns() const { return begin_ns_; }

 private:
  // The contribution of a sample, or a row of the recording, to a row.
  struct Drawn {
    uint64_t begin_ns = 0, end_ns = 0;  // equal for a sample
    uint32_t key = 0;
    CallTree::NodeId leaf = 0;
    bool counts = false, is_kept = false;  // contributes to the estimates of its row; of its callers
    Subset sums;
  };
  // The sums of rows, and of the callers below expanded ones.
  class Rows {
   public:
    Rows() = default;
    Rows(const FollowQuestion* question, const CallTree* tree) : question_(question), tree_(tree) {}
    void Add(const Drawn& drawn);
    struct Row {
      uint32_t parent = 0, key = 0;
      bool is_open = false, has_callers = false;
      Subset sums, kept;  // kept: of its samples only
    };
    const std::vector<Row>& all() const { return rows_; }
    // Sum over all rows that are not callers.
    const Subset& sums() const { return sums_; }
    const Subset& kept() const { return kept_; }
    RowPath PathOf(uint32_t row) const;

   private:
    uint32_t Of(uint32_t parent, uint32_t key);
    const FollowQuestion* question_ = nullptr;
    const CallTree* tree_ = nullptr;
    std::vector<Row> rows_;
    std::unordered_map<uint64_t, uint32_t> places_;  // index by parent and key
    Subset sums_, kept_;
  };
  struct Estimators {
    Estimator rows, kept;
  };
  struct Factors {
    double bytes = 1, objects = 1;
  };

  Follow(std::unique_ptr<Recording> recording, FollowQuestion question, const RecordingScan& scan, Filter filter);
  void Add(const format::Block& block);
  // `samples`: the block's samples, or SamplesOfRows, to which `drawn` refers.
  void AddDrawn(const format::Block& block, std::span<const WeightedSample> drawn,
                const std::vector<format::Sample>& samples, bool counts, bool is_kept);
  void AddSteps(const format::Block& block);
  void AddStates(const format::Block& block);
  FollowStep* StepAt(uint64_t time_ns);
  void Forget();
  uint64_t BeginOf(uint64_t span_ns) const;
  Estimators EstimatorsOf(const Rows& rows, bool chooses_all) const;
  void AppendRows(const Rows& rows, uint32_t below, const Ranking& ranking, const Estimators& estimators,
                  const Factors& of_callers, FollowAnswer* into) const;
  std::string NameOf(const Rows::Row& row) const;
  std::optional<HeadlineInputs::Top> TopOf(const GroupSums& groups, const Estimator& estimator) const;

  std::unique_ptr<Recording> recording_;
  const FollowQuestion question_;
  Filter filter_;
  Grouping grouping_;
  NamePool pool_;
  CallTree tree_;
  Names names_;
  const bool reads_rows_, table_takes_rows_;
  Design samples_, headlines_, table_;  // for kept samples; for rows if there are any; for what the table reads
  StreamTrust trust_;
  GcSummary heap_;
  TimeToFull full_;
  std::deque<Drawn> latest_;
  std::deque<TimeOfRows> row_times_;                  // of the latest blocks that the table reads from rows
  bool has_rows_ = false;                             // there was a row
  Rows rows_;                                         // since the start
  GroupSums sites_{By::kSite}, classes_{By::kClass};  // since the start, without filters
  std::deque<FollowStep> steps_;
  uint64_t interval_ns_, begin_ns_, end_ns_, first_step_;
  uint64_t last_heap_ = 0;
};

}  // namespace heaprec::tools
