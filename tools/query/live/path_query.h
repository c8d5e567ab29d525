// What holds live objects: the searches of a recording, and the tree of their paths.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model/file_description.h"
#include "format/model/process_state.h"
#include "tools/input/dictionary_names.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/live/live_query.h"

namespace heaprec::tools {

// "com.acme.Cache.entries (static)", "java.util.HashMap.table": a root, or a reference, and how many such references
// follow each other.
struct PathStep {
  std::string name;
  uint64_t least = 1, most = 1;

  void Widen(const PathStep& by) {
    least = std::min(least, by.least);
    most = std::max(most, by.most);
  }
};

// A search of the heap, and the path of each object that it found.
//
// Units:    ns since the start of the recording.
// Memory:   12 bytes an object, and each path once; while it is read the path of each object.
struct PathSearch {
  format::RecordingId recording{};
  std::string file;
  std::string missing;  // why the recording has no search; empty: it has one
  uint64_t time_ns = 0, objects = 0, paused_ns = 0;
  uint64_t announced = 0;  // paths that the recorder found; fewer may have been written
  format::WalkEnd end = format::WalkEnd::kComplete;
  std::string failure;   // of kFailed
  std::string by_jvmti;  // why JVMTI reported the references; empty: the agent read the heap itself
  // From the root to the holder of the object, as they were recorded.
  std::vector<std::vector<PathStep>> chains;
  std::unordered_map<uint64_t, uint32_t> chain_of;  // by the sample's id
  std::map<std::string, std::string> pools;         // by the text of a root: that of all threads of its pool
  // Objects that hold many of the others. What one retains would become garbage with it.
  struct Holder {
    std::vector<PathStep> chain;  // from the root to what refers to it
    uint64_t bit = 0;
  };
  std::vector<Holder> holders;                        // the heaviest first
  std::unordered_map<uint64_t, uint64_t> holders_of;  // by the sample's id, the bits of those that retain it

  bool is_complete() const { return end == format::WalkEnd::kComplete && chain_of.size() >= announced; }
};

// Returns, of each recording in `files`, the last search that found something, or the last one until `at`. `merged`:
// how generated names are shown; null: unchanged. An Error, if no recording has a search, begins with a file's name.
Result<std::vector<PathSearch>> FindPathSearches(const std::vector<std::string>& files,
                                                 const std::optional<TimePoint>& at, MergedNames* merged = nullptr);

// The chains of the searches of several recordings, each once. Chains that differ in the lengths of runs, in the order
// of fields by which objects of one class refer to each other, or in the thread of a pool, are one.
class MergedChains {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit MergedChains(std::vector<PathSearch> searches);
  // The following samples are of this recording. Recordings are in the order of their searches, but some may be
  // missing.
  void Begin(const format::RecordingId& recording);
  // Returns the number of the sample's chain; kNone: it has no path.
  uint32_t Of(uint64_t sample) const;
  // The search of the current recording; null: it has none.
  const PathSearch* current() const;

  // Returns the numbers of the holders that retain the sample's object.
  std::vector<size_t> HoldersOf(uint64_t sample) const;

  const std::vector<PathStep>& At(uint32_t chain) const { return chains_[chain]; }
  // By number; holders with the same chain are one.
  const std::vector<std::vector<PathStep>>& holders() const { return holders_; }
  const std::vector<PathSearch>& searches() const { return searches_; }

 private:
  void NumberHolders();

  const std::vector<PathSearch> searches_;
  std::vector<std::vector<PathStep>> chains_;
  std::vector<std::vector<uint32_t>> numbers_;  // by search and its chain
  std::vector<std::vector<PathStep>> holders_;
  std::vector<std::vector<size_t>> holder_numbers_;  // by search and its holder
  size_t current_ = 0, next_ = 0;                    // searches_.size(): none
};

// A path in a table or beside a leak.
inline constexpr size_t kShortPathBytes = 240;

// A place of the tree: what is held through it.
struct PathNode {
  PathStep step;
  std::vector<LiveSample> held;
  std::vector<PathNode> children;  // the heaviest first
};

// Live samples of each recording at the time of its search, by their path.
class PathVisitor final : public LiveVisitor {
 public:
  PathVisitor(std::vector<PathSearch> searches, CallTree* tree);
  void Begin(const format::FileHeader& header) override;
  std::optional<LiveTimes> live_times() const override;

  // The root's children are the kinds of roots.
  PathNode Tree() const;
  // Live samples without a path.
  std::vector<LiveSample> Without() const;
  // Chains to the objects that hold many others, and what each of them retains.
  const std::vector<std::vector<PathStep>>& holders() const { return chains_.holders(); }
  std::vector<LiveSample> RetainedBy(size_t holder) const;
  const std::vector<PathSearch>& searches() const { return chains_.searches(); }

 private:
  std::optional<TimePoint> at() const override;
  uint32_t KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) override;

  template <typename Matches>
  std::vector<LiveSample> LiveOf(const Matches& matches) const;

  // Samples with the same chain that the same holders retain are one group.
  struct Group {
    uint32_t chain;
    std::vector<size_t> holders;
    auto operator<=>(const Group&) const = default;
  };

  MergedChains chains_;
  std::map<Group, uint32_t> numbers_;
  std::vector<Group> groups_;  // by number
};

inline constexpr size_t kGroupPaths = 2;

// Live samples by group, and within a group by path: what holds the objects of a leak.
class GroupPathVisitor final : public LiveVisitor {
 public:
  // `question` has one grouping.
  GroupPathVisitor(LiveQuery question, std::vector<PathSearch> searches, CallTree* tree);
  void Begin(const format::FileHeader& header) override;

  // Returns the heaviest ones, at most kGroupPaths.
  std::vector<GroupPath> PathsOf(uint32_t group) const;

 private:
  uint32_t KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) override;

  MergedChains chains_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  // by group and chain
  uint32_t group_ = 0;                                         // of the sample
};

// Bytes that are held through it.
double BytesOf(const PathNode& node);

// "java.util.LinkedList$Node.next x 1-99,998".
std::string StepText(const PathStep& step);
// "com.acme.Cache.entries (static) -> HashMap.table": the root's step as it is, the others without their package;
// "table[]" is an element of the array in `table`. Steps between the first and the last are left out if it is longer
// than `most` bytes, those of the JDK first.
std::string PathText(const std::vector<PathStep>& steps, bool begins_at_root, size_t most = SIZE_MAX);

}  // namespace heaprec::tools
