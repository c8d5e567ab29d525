// All samples of one stream of recordings as columns, and their rows, with everything that estimates of any subset
// need: the data of the report page.
//
// A page that repeats the arithmetic of Subset and Estimator on these columns gets the same sums and intervals.
//
// Several recordings follow each other on the time axis, each scaled to its counts.
//
// Units:    bytes (events for a stream of events); ns; times since the start of the first recording.
// Failure:  none: damage is for the caller to report (ReportDamage). Above `max_samples` the samples are thinned at
//           random, each with a probability proportional to its weight, and the remaining ones represent all.
// Maths:    docs/estimates.md#variance, docs/guide/report.md#large-recordings
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "format/model/row.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools {

// The rows of recordings, merged into time steps, from which the report page estimates tables.
//
// A row belongs to one class and path in one step; a step consists of one or more whole blocks. So the steps of a long
// recording are long.
//
// Units:    ns.
// Maths:    docs/estimates.md#rows

// Multiplies everything random in the sums by `factor`.
format::Row Scaled(format::Row sums, double factor);

struct StepRow {
  uint32_t step = 0, class_id = 0, node = 0;
  format::Row sums;
};

class StepRows {
 public:
  static constexpr size_t kMaxSteps = 128, kMaxRows = 100'000;

  // Begins the next block of a recording, which covers the time up to `end_ns`.
  void Begin(uint64_t end_ns);
  // Adds a row of the block, or a sample like a row.
  void Add(uint32_t class_id, uint32_t node, const format::Row& sums);
  // Appends all of a later recording, scaled.
  void Append(const StepRows& other, double factor);
  // Call at the end.
  void Close();

  // Ordered after Close.
  const std::vector<StepRow>& rows() const { return rows_; }
  std::vector<StepRow>& rows() { return rows_; }
  // Ends of steps; each begins at the previous end.
  const std::vector<uint64_t>& ends() const { return ends_; }

 private:
  void Unite();
  void Halve();
  void Bound();

  std::vector<StepRow> rows_;
  std::vector<uint64_t> ends_;
  uint64_t in_step_ = 0, per_step_ = 1;  // numbers of blocks
  size_t room_ = 2 * kMaxRows;
};

struct SampleColumns {
  // One entry per sample that passes the filters. Survivors were born before the file begins: they count as live
  // objects, and have no weight as allocations.
  std::vector<uint32_t> second, microsecond;  // the time, rounded down to 1 us
  std::vector<uint32_t> class_id, node, thread;
  std::vector<double> size, weight;
  std::vector<uint8_t> recording;  // with several recordings: the index of the sample's recording
  std::vector<double> factors;     // with several recordings: counted bytes divided by estimated ones, by `recording`
  bool is_part = false;            // there are filters that may exclude something
  // Objects that are live at the end of the recording, or at the requested time: the sample, the bytes that it
  // represents at that time, and its age in seconds.
  std::vector<uint32_t> alive;
  std::vector<double> alive_weights, alive_ages;

  // Rows that pass the filters. Blocks without rows have their samples here, as if they were rows. Empty if no block
  // has rows, or if the filters need more than a row contains. A row's node is its path, below kCallersNotKept.
  StepRows rows;

  std::vector<std::optional<CountedClass>> counted_of_class;  // by class_id: the census counts of the class

  // Stacks as a tree, parents first; node 0 is the root. Names are indices into `names`.
  std::vector<uint32_t> node_parent, node_name;
  std::vector<uint8_t> node_type;  // the format::FrameType with most bytes below the node
  std::vector<std::string> names;
  std::vector<uint32_t> classes, threads;  // names by class_id and thread
  std::vector<uint32_t> primitives;        // names of methods that only allocate for their caller

  // The parameters of Estimator.
  struct Basis {
    double factor = 1;                 // counted bytes over estimated ones
    double lost = 0;                   // bytes of lost points
    double unwritten = 0;              // bytes of points that could not be written, or that a kill lost
    double uncounted_variance = 0;     // of the bytes of uncounted intervals
    std::optional<double> by_class{};  // bytes, if a census counted each class
    bool calibrated = false;
    format::Row all;  // sums over everything, including what filters excluded
  };
  Basis of_samples, of_rows;
  uint64_t samples = 0;  // before thinning

  // The time axis.
  uint64_t interval_ns = 0, begin_ns = 0, end_ns = 0;
  struct IntervalRow {
    uint64_t begin_ns = 0;
    double bytes = 0;
    bool is_estimated = false;  // from its samples, because nothing was counted
  };
  std::vector<IntervalRow> intervals;
  struct WindowRow {
    uint64_t start_ns = 0;
    double lambda = 0;
  };
  std::vector<WindowRow> windows;
  struct HeapRow {
    uint64_t time_ns = 0, used = 0, committed = 0, rss = 0, threads = 0;  // 0: unknown
  };
  std::vector<HeapRow> heap;
  struct PauseRow {
    uint64_t begin_ns = 0, pause_ns = 0, used_before = 0, used_after = 0;
    std::string cause;
  };
  std::vector<PauseRow> pauses;
  struct LossRow {
    uint64_t from_ns = 0, to_ns = 0, points = 0;
    double bytes = 0;
  };
  std::vector<LossRow> losses;
  std::vector<double> out_of_memory;  // ns: times of sampled OutOfMemoryErrors
  bool tracks_objects = false;
  bool is_range = false;        // some live objects may be garbage (Lifetimes::is_range)
  bool counts_events = false;   // "bytes" are events
  bool has_no_chances = false;  // imported: inclusion probabilities are unknown
};

struct ColumnsQuestion {
  size_t max_samples = 0;
  format::Stream stream = format::Stream::kAllocations;
  bool use_rows = true;
  bool use_census = true;  // scale the samples of each class to its census count; not with several recordings
  Filter filter;
  std::shared_ptr<MergedNames> merged{};  // as in NamePool
  CallTree::Options tree{};               // `is_primitive` names the primitives; frames are not omitted because of it
  std::optional<TimePoint> at;            // time at which objects must be live; nullopt: the end
  uint64_t survived = 0;                  // minimum number of collections that live objects survived
};

// Reads the recordings to their ends. At most 255 recordings.
SampleColumns ReadSampleColumns(std::span<const std::unique_ptr<Recording>> recordings,
                                const ColumnsQuestion& question);

// Thins samples for pages that would otherwise be too large.
//
// Keeps each sample with a probability proportional to its weight (1 from a threshold on), by systematic sampling in
// the order of the columns, and raises weights below the threshold to it. Sums stay unbiased.

// Keeps `count` samples, give or take one.
void ThinSamples(size_t count, SampleColumns* columns);

// Removes nodes and names without samples and rows.
void KeepUsedNames(SampleColumns* columns);

}  // namespace heaprec::tools
