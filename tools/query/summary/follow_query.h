// A recording that grows: what it has allocated in a span that ends now, by class, site, ..., with the callers of rows
// that are opened; and beside it what was counted, the heap and the collections over time.
//
//   auto follow = Follow::Start(std::move(recording), question);
//   follow->Read();                                   // each second: what has been written since
//   const FollowAnswer answer = follow->Answer(10);   // of the last 10 s
//
// The rows of a span are those of `top --from --to` of the recording so far, to the last digit.
//
// Units:    bytes, ns since the start of the recording; spans in seconds.
// Memory:   the samples of the last kLongestSpan seconds, and a Subset for each row since the start.
// Threads:  one.
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
#include "tools/analysis/call_tree.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/group_estimates.h"
#include "tools/analysis/gc_summary.h"
#include "tools/analysis/grouping.h"
#include "tools/analysis/name_pool.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/generated_names.h"
#include "tools/input/recording.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/scan/scan.h"
#include "tools/query/scan/stream_trust.h"
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

  static format::Result<std::unique_ptr<Follow>> Start(std::unique_ptr<Recording> recording, FollowQuestion question);

  // Blocks that were written since the last call. Whether there were any.
  bool Read();
  // After Read: whether more names have turned out to be one, as `top` shows them. If so, ask question() again, with no
  // row opened: keys are other ones then.
  bool Settle() { return question_.merged != nullptr && question_.merged->Settle(); }
  // `span`: seconds until the end of what was read; 0: since the start. Rows by `ranking`, which has no min_share.
  FollowAnswer Answer(uint64_t span, const Ranking& ranking);
  // The same recording from its start, asked something else.
  format::Result<std::unique_ptr<Follow>> Ask(FollowQuestion question) const;

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
  struct Drawn {
    uint64_t time_ns = 0;
    uint32_t key = 0;
    CallTree::NodeId leaf = 0;
    WeightedSample sample;
  };
  // Subsets of rows and of the callers below those that are opened.
  class Rows {
   public:
    Rows() = default;
    Rows(const FollowQuestion* question, const CallTree* tree) : question_(question), tree_(tree) {}
    void Add(const Drawn& drawn);
    struct Row {
      uint32_t parent = 0, key = 0;
      bool is_open = false, has_callers = false;
      Subset sums;
    };
    const std::vector<Row>& all() const { return rows_; }
    RowPath PathOf(uint32_t row) const;

   private:
    uint32_t Of(uint32_t parent, uint32_t key);
    const FollowQuestion* question_ = nullptr;
    const CallTree* tree_ = nullptr;
    std::vector<Row> rows_;
    std::unordered_map<uint64_t, uint32_t> places_;  // by parent and key
  };
  // The largest of a grouping, since the start, of everything.
  struct Largest {
    explicit Largest(By by) : grouping(by) {}
    Grouping grouping;
    std::unordered_map<uint32_t, Subset> sums;
    std::vector<uint32_t> keys;
  };

  Follow(std::unique_ptr<Recording> recording, FollowQuestion question, const RecordingScan& scan, Filter filter);
  void Add(const format::Block& block);
  void AddSteps(const format::Block& block);
  void AddStates(const format::Block& block);
  FollowStep* StepAt(uint64_t time_ns);
  void Forget();
  void AppendRows(const Rows& rows, uint32_t below, const Ranking& ranking, const Estimator& estimator,
                  FollowAnswer* into) const;
  std::string NameOf(const Rows::Row& row) const;
  std::optional<HeadlineInputs::Top> TopOf(const Largest& largest, const Estimator& estimator) const;

  std::unique_ptr<Recording> recording_;
  const FollowQuestion question_;
  Filter filter_;
  Grouping grouping_;
  NamePool pool_;
  CallTree tree_;
  Names names_;
  Design design_;
  StreamTrust trust_;
  GcSummary heap_;
  std::deque<Drawn> latest_;
  Subset matched_;  // since the start
  Rows rows_;       // likewise
  Largest sites_{By::kSite}, classes_{By::kClass};
  std::deque<FollowStep> steps_;
  uint64_t interval_ns_, begin_ns_, end_ns_, first_step_;
  uint64_t last_heap_ = 0;
};

}  // namespace heaprec::tools
