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

// What a scan found: sums over its recordings, and the times of the last one.
struct LiveResult {
  LiveResult(LiveQuery asked, format::Stream of);

  const LiveQuery question;
  const format::Stream stream;
  size_t tracked = 0, without = 0;  // recordings with and without tracked objects
  LiveGroup all;
  std::vector<LiveTable> tables;
  LiveTotal total;      // over all groups, for the estimates of each
  double heaviest = 0;  // bytes that a sample represented at its birth
  ReservoirSample<DeadTrace> sampled_garbage;
  std::vector<DeadTrace> newest_garbage;  // the newest first
  uint64_t untracked = 0;
  double untracked_bytes = 0;
  uint64_t start_epoch_ns = 0;  // of the last recording
  LiveQueryTimes moments;       // in it, since its start
  std::vector<uint64_t> instants;
  uint64_t collections = 0;          // major ones if only they show which objects are dead
  uint64_t spanned_collections = 0;  // that ended within the times over which growth is measured
  bool knows_collections = true;     // false: a recording does not say when the JVM collected
  bool knows_survivors = true;       // false also if a file ends before any check after a collection
  bool has_import = false;           // of which only objects live at the end are known
  bool of_majors = false;            // one of the recordings finds dead objects only in major collections
  // A collector of these recordings that keeps dead objects in the old generation; empty: there is none.
  std::string old_garbage_of;
  // Collections of the old generation in the time over which growth is measured; nullopt: unknown.
  std::optional<uint64_t> old_collections;
  bool has_old_instants = true;  // in each recording: enough to measure growth without garbage of the old generation

  // Whether it is known what was live before the end.
  bool knows_history() const { return !has_import; }
  bool knows_growth() const { return knows_survivors && knows_history(); }
  bool has_old_growth() const { return question.leaks && tracked > 0 && has_old_instants; }
  // Whether live bytes are a range: objects that have not survived a collection may be garbage.
  bool is_range() const { return of_majors && moments.survived == 0; }
  // If nothing is live, the weight of the heaviest sample.
  double Unit() const { return total.bytes > 0 ? total.Unit() : heaviest; }
  // The estimate of these live samples.
  LiveRange EstimateGroup(const std::vector<LiveSample>& alive) const;
};

class LiveVisitor : public ScanVisitor {
 public:
  // Reads one stream.
  LiveVisitor(LiveQuery question, CallTree* tree, format::Stream stream = format::Stream::kAllocations);
  bool estimates() const override { return false; }
  std::optional<LiveTimes> live_times() const override {
    return LiveTimes{result_.question.at, &result_.question.span};
  }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  const LiveResult& result() const { return result_; }

 private:
  uint32_t SubjectOf(const format::Sample& sample, const MatchedBlock& matched_block);
  void SetMoments(uint64_t end_ns);
  void AddOldCollections();
  void AddLifetimes();
  std::vector<LiveGroup*> GroupsOf(const Lifetime& life);
  void AddGarbage();

  CallTree* const tree_;
  LiveResult result_;
  Filter span_;
  bool knows_old_ = true;  // in all recordings with an old generation

  // State of the current recording.
  std::optional<Lifetimes> lives_;
  bool is_imported_ = false;
  uint64_t begin_ns_ = 0;
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
std::vector<TestedRow> TestRows(const LiveResult& live, double rate);
// Whether the time is too short for any row to be a leak, or growth is unknown.
bool IsTooShort(const LiveResult& live);

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
