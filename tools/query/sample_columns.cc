#include "tools/query/sample_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "format/weights.h"
#include "tools/analysis/allocation_primitives.h"
#include "tools/analysis/call_tree.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/frame_types.h"
#include "tools/analysis/imported.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/input/dictionary_names.h"
#include "tools/query/census_strata.h"
#include "tools/query/sample_thinning.h"
#include "tools/text/progress.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMicrosecond = 1000;
constexpr uint32_t kLargeSize = 0xffffffff;
// A weight that the page would compute differently is stored as it is.
constexpr double kSameWeight = 1e-13;

bool IsClose(double one, double other) { return std::abs(one - other) <= kSameWeight * std::abs(one); }

// Numbers from 0 for the keys that occur.
class Numbers {
 public:
  uint32_t Of(NamePool::Id key, std::vector<uint32_t>* keys) {
    const auto [found, is_new] = numbers_.try_emplace(key, static_cast<uint32_t>(keys->size()));
    if (is_new) keys->push_back(key);
    return found->second;
  }

 private:
  std::unordered_map<NamePool::Id, uint32_t> numbers_;
};

// Fills the columns block by block.
class ColumnBuilder {
 public:
  ColumnBuilder(const Recording& recording, Strata strata, SampleColumns* into)
      : into_(*into), design_(recording.header()), tree_(&names_, {}), lives_(recording.header()) {
    design_.SetStrata(std::move(strata));
    tree_.Start();
    types_.Start();
  }

  void Add(const format::Block& block) {
    dictionary_.Enter(block);
    tree_.Enter(block, &dictionary_);
    NoteWindows(block);
    subjects_.assign(block.samples.size(), Lifetimes::kLeftOut);
    AddSamples(block, design_.Add(block));
    const std::vector<uint32_t> live_checkpoint(block.live_checkpoint.size(), Lifetimes::kLeftOut);
    if (into_.tracks_objects) lives_.Add(block, subjects_, live_checkpoint);
  }

  void Close(const Recording& recording) {
    const format::StreamCounters& counters = recording.counters();
    design_.CountUnwritten(counters);
    const Estimator estimator(design_, counters);
    into_.factor = estimator.factor();
    into_.calibrated = estimator.calibrated();
    into_.variance_of_bytes = design_.VarianceOfBytes();
    into_.unwritten = UnwrittenWeight(counters) * estimator.factor();
    into_.counted_bytes = static_cast<double>(design_.counted_bytes());
    types_.Close(1);
    CloseTree();
    CloseLives();
    const AllocationPrimitives primitives = AllocationPrimitives::Default();
    for (NamePool::Id id = 0; id < names_.size(); ++id) {
      into_.names.push_back(names_.At(id));
      if (primitives.Contains(names_.At(id))) into_.primitives.push_back(id);
    }
  }

 private:
  void NoteWindows(const format::Block& block) {
    if (block.chunk != chunk_) window_of_.clear();
    chunk_ = block.chunk;
    for (const format::Window& window : block.windows) {
      if (format::StreamOfWindow(window.id) != format::Stream::kAllocations) continue;
      if (window_of_.contains(window.id)) continue;
      window_of_[window.id] = static_cast<uint32_t>(into_.lambdas.size());
      into_.lambdas.push_back(window.lambda);
      into_.windows.push_back({window.start_ns, window.lambda});
    }
    for (const format::Interval& interval : block.intervals) {
      if (interval.stream == format::Stream::kAllocations && interval.bytes == 0 && interval.held > 0) {
        not_counted_.insert(interval.index);
      }
    }
  }

  void AddSamples(const format::Block& block, std::span<const WeightedSample> drawn) {
    for (size_t i = 0; i < drawn.size(); ++i) {
      const WeightedSample& one = drawn[i];
      const auto index = static_cast<uint32_t>(into_.second.size());
      subjects_[one.index] = index;
      const bool begins_line = one.line != 0 && (i == 0 || drawn[i - 1].line != one.line);
      if (begins_line) into_.lines.push_back({index, index + one.in_line, Unscaled(one, one.weight)});
      AddPlace(block, one);
      AddWeight(one);
      if (one.line != 0) AddRounding(one);
      if (!not_counted_.empty() && not_counted_.contains(one.interval)) into_.uncounted.push_back(index);
    }
  }

