// Live, dead and leaking objects, by group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/analysis/live/live_group.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// The live objects that --at and --survived select.
struct LiveChoice {
  std::optional<TimePoint> at;  // nullopt: the end
  uint64_t survived = 0;        // minimum number of collections
};

// `at`: as given. `peak` is, in the only recording of `files`, the end of the collection after which the heap was
// fullest, which the states of concurrent collectors do not show. It selects what survived that collection, because
// garbage counts as tracked until the recorder finds it dead. For native memory: the time at which the process was
// largest. An Error begins with the option's name.
Result<LiveChoice> ParseLiveChoice(const std::string& at, uint64_t survived, const std::vector<std::string>& files,
                                   format::Stream stream);
// Fails if `survived` is not 0, and one of the recordings does not tell what survived collections. Reads them then.
Status CheckSurvivors(uint64_t survived, const std::vector<std::string>& files);

// Groups of tracked samples: live bytes, their growth, lifetimes, and objects that died.
//
// Units:    as format/model/model.h.
// Memory:   88 bytes and the keys per sample of the current recording.
struct LiveQuery {
  std::vector<Grouping> by;
  std::optional<TimePoint> at;  // the end of `span`
  Filter span;                  // time span for growth
  uint64_t survived = 0;
  // Number of collections that growing bytes must have survived; nullopt: 1 to 3, depending on the recording's
  // collections, also for live bytes.
  std::optional<uint64_t> grown;
  bool leaks = false;         // also measure growth at collections of the old generation
  uint64_t promoted = 3;      // collections after which an object counts as promoted
  uint64_t least_age_ns = 0;  // minimum age of live objects
  bool lifetimes = false;
  std::vector<uint64_t> series;  // further times for live bytes: ns since the start
  size_t garbage = 0;            // number of traces of dead objects: the newest, and random ones
};

// The groups of one grouping, by key, in order of first use.
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

// The result of a scan: sums over its recordings, and the times of the last one.
struct LiveResult {
  LiveResult(LiveQuery asked, format::Stream of);

  const LiveQuery question;
  const format::Stream stream;
  size_t tracked = 0, without = 0;  // recordings with and without tracked objects
  LiveGroup all;
  std::vector<LiveTable> tables;
  LiveTotal total;      // over all groups; needed for the estimates of each
  double heaviest = 0;  // maximum bytes that a sample represented at its birth
  ReservoirSample<DeadTrace> sampled_garbage;
  std::vector<DeadTrace> newest_garbage;  // the newest first
  uint64_t untracked = 0;
  double untracked_bytes = 0;
  uint64_t start_epoch_ns = 0;  // of the last recording
  LiveQueryTimes moments;       // since its start
  std::vector<uint64_t> instants;
  uint64_t collections = 0;          // only major ones if only they find dead objects
  uint64_t spanned_collections = 0;  // of these, those that ended within the time for growth
  bool knows_collections = true;     // false: a recording does not have the JVM's collections
  bool knows_survivors = true;       // false also if a file ends before any check after a collection
  bool has_import = false;           // only its objects that are live at the end are known
  bool of_majors = false;            // in one of the recordings only major collections find dead objects
  // The collector of a recording that leaves dead objects in the old generation; empty: none.
  std::string old_garbage_of;
  // Collections of the old generation in the time for growth; nullopt: unknown.
  std::optional<uint64_t> old_collections;
  bool has_old_instants = true;  // in each recording, enough to measure growth without garbage of the old generation

  // Whether live objects before the end are known.
  bool knows_history() const { return !has_import; }
  bool knows_growth() const { return knows_survivors && knows_history(); }
  bool has_old_growth() const { return question.leaks && tracked > 0 && has_old_instants; }
  // Whether live bytes are a range, because objects that have not survived a collection may be garbage.
  bool is_range() const { return of_majors && moments.survived == 0; }
  // The mean weight of a live sample; if nothing is live, that of the heaviest sample.
  double Unit() const { return total.bytes > 0 ? total.Unit() : heaviest; }
  // Returns the estimates of these live samples.
  LiveRange EstimateGroup(const std::vector<LiveSample>& alive) const;
};

class LiveVisitor : public ScanVisitor {
 public:
  // Visits one stream.
  LiveVisitor(LiveQuery question, CallTree* tree, format::Stream stream = format::Stream::kAllocations);
  bool estimates() const override { return false; }
  std::optional<LiveTimes> live_times() const override { return LiveTimes{at(), &result_.question.span}; }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  const LiveResult& result() const { return result_; }

 protected:
  // The time at which objects of the current recording are listed; nullopt: the end.
  virtual std::optional<TimePoint> at() const { return result_.question.at; }
  // The sample's key in a table.
  virtual uint32_t KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block);

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
  bool knows_old_ = true;  // known for all recordings with an old generation

  // State of the current recording.
  std::optional<Lifetimes> lives_;
  bool is_imported_ = false;
  uint64_t begin_ns_ = 0;
  std::optional<uint64_t> ended_ns_;
  std::vector<std::vector<uint32_t>> keys_;  // by grouping, by subject
  std::vector<uint32_t> samples_, live_checkpoint_;
};

// The leak test: finds groups whose live bytes grow significantly, for one kind (`leaks`) or all kinds that a recording
// tracks (`summary`).
//
// Failure:  none: groups that cannot be tested have no leaks.
// Maths:    docs/estimates.md#growth

inline constexpr double kUsualFdr = 0.05;

struct TestedRow {
  const LiveTable::Row* row;
  Leak leak;
  // start of the growth, in seconds since the start; only for leaks of a single recording
  std::optional<Estimate> since_s;
};

// Returns the rows of the first table with growth. Leaks come first, the fastest growing at the top. `rate`: the false
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

// Returns the leaks by site of every kind that a recording tracks, the fastest growing first. Reads a file that
// contains one recording, with this header, once per kind.
std::vector<FoundLeak> SearchLeaks(const std::string& file, const format::FileHeader& header);

// What holds a part of a group's objects (tools/query/live/path_query.h).
struct GroupPath {
  std::string path;
  Estimate share;  // of the group's live bytes that a path was found for
};

// A site and what is live of it at the end. `leak`: only if its growth is significant.
struct LiveSite {
  format::Stream stream;
  std::string site;
  Estimate bytes, share;
  std::optional<FoundLeak> leak;
  std::vector<GroupPath> paths{};  // the heaviest; empty also if the heap was not searched
};

// What was live at a time, by class and site.
struct LivePart {
  std::string name;  // "byte[] at java.util.Arrays.copyOf"
  Estimate bytes, share;
};
// Returns the `heaviest` parts, the heaviest first. Reads a file that contains one recording once. Empty also if the
// recording tracks nothing. `at_ns`: since its start.
std::vector<LivePart> SearchLiveAt(const std::string& file, const format::FileHeader& header, uint64_t at_ns,
                                   size_t heaviest);

// Returns, as SearchLeaks, the leaks and of every kind the `heaviest` sites: leaks first, the fastest growing at the
// top, then the others by bytes. Reads the file once more for paths, if the recorder was asked for them.
std::vector<LiveSite> SearchLiveSites(const std::string& file, const format::FileHeader& header, size_t heaviest);

}  // namespace heaprec::tools
