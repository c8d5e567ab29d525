#include "tools/query/samples/sample_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "format/model/weights.h"
#include "tools/analysis/call_tree.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/frame_types.h"
#include "tools/analysis/imported.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/uncounted.h"
#include "tools/input/dictionary_names.h"
#include "tools/query/samples/sample_thinning.h"
#include "tools/query/scan/census_strata.h"
#include "tools/text/progress.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMicrosecond = 1000;
constexpr uint32_t kLargeSize = 0xffffffff;
// A weight that the page would compute differently is stored as it is.
constexpr double kSameWeight = 1e-13;

// A time of a recording on the axis of all.
uint64_t Shifted(uint64_t time_ns, int64_t shift_ns) {
  return static_cast<uint64_t>(std::max<int64_t>(static_cast<int64_t>(time_ns) + shift_ns, 0));
}

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

// Fills the columns recording by recording, block by block.
class ColumnBuilder {
 public:
  ColumnBuilder(const ColumnsQuestion& question, bool is_one, SampleColumns* into)
      : question_(question),
        is_one_(is_one),
        into_(*into),
        names_(question.merged),
        tree_(&names_, OptionsOf(question.tree)),
        dictionary_(names_.merged()) {}

  void Start(const Recording& recording, int64_t shift_ns) {
    shift_ns_ = shift_ns;
    design_.emplace(recording.header(), question_.stream);
    if (is_one_ && question_.use_census && question_.stream == format::Stream::kAllocations) {
      design_->SetStrata(StrataOf(recording).strata);
    }
    tracks_ = recording.header().MaxTracked(question_.stream) > 0;
    into_.tracks_objects |= tracks_;
    lives_.emplace(recording.header(), question_.stream);
    filter_ = question_.filter;
    filter_.Start(recording);
    if (names_.merged() != nullptr) names_.merged()->Start(recording.header().recording_id);
    tree_.Start();
    types_.Start();
    chunk_ = format::kNone;
  }

  void Add(const format::Block& block) {
    dictionary_.Enter(block);
    filter_.Enter(block, &dictionary_);
    tree_.Enter(block, &dictionary_);
    NoteWindows(block);
    subjects_.assign(block.samples.size(), Lifetimes::kLeftOut);
    AddSamples(block, design_->Add(block));
    if (tracks_) AddLives(block);
  }

  // `end_ns`: of the recording. Returns the factor by which its samples are scaled.
  double Close(const Recording& recording, uint64_t end_ns) {
    const format::StreamCounters& counters = recording.counters(question_.stream);
    if (into_.counts_events) design_->SetCounted(counters.candidates);
    design_->CountUnwritten(counters);
    const Estimator estimator(*design_, counters);
    const double factor = estimator.factor();
    into_.factor = is_one_ ? factor : 1;
    into_.factors.push_back(factor);
    into_.calibrated = (into_.calibrated || into_.factors.size() == 1) && estimator.calibrated();
    into_.variance_of_bytes += design_->VarianceOfBytes() * (is_one_ ? 1 : factor * factor);
    into_.lost += LostWeight(counters) * factor;
    if (design_->all().samples() == 0) into_.lost = std::max(into_.lost, estimator.Total().value);
    into_.unwritten += UnwrittenWeight(counters) * factor;
    into_.total += estimator.Total().value;
    types_.Close(factor);
    if (tracks_) CloseLives(recording.header().start_epoch_ns, end_ns);
    return factor;
  }

  void CloseNames() {
    CloseTree();
    const auto& is_primitive = question_.tree.is_primitive;
    for (NamePool::Id id = 0; id < names_.size(); ++id) {
      const std::string_view name = names_.At(id);
      into_.names.emplace_back(name);
      if (is_primitive && is_primitive(question_.tree.lines ? WithoutLine(name) : name)) into_.primitives.push_back(id);
    }
    if (is_one_) into_.factors.clear(), into_.recording.clear();
    if (filter_.matched_by()) into_.chosen_by = static_cast<int>(*filter_.matched_by());
  }