  void AddPlace(const format::Block& block, const WeightedSample& one) {
    const format::Sample& sample = block.samples[one.index];
    into_.second.push_back(static_cast<uint32_t>(sample.time_ns / kSecond));
    into_.microsecond.push_back(static_cast<uint32_t>(sample.time_ns % kSecond / kMicrosecond));
    into_.class_id.push_back(classes_.Of(names_.Of(dictionary_.Class(sample.class_id)), &into_.classes));
    into_.thread.push_back(threads_.Of(names_.Of(dictionary_.Thread(sample.thread)), &into_.threads));
    into_.node.push_back(tree_.Of(sample.stack));
    into_.size.push_back(sample.size < kLargeSize ? static_cast<uint32_t>(sample.size) : kLargeSize);
    if (sample.size >= kLargeSize) into_.explicit_sizes.push_back(static_cast<double>(sample.size));
    const auto window = window_of_.find(sample.window);
    into_.window.push_back(window == window_of_.end() ? 0 : window->second);
    into_.parted.push_back(static_cast<uint8_t>(one.line == 0 ? OrderLevel::kSample : one.after.parted));
    types_.Add(block, tree_, sample.stack, one.weight);
    NoteStratum(one);
  }

  void NoteStratum(const WeightedSample& one) {
    into_.stratum_of_class.resize(into_.classes.size(), -1);
    if (one.stratum == nullptr) return;
    const size_t stratum = one.stratum->index;
    if (stratum >= into_.strata.size()) into_.strata.resize(stratum + 1);
    into_.strata[stratum] = *one.stratum;
    into_.stratum_of_class[into_.class_id.back()] = static_cast<int32_t>(stratum);
  }

  static double Unscaled(const WeightedSample& one, double weight) {
    return one.stratum == nullptr ? weight : weight / one.stratum->factor;
  }

  void AddWeight(const WeightedSample& one) {
    const double weight = Unscaled(one, one.weight), first = Unscaled(one, one.first_weight);
    const double lambda = into_.lambdas[into_.window.back()];
    const double computed = lambda > 0 ? one.size / format::PoissonInclusion(lambda * one.size) : 0;
    WeightCode code = WeightCode::kExplicit;
    if (one.line == 0 && first == weight && IsClose(weight, computed) && one.size > 0) code = WeightCode::kFirstStage;
    if (one.line != 0 && IsClose(weight, into_.lines.back().weight) && IsClose(first, computed)) {
      code = WeightCode::kRaised;
    }
    into_.weight_code.push_back(static_cast<uint8_t>(code));
    if (code != WeightCode::kExplicit) return;
    into_.explicit_weights.push_back(weight);
    into_.explicit_first_weights.push_back(first);
  }

  // A node begins where the sample parts from the one before it, at the latest at the line's first sample.
  void AddRounding(const WeightedSample& one) {
    const size_t first_new = one.rank == 0 ? 0 : static_cast<size_t>(one.before.parted);
    for (size_t level = first_new; level < kNodes; ++level) into_.rounding[level].push_back(one.rounding[level]);
  }

  void CloseTree() {
    const auto& nodes = tree_.nodes();
    for (CallTree::NodeId id = 0; id < nodes.size(); ++id) {
      into_.node_parent.push_back(nodes[id].parent);
      into_.node_name.push_back(nodes[id].name);
      const ByFrameType of = types_.Of(id);
      into_.node_type.push_back(static_cast<uint8_t>(std::max_element(of.begin(), of.end()) - of.begin()));
    }
  }

  void CloseLives() {
    if (!into_.tracks_objects) return;
    lives_.Close(into_.end_ns);
    for (const Lifetime& life : lives_.all()) {
      if (life.subject == Lifetimes::kLeftOut || !life.IsTrackedAt(lives_.end_ns())) continue;
      into_.alive.push_back(life.subject);
      into_.alive_weights.push_back(lives_.WeightAt(life, lives_.end_ns()));
    }
  }

