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
#include "format/model/process_state.h"
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
// Memory:   12 bytes an object, and each path once.
struct PathSearch {
  uint64_t time_ns = 0, objects = 0, paused_ns = 0;
  uint64_t announced = 0;  // paths that the recorder found; fewer may have been written
  format::WalkEnd end = format::WalkEnd::kComplete;
  std::string failure;   // of kFailed
  std::string by_jvmti;  // why JVMTI reported the references; empty: the agent read the heap itself
  // From the root to the holder of the object. Objects whose chains differ in the lengths of runs have one chain.
  std::vector<std::vector<PathStep>> chains;
  std::unordered_map<uint64_t, uint32_t> chain_of;  // by the sample's id
  // Objects that hold many of the others. What one retains would become garbage with it.
  struct Holder {
    std::vector<PathStep> chain;  // from the root to what refers to it
    uint64_t bit = 0;
  };
  std::vector<Holder> holders;                        // those nearest to the roots first
  std::unordered_map<uint64_t, uint64_t> holders_of;  // by the sample's id, the bits of those that retain it

  bool is_complete() const { return end == format::WalkEnd::kComplete && chain_of.size() >= announced; }
};

// Returns the last search of the only recording in `files` that found something, or the last one until `at`. An Error
// begins with the file's name, or with what is asked for.
Result<PathSearch> FindPathSearch(const std::vector<std::string>& files, const std::optional<TimePoint>& at);

// A path in a table or beside a leak.
inline constexpr size_t kShortPathBytes = 100;

// A place of the tree: what is held through it.
struct PathNode {
  PathStep step;
  std::vector<LiveSample> held;
  std::vector<PathNode> children;  // the heaviest first
};

// Live samples at the time of a search, by their path.
class PathVisitor final : public LiveVisitor {
 public:
  // `search` must outlive it.
  PathVisitor(const PathSearch& search, CallTree* tree);

  // The root's children are the kinds of roots.
  PathNode Tree() const;
  // Live samples without a path.
  std::vector<LiveSample> Without() const;
  // What a holder of the search retains.
  std::vector<LiveSample> RetainedBy(const PathSearch::Holder& holder) const;

 private:
  uint32_t KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) override;

  template <typename Matches>
  std::vector<LiveSample> LiveOf(const Matches& matches) const;

  // Samples with the same chain that the same holders retain are one group.
  struct Group {
    uint32_t chain;
    uint64_t holders;
    auto operator<=>(const Group&) const = default;
  };

  const PathSearch& search_;
  std::map<Group, uint32_t> numbers_;
  std::vector<Group> groups_;  // by number
};

// Live samples by group, and within a group by path: what holds the objects of a leak.
class GroupPathVisitor final : public LiveVisitor {
 public:
  // `question` has one grouping. `search` must outlive it.
  GroupPathVisitor(LiveQuery question, const PathSearch& search, CallTree* tree);

  struct Holder {
    std::string path;
    Estimate share;  // of the group's live bytes that a path was found for
  };
  // Returns the `most` heaviest.
  std::vector<Holder> HoldersOf(uint32_t group, size_t most) const;

 private:
  uint32_t KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) override;

  const PathSearch& search_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers_;  // by group and chain
  uint32_t group_ = 0;                                         // of the sample
};

// "java.util.LinkedList$Node.next x 1-99,998".
std::string StepText(const PathStep& step);
// "com.acme.Cache.entries (static) -> HashMap.table": the root's step as it is, the others without their package;
// "table[]" is an element of the array in `table`. Steps in the middle are left out if it is longer than `most` bytes.
std::string PathText(const std::vector<PathStep>& steps, bool begins_at_root, size_t most = SIZE_MAX);

}  // namespace heaprec::tools