 private:
  // The page finds sites by itself: it shows whole stacks.
  static CallTree::Options OptionsOf(CallTree::Options options) {
    options.is_primitive = {};
    return options;
  }
  static std::string_view WithoutLine(std::string_view name) { return name.substr(0, name.rfind(':')); }

  void NoteWindows(const format::Block& block) {
    if (block.chunk != chunk_) window_of_.clear();
    chunk_ = block.chunk;
    for (const format::Window& window : block.windows) {
      if (format::StreamOfWindow(window.id) != question_.stream) continue;
      if (window_of_.contains(window.id)) continue;
      window_of_[window.id] = static_cast<uint32_t>(into_.lambdas.size());
      into_.lambdas.push_back(window.lambda);
      into_.windows.push_back({Shifted(window.start_ns, shift_ns_), window.lambda});
    }
    for (const format::Interval& interval : block.intervals) {
      if (interval.stream == question_.stream && interval.bytes == 0 && interval.buffered > 0) {
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
    const uint64_t size = into_.counts_events ? 1 : sample.size;
    AddRow(sample, size, filter_.Keeps(sample) ? Chosen::kYes : Chosen::kNo);
    const auto window = window_of_.find(sample.window);
    into_.window.push_back(window == window_of_.end() ? 0 : window->second);
    into_.parted.push_back(static_cast<uint8_t>(one.line == 0 ? OrderLevel::kSample : one.after.parted));
    types_.Add(block, tree_, sample.stack, one.weight);
    NoteStratum(one);
  }

  void AddRow(const format::Sample& sample, uint64_t size, Chosen chosen) {
    const uint64_t time_ns = Shifted(sample.time_ns, shift_ns_);
    into_.second.push_back(static_cast<uint32_t>(time_ns / kSecond));
    into_.microsecond.push_back(static_cast<uint32_t>(time_ns % kSecond / kMicrosecond));
    into_.class_id.push_back(classes_.Of(names_.Of(dictionary_.Class(sample.class_id)), &into_.classes));
    into_.thread.push_back(threads_.Of(names_.Of(dictionary_.Thread(sample.thread)), &into_.threads));
    into_.node.push_back(tree_.Of(sample.stack));
    into_.size.push_back(size < kLargeSize ? static_cast<uint32_t>(size) : kLargeSize);
    if (size >= kLargeSize) into_.explicit_sizes.push_back(static_cast<double>(size));
    into_.chosen.push_back(static_cast<uint8_t>(chosen));
    into_.recording.push_back(static_cast<uint8_t>(into_.factors.size()));
  }

  // What a list of survivors has, and nothing before it, was born in no part of the file.
  void AddLives(const format::Block& block) {
    std::vector<uint32_t> survivors(block.live_checkpoint.size(), Lifetimes::kLeftOut);
    for (size_t i = 0; i < survivors.size(); ++i) {
      const format::Sample& sample = block.live_checkpoint[i].sample;
      if (sample.stream() != question_.stream || lives_->Knows(sample.id) || !filter_.Keeps(sample)) continue;
      survivors[i] = static_cast<uint32_t>(into_.second.size());
      AddRow(sample, sample.size, Chosen::kSurvivor);
      into_.window.push_back(0);
      into_.parted.push_back(static_cast<uint8_t>(OrderLevel::kSample));
      into_.weight_code.push_back(static_cast<uint8_t>(WeightCode::kExplicit));
      into_.explicit_weights.push_back(0);
      into_.explicit_first_weights.push_back(0);
    }
    into_.stratum_of_class.resize(into_.classes.size(), -1);
    into_.counted_of_class.resize(into_.classes.size());
    lives_->Add(block, subjects_, survivors);
  }

  void NoteStratum(const WeightedSample& one) {
    into_.stratum_of_class.resize(into_.classes.size(), -1);
    into_.counted_of_class.resize(into_.classes.size());
    if (one.of_class == nullptr) return;
    const size_t stratum = one.of_class->stratum->index;
    if (stratum >= into_.strata.size()) into_.strata.resize(stratum + 1);
    into_.strata[stratum] = *one.of_class->stratum;
    into_.stratum_of_class[into_.class_id.back()] = static_cast<int32_t>(stratum);
    into_.counted_of_class[into_.class_id.back()] = one.of_class->counted;
  }

  static double Unscaled(const WeightedSample& one, double weight) {
    return one.of_class == nullptr ? weight : weight / one.of_class->stratum->factor;
  }

  void AddWeight(const WeightedSample& one) {
    const double weight = Unscaled(one, one.weight), first = Unscaled(one, one.first_weight);
    const double lambda = into_.lambdas[into_.window.back()];
    const double computed = !(lambda > 0)         ? 0
                            : into_.counts_events ? 1 / lambda
                                                  : one.size / format::PoissonInclusion(lambda * one.size);
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

  void CloseLives(uint64_t start_epoch_ns, uint64_t end_ns) {
    lives_->Close(end_ns);
    into_.is_range |= lives_->is_range();
    const uint64_t at_ns = MomentOf(question_.at, start_epoch_ns, end_ns);
    for (const Lifetime& life : lives_->all()) {
      if (life.subject == Lifetimes::kLeftOut || !life.IsTrackedAt(at_ns)) continue;
      into_.alive.push_back(life.subject);
      into_.alive_weights.push_back(lives_->WeightAt(life, at_ns));
      into_.alive_ages.push_back(static_cast<double>(at_ns - std::min(at_ns, life.birth_ns)) * 1e-9);
    }
  }

  const ColumnsQuestion& question_;
  const bool is_one_;
  SampleColumns& into_;
  NamePool names_;
  CallTree tree_;
  FrameTypes types_;
  Numbers classes_, threads_;

  // State of the current recording.
  std::optional<Design> design_;
  std::optional<Lifetimes> lives_;
  Filter filter_;
  Names dictionary_;
  bool tracks_ = false;
  int64_t shift_ns_ = 0;
  std::unordered_map<uint32_t, uint32_t> window_of_;  // by id, of the current chunk
  std::unordered_set<uint64_t> not_counted_;
  std::vector<uint32_t> subjects_;
  uint32_t chunk_ = format::kNone;
};

constexpr std::string_view kOutOfMemory = "java/lang/OutOfMemoryError";

// Heap, pauses, intervals, losses, OutOfMemoryErrors.
class AxisBuilder {
 public:
  AxisBuilder(format::Stream stream, SampleColumns* into) : stream_(stream), into_(*into) {}

  // How far its times are moved.
  int64_t Start(const format::FileHeader& header, bool is_first) {
    interval_ns_ = std::max<uint64_t>(header.CapOf(stream_).interval_ns, 1);
    const uint64_t begin_ns = header.start.next_interval[stream_] * interval_ns_;
    if (is_first) into_.interval_ns = interval_ns_, into_.begin_ns = into_.end_ns = begin_ns;
    shift_ns_ = static_cast<int64_t>(into_.end_ns) - static_cast<int64_t>(begin_ns);
    last_ns_ = header.start.begin_ns;
    before_ = header.start.counters[stream_];
    first_interval_ = into_.intervals.size();
    begun_.reset();
    return shift_ns_;
  }

  void Add(const format::Block& block) {
    for (const format::Interval& interval : block.intervals) {
      if (interval.stream != stream_) continue;
      const bool is_estimated = IsUncounted(interval);
      into_.intervals.push_back({Shifted(interval.index * interval_ns_, shift_ns_),
                                 is_estimated ? SampledBytes(block, interval) : static_cast<double>(interval.bytes),
                                 static_cast<double>(interval.buffered), static_cast<double>(interval.kept),
                                 std::isfinite(interval.tau) ? interval.tau : 0, is_estimated});
    }
    for (const format::ProcessState& state : block.states) AddState(state);
    for (const format::Sample& sample : block.samples) {
      if (sample.stream() != format::Stream::kExceptions || sample.class_id == format::kNone) continue;
      if (block.dictionaries->classes[sample.class_id] != kOutOfMemory) continue;
      into_.out_of_memory.push_back(static_cast<double>(Shifted(sample.time_ns, shift_ns_)));
    }
    AddLosses(block);
    into_.end_ns = std::max(into_.end_ns, Shifted(block.ending ? block.ending->time_ns : block.end_ns, shift_ns_));
    last_ns_ = block.end_ns;
  }

  // `factor`: by which the samples of the recording are scaled.
  void Close(double factor) {
    for (size_t i = first_interval_; i < into_.intervals.size(); ++i) {
      if (into_.intervals[i].is_estimated) into_.intervals[i].bytes *= factor;
    }
  }

 private:
  void AddState(const format::ProcessState& state) {
    switch (state.kind) {
      case format::ProcessStateKind::kSnapshot:
        into_.heap.push_back(
            {Shifted(state.time_ns, shift_ns_), state.used, state.committed, state.rss, state.threads});
        break;
      case format::ProcessStateKind::kGcBegin:
        begun_ = state;
        break;
      case format::ProcessStateKind::kGcEnd: {
        const uint64_t begin_ns = begun_ ? begun_->time_ns : state.time_ns - std::min(state.time_ns, state.paused_ns);
        const std::string& cause = state.cause.empty() && begun_ ? begun_->cause : state.cause;
        into_.pauses.push_back(
            {Shifted(begin_ns, shift_ns_), state.paused_ns, begun_ ? begun_->used : 0, state.used, cause});
        begun_.reset();
        break;
      }
      default:
        break;
    }
  }

  void AddLosses(const format::Block& block) {
    const format::StreamCounters& now = block.counters[stream_];
    const format::StreamCounters more = now.Since(before_);
    before_ = now;
    if (more.AllLost() > 0)
      into_.losses.push_back(
          {Shifted(last_ns_, shift_ns_), Shifted(block.end_ns, shift_ns_), more.AllLost(), more.AllLostWeight()});
  }

  const format::Stream stream_;
  SampleColumns& into_;
  // State of the current recording.
  std::optional<format::ProcessState> begun_;
  format::StreamCounters before_;
  uint64_t interval_ns_ = 1, last_ns_ = 0;
  size_t first_interval_ = 0;
  int64_t shift_ns_ = 0;
};

}  // namespace

SampleColumns ReadSampleColumns(std::span<const std::unique_ptr<Recording>> recordings,
                                const ColumnsQuestion& question) {
  SampleColumns columns;
  columns.counts_events = format::CountsEvents(question.stream);
  columns.lambdas.push_back(0);
  ColumnBuilder builder(question, recordings.size() == 1, &columns);
  AxisBuilder axis(question.stream, &columns);
  for (const auto& recording : recordings) {
    const format::FileHeader& header = recording->header();
    if (question.stream == format::Stream::kAllocations) columns.has_no_chances |= IsBiased(header.source);
    const int64_t shift_ns = axis.Start(header, recording == recordings.front());
    const uint64_t begin_ns = columns.end_ns;
    builder.Start(*recording, shift_ns);
    Progress progress(recording->source().name(), recording->source().size());
    while (const auto block = recording->Next()) {
      builder.Add(*block);
      axis.Add(*block);
      progress.At(recording->bytes_read());
    }
    const auto& ending = recording->ending();
    if (ending) columns.end_ns = std::max(begin_ns, Shifted(ending->time_ns, shift_ns));
    axis.Close(builder.Close(*recording, ending ? ending->time_ns : Shifted(columns.end_ns, -shift_ns)));
  }
  builder.CloseNames();
  columns.samples = columns.second.size();
  if (columns.samples > question.max_samples) ThinSamples(question.max_samples, &columns);
  return columns;
}

}  // namespace heaprec::tools
