// A recording that grows: what it has allocated in a span that ends now, by class, site, ..., with the callers of rows
// that are opened; and beside it what was counted, the heap and the collections over time.
//
//   auto follow = Follow::Start(std::move(recording), question);
//   follow->Read();                                   // each second: what has been written since
//   const FollowAnswer answer = follow->Answer(10);   // of the last 10 s
//
// The rows of a span are those of `top --from --to` of the recording so far, to the last digit. They come from the
// recording's rows, which hold all points, if these are enough for the question: then a span begins where one of their
// intervals does. Otherwise they come from kept samples, as with `top --no-rows`. Callers always do; they share what
// their row has.
//
// Units:    bytes, ns since the start of the recording; spans in seconds.
// Memory:   the points of the last kLongestSpan seconds by row, their samples, and two Subsets for each row since the
//           start.
// Failure:  Start: a sentence for the user. Damage is skipped, as everywhere.
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
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan/scan.h"
#include "tools/query/scan/scan_summary.h"
#include "tools/query/summary/headlines.h"

namespace heaprec::tools {

// A row: its key, then the callers that were opened below it, nearest first.
using RowPath = std::vector<uint32_t>;

struct FollowQuestion {
  ScanOptions scan;  // filters and what a site is; one file, which is not opened again
  Grouping grouping{By::kSite};
  std::set<RowPath> opened;
  std::shared_ptr<MergedNames> merged = nullptr;  // names that are known to be one; Start makes it
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
  std::vector<FollowRow> rows;        // opened ones are followed by their callers
  size_t all_rows = 0;                // without callers
  GroupEstimates all;                 // of what the filters leave in the span
  double counted_bytes = 0;           // exact, of all
  uint64_t pauses = 0, paused_ns = 0;
  bool has_rows = false;  // all.samples are points
  double Seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
};

// What is known of an interval (a second) of the recording.
struct FollowStep {
  uint64_t counted_bytes = 0;
  uint64_t heap_used = 0;  // the last that was seen until then; 0: none
  uint64_t pauses = 0, paused_ns = 0;
  uint64_t heap_after = 0;  // what the last collection until then left; 0: there was none
};

class Follow {
 public:
  // The longest span but the whole recording, in seconds.
  static constexpr uint64_t kLongestSpan = 60;

  static Result<std::unique_ptr<Follow>> Start(std::unique_ptr<Recording> recording, FollowQuestion question);

  // Blocks that were written since the last call. Whether there were any.
  bool Read();
  // After Read: whether more names have turned out to be one, as `top` shows them. If so, ask question() again, with no
  // row opened: keys are other ones then.
  bool Settle() { return question_.merged != nullptr && question_.merged->Settle(); }
  // `span`: seconds until the end of what was read; 0: since the start. Rows by `ranking`, which has no min_share.
  FollowAnswer Answer(uint64_t span, const Ranking& ranking);
  // The same recording from its start, asked something else.
  Result<std::unique_ptr<Follow>> Ask(FollowQuestion question) const;

  // Headlines of what was read, without filters. `file`: how a command line names the recording.
  Headlines HeadlinesSoFar(const std::string& file);
  // The last intervals that are complete, oldest first.
  std::vector<FollowStep> StepsSoFar() const;
  const GcSummary& heap() const { return heap_; }
  const Recording& recording() const { return *recording_; }
  const FollowQuestion& question() const { return question_; }
  // Where everything is known up to: the end of the last interval.
  uint64_t end_ns() const { return end_ns_; }
  uint64_t begin_ns() const { return begin_ns_; }

 private:
  // What a sample, or a row of the recording, adds to a row.
  struct Drawn {
    uint64_t begin_ns = 0, end_ns = 0;  // of a sample equal
    uint32_t key = 0;
    CallTree::NodeId leaf = 0;
    bool counts = false, is_kept = false;  // adds to the estimates of its row; to those of its callers
    Subset sums;
  };
  // The sums of rows and of the callers below those that are opened.
  class Rows {
   public:
    Rows() = default;
    Rows(const FollowQuestion* question, const CallTree* tree) : question_(question), tree_(tree) {}
    void Add(const Drawn& drawn);
    struct Row {
      uint32_t parent = 0, key = 0;
      bool is_open = false, has_callers = false;
      Subset sums, kept;  // kept: of its samples alone
    };
    const std::vector<Row>& all() const { return rows_; }
    // Of all rows that are no callers.
    const Subset& sums() const { return sums_; }
    const Subset& kept() const { return kept_; }
    RowPath PathOf(uint32_t row) const;

   private:
    uint32_t Of(uint32_t parent, uint32_t key);
    const FollowQuestion* question_ = nullptr;
    const CallTree* tree_ = nullptr;
    std::vector<Row> rows_;
    std::unordered_map<uint64_t, uint32_t> places_;  // by parent and key
    Subset sums_, kept_;
  };
  struct Estimators {
    Estimator rows, kept;
  };
  struct Factors {
    double bytes = 1, objects = 1;
  };
  // The largest of a grouping, since the start, of everything.
  struct Largest {
    explicit Largest(By by) : grouping(by) {}
    Grouping grouping;
    std::unordered_map<uint32_t, Subset> sums;
  };

  Follow(std::unique_ptr<Recording> recording, FollowQuestion question, const RecordingScan& scan, Filter filter);
  void Add(const format::Block& block);
  void AddLargest(const format::Block& block, std::span<const WeightedSample> drawn);
  // `samples`: those of the block, or of its rows, that `drawn` is of.
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
  std::optional<HeadlineInputs::Top> TopOf(const Largest& largest, const Estimator& estimator) const;

  std::unique_ptr<Recording> recording_;
  const FollowQuestion question_;
  Filter filter_;
  Grouping grouping_;
  NamePool pool_;
  CallTree tree_;
  Names names_;
  const bool reads_rows_, table_takes_rows_;
  Design samples_, headlines_, table_;  // of kept samples; of rows where there are any; where the table reads them
  StreamTrust trust_;
  GcSummary heap_;
  std::deque<Drawn> latest_;
  std::deque<TimeOfRows> row_times_;  // of the latest blocks that the table reads from their rows
  bool has_rows_ = false;             // there was one
  Rows rows_;                         // since the start
  Largest sites_{By::kSite}, classes_{By::kClass};
  std::deque<FollowStep> steps_;
  uint64_t interval_ns_, begin_ns_, end_ns_, first_step_;
  uint64_t last_heap_ = 0;
};

}  // namespace heaprec::tools
