// All samples of one stream of recordings as columns, and their rows, with everything that estimates of any subset of
// them need: what the report page computes with.
//
// A page that repeats the arithmetic of Subset and Estimator on these columns gets the same sums and intervals.
//
// Several recordings lie one after the other on the axis of time, each scaled to what it counted.
//
// Units:    bytes, of a stream of events: events; ns; times since the start of the first recording.
// Failure:  none: damage is for the caller to report (ReportDamage). Above `max_samples` the samples are thinned at
//           random, each with a probability in proportion to its weight, and the rest stand for those left out.
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
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/filter/time_point.h"
#include "tools/query/samples/step_rows.h"

namespace heaprec::tools {

struct SampleColumns {
  // One entry per sample that passes the filters. Survivors were born before the file begins: they count among what is
  // live, and have no weight among what was allocated.
  std::vector<uint32_t> second, microsecond;  // the time, rounded down to 1 us
  std::vector<uint32_t> class_id, node, thread;
  std::vector<double> size, weight;
  std::vector<uint8_t> recording;  // of several: which
  std::vector<double> factors;     // of several: counted bytes over estimated ones, by `recording`
  bool is_part = false;            // there are filters, which may leave something out
  // Objects that are alive at the end of the recording, or when it was asked: the sample, the bytes that it stands for
  // then, and its age in seconds.
  std::vector<uint32_t> alive;
  std::vector<double> alive_weights, alive_ages;

  // Rows of what passes the filters. Blocks without rows have their samples here, as if they were rows. Empty if no
  // block has any, or if the filters need more than a row has. A row's node is its path, below kCallersNotKept.
  StepRows rows;

  std::vector<std::optional<CountedClass>> counted_of_class;  // by class_id: what a census counted of it

  // Stacks as a tree, parents first; node 0 is the root. Names are indices into `names`.
  std::vector<uint32_t> node_parent, node_name;
  std::vector<uint8_t> node_type;  // format::FrameType that most bytes below it have
  std::vector<std::string> names;
  std::vector<uint32_t> classes, threads;  // names by class_id and thread
  std::vector<uint32_t> primitives;        // names of methods that only allocate for their caller

  // What Estimator is made with.
  struct Basis {
    double factor = 1;                 // counted bytes over estimated ones
    double lost = 0;                   // bytes of lost points
    double unwritten = 0;              // those that could not be written, or that a kill lost
    double uncounted_variance = 0;     // of the bytes of intervals that nobody counted
    std::optional<double> by_class{};  // bytes, if a census counted each class
    bool calibrated = false;
    format::Row all;  // sums of everything, also of what filters left out
  };
  Basis of_samples, of_rows;
  uint64_t samples = 0;  // before thinning

  // The time axis.
  uint64_t interval_ns = 0, begin_ns = 0, end_ns = 0;
  struct IntervalRow {
    uint64_t begin_ns = 0;
    double bytes = 0;
    bool is_estimated = false;  // by its samples: nothing was counted
  };
  std::vector<IntervalRow> intervals;
  struct WindowRow {
    uint64_t start_ns = 0;
    double lambda = 0;
  };
  std::vector<WindowRow> windows;
  struct HeapRow {
    uint64_t time_ns = 0, used = 0, committed = 0, rss = 0, threads = 0;  // 0: not known
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
  std::vector<double> out_of_memory;  // ns: when sampled OutOfMemoryErrors were thrown
  bool tracks_objects = false;
  bool is_range = false;        // of what is alive some may be garbage (Lifetimes::is_range)
  bool counts_events = false;   // as "bytes"
  bool has_no_chances = false;  // imported: the chance with which an object was drawn is unknown
};

struct ColumnsQuestion {
  size_t max_samples = 0;
  format::Stream stream = format::Stream::kAllocations;
  bool use_rows = true;
  bool use_census = true;  // scale the samples of each class to what a census counted of it; not of several recordings
  Filter filter;
  std::shared_ptr<MergedNames> merged{};  // as NamePool
  CallTree::Options tree{};               // `is_primitive` names the primitives; no frame is left out for it
  std::optional<TimePoint> at;            // when objects are to be alive; nullopt: at the end
};

// Reads the recordings to their ends. At most 255 of them.
SampleColumns ReadSampleColumns(std::span<const std::unique_ptr<Recording>> recordings,
                                const ColumnsQuestion& question);

// Fewer samples that stand for all: for pages that would be too large otherwise.
//
// Each sample is kept with a probability in proportion to its weight (1 from a threshold on), by systematic sampling in
// the order of the columns, and those below the threshold are raised to it: sums stay unbiased.

// Keeps `count` samples, or one fewer or more.
void ThinSamples(size_t count, SampleColumns* columns);

// Leaves out nodes and names of which there is no sample and no row.
void KeepUsedNames(SampleColumns* columns);

}  // namespace heaprec::tools