  SampleColumns& into_;
  Design design_;
  NamePool names_;
  CallTree tree_;
  FrameTypes types_;
  Lifetimes lives_;
  Names dictionary_;
  Numbers classes_, threads_;
  std::unordered_map<uint32_t, uint32_t> window_of_;  // by id, of the chunk at hand
  std::unordered_set<uint64_t> not_counted_;
  std::vector<uint32_t> subjects_;
  uint32_t chunk_ = format::kNone;
};

// Heap, pauses, intervals, losses.
class AxisBuilder {
 public:
  explicit AxisBuilder(const format::FileHeader& header, SampleColumns* into)
      : into_(*into), last_ns_(header.start.begin_ns) {
    into_.interval_ns = std::max<uint64_t>(header.interval_ns, 1);
    into_.begin_ns = header.start.next_interval[format::Stream::kAllocations] * into_.interval_ns;
    into_.end_ns = into_.begin_ns;
    before_ = header.start.counters[format::Stream::kAllocations];
  }

  void Add(const format::Block& block) {
    for (const format::Interval& interval : block.intervals) {
      if (interval.stream != format::Stream::kAllocations) continue;
      into_.intervals.push_back({interval.index * into_.interval_ns, static_cast<double>(interval.bytes),
                                 static_cast<double>(interval.held), static_cast<double>(interval.kept),
                                 std::isfinite(interval.tau) ? interval.tau : 0});
    }
    for (const format::ProcessState& state : block.states) AddState(state);
    AddLosses(block);
    into_.end_ns = std::max(into_.end_ns, block.ending ? block.ending->time_ns : block.end_ns);
    last_ns_ = block.end_ns;
  }

 private:
  void AddState(const format::ProcessState& state) {
    switch (state.kind) {
      case format::ProcessStateKind::kSnapshot:
        into_.heap.push_back({state.time_ns, state.used, state.committed});
        break;
      case format::ProcessStateKind::kGcBegin:
        begun_ = state;
        break;
      case format::ProcessStateKind::kGcEnd: {
        const uint64_t begin_ns = begun_ ? begun_->time_ns : state.time_ns - std::min(state.time_ns, state.paused_ns);
        const std::string& cause = state.cause.empty() && begun_ ? begun_->cause : state.cause;
        into_.pauses.push_back({begin_ns, state.paused_ns, begun_ ? begun_->used : 0, state.used, cause});
        begun_.reset();
        break;
      }
      default:
        break;
    }
  }

  void AddLosses(const format::Block& block) {
    const format::StreamCounters& now = block.counters[format::Stream::kAllocations];
    const format::StreamCounters more = now.Since(before_);
    before_ = now;
    if (more.AllLost() > 0) into_.losses.push_back({last_ns_, block.end_ns, more.AllLost(), more.AllLostWeight()});
  }

  SampleColumns& into_;
  std::optional<format::ProcessState> begun_;
  format::StreamCounters before_;
  uint64_t last_ns_;
};

}  // namespace

SampleColumns ReadSampleColumns(Recording* recording, size_t max_samples, bool use_census) {
  SampleColumns columns;
  const format::FileHeader& header = recording->header();
  columns.tracks_objects = header.max_tracked_objects > 0;
  columns.has_no_chances = IsBiased(header.source);
  columns.lambdas.push_back(0);
  ColumnBuilder builder(*recording, use_census ? StrataOf(*recording).strata : Strata(), &columns);
  AxisBuilder axis(header, &columns);
  Progress progress(recording->source().name(), recording->source().size());
  while (const auto block = recording->Next()) {
    builder.Add(*block);
    axis.Add(*block);
    progress.At(recording->bytes_read());
  }
  if (recording->ending()) columns.end_ns = std::max(columns.begin_ns, recording->ending()->time_ns);
  builder.Close(*recording);
  columns.samples = columns.second.size();
  if (columns.samples > max_samples) ThinSamples(max_samples, &columns);
  return columns;
}

}  // namespace heaprec::tools
