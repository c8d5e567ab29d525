// What is live, what died, and what leaks: by group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/model/model.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/analysis/live/live_group.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// Groups of tracked samples: live bytes, their growth, lifetimes, and objects that died.
//
// Units:    as format/model/model.h.
// Memory:   88 bytes for each sample of the current recording, and its keys.
struct LiveQuery {
  std::vector<Grouping> by;
  std::optional<TimePoint> at;  // the end of `span`
  Filter span;                  // the time over which growth is measured
  uint64_t survived = 0;
  // Collections that growing bytes must have survived; nullopt: 1 to 3, by the recording's collections, also for
  // live bytes.
  std::optional<uint64_t> grown;
  bool leaks = false;         // whether growth is also measured at collections of the old generation
  uint64_t promoted = 3;      // collections after which an object counts as promoted
  uint64_t least_age_ns = 0;  // minimum age of live objects
  bool lifetimes = false;
  std::vector<uint64_t> series;  // times at which live bytes are also wanted: ns since the start
  size_t garbage = 0;            // number of traces of dead objects: the newest, and random ones
};

// The groups of one grouping, by key, in the order in which they were first seen.
struct LiveTable {
  struct Row {
    uint32_t key = 0;
    LiveGroup group;
  };
  explicit LiveTable(Grouping of) : grouping(std::move(of)) {}
  size_t SlotOf(uint32_t key);

  Grouping grouping;
  std::vector<Row> rows;
  std::unordered_map<uint32_t, size_t> slots;
};

// A sampled object that died.
struct DeadTrace {
  uint64_t died_ns = 0, born_ns = 0;  // since 1970
  uint64_t size = 0, survived = 0;    // collections
  double weight = 0;                  // bytes that it represents
  std::vector<uint32_t> keys;         // by grouping
};

class LiveVisitor : public ScanVisitor {
 public:
  // Reads one stream.
  LiveVisitor(LiveQuery question, CallTree* tree, format::Stream stream = format::Stream::kAllocations);
  bool estimates() const override { return false; }
  std::optional<LiveTimes> live_times() const override { return LiveTimes{question_.at, &question_.span}; }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  // Numbers of recordings with and without tracked objects.
  size_t tracked() const { return tracked_; }
  size_t without() const { return without_; }

  format::Stream stream() const { return stream_; }
  const LiveQuery& question() const { return question_; }
  const LiveGroup& all() const { return all_; }
  const std::vector<LiveTable>& tables() const { return tables_; }
  // Sum over all groups, for the estimates of each.
  const LiveTotal& total() const { return total_; }
  double unit() const;
  const ReservoirSample<DeadTrace>& sampled_garbage() const { return sampled_; }
  const std::vector<DeadTrace>& newest_garbage() const { return newest_; }  // the newest first

  uint64_t untracked() const { return untracked_; }
  double untracked_bytes() const { return untracked_bytes_; }
  // Times in the last recording, since its start, and that start.
  uint64_t at_ns() const { return moments_.at_ns; }
  uint64_t from_ns() const { return moments_.from_ns; }
  uint64_t to_ns() const { return moments_.to_ns; }
  uint64_t start_epoch_ns() const { return start_epoch_ns_; }
  const std::vector<uint64_t>& instants() const { return instants_; }
  uint64_t survived() const { return moments_.survived; }
  uint64_t grown() const { return moments_.grown; }
  uint64_t least_age_ns() const { return question_.least_age_ns; }
  // Collections of the recordings; major ones if only they show which objects are dead.
  uint64_t collections() const { return collections_; }
  // Those that ended within the times over which growth is measured.
  uint64_t spanned_collections() const { return spanned_collections_; }
  // False: a recording does not say when the JVM collected.
  bool knows_collections() const { return knows_collections_; }
  // Whether survived collections are known; false also if a file ends before any check after a collection.
  bool knows_survivors() const { return knows_survivors_; }
  // Whether it is known what was live before the end. False for imports: they have only objects live at their end.
  bool knows_history() const { return !has_import_; }
  bool knows_growth() const { return knows_survivors() && knows_history(); }
  // Whether live bytes are a range: objects that have not survived a collection may be garbage.
  bool is_range() const { return of_majors_ && moments_.survived == 0; }
  // Whether one of the recordings finds dead objects only in major collections.
  bool of_majors() const { return of_majors_; }
  // A collector of these recordings that keeps dead objects in the old generation; empty: there is none.
  const std::string& old_garbage_of() const { return old_garbage_of_; }
  // Collections of the old generation in the time over which growth is measured; nullopt: unknown.
  std::optional<uint64_t> old_collections() const {
    return knows_old_ && !old_garbage_of_.empty() ? std::optional(old_collections_) : std::nullopt;
  }
  // Whether each recording has enough of them to measure growth without garbage of the old generation (for `leaks`).
  bool has_old_growth() const { return question_.leaks && tracked_ > 0 && has_old_instants_; }
  // The estimate of these live samples.
  LiveRange EstimateGroup(const std::vector<LiveSample>& alive) const;

