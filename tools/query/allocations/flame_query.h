// Reads recordings for a flame graph or a tree: sums what each leaf has, chooses the boxes from that, and estimates
// them.
//
//   FlameScan flame(scan, {.bounds = {.most = 20'000}});
//   const ExitCode code = flame.Run();
//
// Memory:   one Subset for each leaf of each recording, and for each box.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/groups/flame_box_tree.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/live/live_sum.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// What the leaves of stacks have.
class LeafVisitor final : public ScanVisitor {
 public:
  // `classes`: whether a sample's leaf is its class, below the frame that allocated it.
  explicit LeafVisitor(bool classes) : classes_(classes) {}

  bool calibrates() const override { return true; }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  CallTree::NodeId LeafOf(const MatchedBlock& matched_block, const WeightedSample& drawn) const;
  // For samples that are not passed to Visit.
  CallTree::NodeId NoteLeaf(const MatchedBlock& matched_block, const format::Sample& sample);

  // Calibrated bytes, by node of the tree.
  const std::vector<double>& weights() const { return weights_; }
  // Of the boxes of a tree of these leaves: with what is below them, and of stacks that end there.
  struct BoxTables {
    GroupTable all{}, own{};
  };
  BoxTables EstimatesOf(const FlameBoxTree& boxes) const;
  // Whether it is the name of a class, or of a native method.
  bool IsClass(NamePool::Id name) const { return class_names_.count(name) > 0; }
  bool IsNative(NamePool::Id name) const { return native_names_.count(name) > 0; }

 private:
  CallTree::NodeId Below(CallTree::NodeId frame, format::Index class_id, const MatchedBlock& matched_block) const;
  void NoteNatives(const MatchedBlock& matched_block);
  void NoteClass(NamePool::Id name);
  Subset& SubsetOf(CallTree::NodeId leaf);

  const bool classes_;
  // Of a recording, by leaf.
  struct Read {
    Estimator estimator;
    std::vector<std::pair<CallTree::NodeId, Subset>> leaves{};
  };
  std::vector<Read> recordings_;
  std::vector<double> weights_;  // of all recordings
  // Of the current one.
  std::vector<Subset> now_;
  SumsBySite of_sites_;
  std::vector<CallTree::NodeId> leaves_;  // of the last block's samples
  std::unordered_set<NamePool::Id> class_names_, native_names_;
  NamePool::Id last_class_ = format::kNone;
  uint32_t chunk_ = format::kNone;
  size_t frames_ = 0;  // number of the chunk's frames that were checked for native methods
};

// Live objects, by leaf. Filters apply to the allocation of an object.
class LiveLeafVisitor final : public ScanVisitor {
 public:
  struct Question {
    format::Stream stream = format::Stream::kAllocations;
    std::optional<TimePoint> at;  // nullopt: the end
    uint64_t survived = 0;        // minimum number of collections
    uint64_t least_age_ns = 0;
  };
  // `leaves` must outlive this, and must visit each block first.
  LiveLeafVisitor(LeafVisitor* leaves, const Question& question) : leaves_(*leaves), question_(question) {}

  bool estimates() const override { return false; }
  std::optional<LiveTimes> live_times() const override { return LiveTimes{question_.at}; }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  // Number of recordings that tracked objects.
  size_t tracked() const { return tracked_; }
  // Whether objects that have not survived a major collection may be garbage (Lifetimes::is_range); they count as live
  // here.
  bool is_range() const { return is_range_; }
  // By node of the tree, in bytes.
  const std::vector<double>& weights() const { return weights_; }
  // Estimates each box of a tree of these leaves.
  std::vector<GroupEstimates> EstimatesOf(const FlameBoxTree& tree) const;

 private:
  struct Alive {
    CallTree::NodeId leaf = CallTree::kRoot;
    LiveSample sample;
  };

  LeafVisitor& leaves_;
  const Question question_;
  std::vector<Alive> alive_;
  std::vector<double> weights_;
  LiveTotal total_;
  double heaviest_ = 0;  // largest weight of a sample, in bytes
  size_t tracked_ = 0;
  bool is_range_ = false;

  // State of the current recording.
  std::optional<Lifetimes> lives_;
  std::vector<CallTree::NodeId> leaf_of_;  // by subject
  std::vector<uint32_t> samples_, live_checkpoint_;
  uint64_t start_epoch_ns_ = 0;
  std::optional<uint64_t> ended_ns_;
};

struct FlameQuestion {
  bool live = false;            // live objects instead of all allocations
  std::optional<TimePoint> at;  // when objects must be live; nullopt: at the end
  uint64_t survived = 0;        // minimum number of collections that live objects survived
  uint64_t least_age_ns = 0;    // minimum age of live objects
  bool callers = false, classes = true;
  FlameBoxTree::Bounds bounds;
};

// Failure:  prints on stderr what could not be read; kUnreadable: there is no graph.
class FlameScan {
 public:
  FlameScan(const RecordingScan& scan, const FlameQuestion& question)
      : question_(question), scan_(scan), names_(scan.Naming()) {}
  FlameScan(const FlameScan&) = delete;
  FlameScan& operator=(const FlameScan&) = delete;

  ExitCode Run();

  const RecordingScan& scan() const { return scan_; }
  const CallTree& calls() const { return *tree_; }
  const LeafVisitor& leaves() const { return *leaves_; }
  // Number of recordings that tracked objects, if the question is for live objects.
  size_t tracked() const { return tracked_; }
  const FlameBoxTree& boxes() const { return boxes_; }
  const std::vector<GroupEstimates>& estimates() const { return estimates_; }  // by box, including everything below it
  const std::vector<GroupEstimates>& own() const { return own_; }              // of stacks that end in the box
  bool of_callers() const { return question_.callers; }

 private:
  FlameBoxTree BoxesOf(std::span<const double> weights) const {
    return question_.callers ? FlameBoxTree::Callers(*tree_, weights, question_.bounds)
                             : FlameBoxTree::Callees(*tree_, weights, question_.bounds);
  }

  const FlameQuestion question_;
  RecordingScan scan_;
  NamePool names_;
  std::optional<CallTree> tree_;  // both since Run
  std::optional<LeafVisitor> leaves_;
  size_t tracked_ = 0;
  FlameBoxTree boxes_;
  std::vector<GroupEstimates> estimates_, own_;
};

}  // namespace heaprec::tools