 private:
  uint32_t SubjectOf(const format::Sample& sample, const MatchedBlock& matched_block);
  void SetMoments(uint64_t end_ns);
  void AddOldCollections();
  void AddLifetimes();
  std::vector<LiveGroup*> GroupsOf(const Lifetime& life);
  void AddGarbage();

  const LiveQuery question_;
  CallTree* const tree_;
  const format::Stream stream_;
  Filter span_;
  LiveGroup all_;
  std::vector<LiveTable> tables_;
  LiveTotal total_;
  double heaviest_ = 0;  // bytes that a sample represented at its birth
  ReservoirSample<DeadTrace> sampled_;
  std::vector<DeadTrace> newest_;
  size_t tracked_ = 0, without_ = 0;
  uint64_t untracked_ = 0, collections_ = 0, spanned_collections_ = 0;
  double untracked_bytes_ = 0;
  std::string old_garbage_of_;
  uint64_t old_collections_ = 0;
  bool knows_old_ = true, has_old_instants_ = true;  // in recordings with an old generation; in all
  bool of_majors_ = false, knows_collections_ = true, knows_survivors_ = true, has_import_ = false;

  // State of the current recording.
  std::optional<Lifetimes> lives_;
  LiveQueryTimes moments_;
  std::vector<uint64_t> instants_;
  bool is_imported_ = false;
  uint64_t begin_ns_ = 0, start_epoch_ns_ = 0;
  std::optional<uint64_t> ended_ns_;
  std::vector<std::vector<uint32_t>> keys_;  // by grouping, by subject
  std::vector<uint32_t> samples_, live_checkpoint_;
};

// The leak test: which groups' live bytes grow significantly, of one kind (`leaks`) or of all kinds that a recording
// tracks (`summary`).
//
// Failure:  none: what cannot be tested has no leaks.
// Maths:    docs/estimates.md#growth

inline constexpr double kUsualFdr = 0.05;

struct TestedRow {
  const LiveTable::Row* row;
  Leak leak;
  std::optional<Estimate> since_s;  // since when it grows, in seconds since the start; of one recording's leaks only
};

// The rows of the first table that have growth. Leaks come first, the fastest growing at the top. `rate`: the false
// discovery rate. Empty if growth is unknown.
std::vector<TestedRow> TestRows(const LiveVisitor& live, double rate);
// Whether the time is too short for any row to be a leak, or growth is unknown.
bool IsTooShort(const LiveVisitor& live);

struct FoundLeak {
  format::Stream stream;
  std::string site;
  Estimate per_second;
  std::optional<Estimate> since_s;
};

// The leaks by site of every kind that a recording tracks; the fastest growing first. Reads a file that holds one
// recording, with this header, once for each kind.
std::vector<FoundLeak> SearchLeaks(const std::string& file, const format::FileHeader& header);

}  // namespace heaprec::tools
