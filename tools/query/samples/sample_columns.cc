#include "tools/query/samples/sample_columns.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "format/model/allocation_primitives.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/query/scan/census_strata.h"

namespace heaprec::tools {

format::Row Scaled(format::Row sums, double factor) {
  const double square = factor * factor;
  sums.bytes *= factor, sums.objects *= factor;
  sums.bytes_variance *= square, sums.objects_variance *= square, sums.covariance *= square;
  sums.bytes_fourth *= square * square, sums.objects_fourth *= square * square;
  return sums;
}

void StepRows::Begin(uint64_t end_ns) {
  Bound();
  if (ends_.empty() || in_step_ == per_step_) {
    ends_.push_back(end_ns);
    in_step_ = 0;
  }
  ends_.back() = std::max(ends_.back(), end_ns);
  ++in_step_;
}

void StepRows::Add(uint32_t class_id, uint32_t node, const format::Row& sums) {
  rows_.push_back({static_cast<uint32_t>(ends_.size()) - 1, class_id, node, sums});
}

void StepRows::Append(const StepRows& other, double factor) {
  const auto before = static_cast<uint32_t>(ends_.size());
  ends_.insert(ends_.end(), other.ends_.begin(), other.ends_.end());
  for (const StepRow& row : other.rows_) {
    rows_.push_back({before + row.step, row.class_id, row.node, Scaled(row.sums, factor)});
  }
  Bound();
}

void StepRows::Close() {
  Unite();
  while (rows_.size() > kMaxRows && ends_.size() > 1) Halve();
}

void StepRows::Unite() {
  const auto key = [](const StepRow& row) { return std::tie(row.step, row.class_id, row.node); };
  std::sort(rows_.begin(), rows_.end(), [&](const auto& one, const auto& other) { return key(one) < key(other); });
  size_t kept = 0;
  for (const StepRow& row : rows_) {
    if (kept > 0 && key(rows_[kept - 1]) == key(row)) {
      rows_[kept - 1].sums += row.sums;
    } else {
      rows_[kept++] = row;
    }
  }
  rows_.resize(kept);
}

// Merges pairs of steps.
void StepRows::Halve() {
  if (ends_.size() % 2 == 0) in_step_ += per_step_;
  per_step_ *= 2;
  for (size_t i = 0; i < ends_.size(); ++i) ends_[i / 2] = ends_[i];
  ends_.resize((ends_.size() + 1) / 2);
  for (StepRow& row : rows_) row.step /= 2;
  Unite();
}

void StepRows::Bound() {
  while (ends_.size() > kMaxSteps) Halve();
  if (rows_.size() <= room_) return;
  Unite();
  while (rows_.size() > kMaxRows && ends_.size() > 1) Halve();
  room_ = std::max(2 * kMaxRows, 2 * rows_.size());
}

namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMicrosecond = 1000;

// Converts a time of a recording to the common time axis.
uint64_t Shifted(uint64_t time_ns, int64_t shift_ns) {
  return static_cast<uint64_t>(std::max<int64_t>(static_cast<int64_t>(time_ns) + shift_ns, 0));
}

format::Row SumsOf(const Subset& of) {
  return {.points = of.samples(),
          .seen = static_cast<uint64_t>(of.seen()),
          .bytes = of.bytes(),
          .objects = of.objects(),
          .bytes_variance = of.variance().bytes,
          .objects_variance = of.variance().objects,
          .covariance = of.variance().both,
          .bytes_fourth = of.bytes_fourth(),
          .objects_fourth = of.objects_fourth()};
}

format::Row SumsOf(const WeightedSample& one) {
  Subset alone;
  alone.Add(one);
  return SumsOf(alone);
}

// Assigns numbers from 0 to the used keys.
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
    header_ = &recording.header();
    tracks_ = header_->MaxTracked(question_.stream) > 0;
    into_.tracks_objects |= tracks_;
    lives_.emplace(*header_, question_.stream);
    filter_ = question_.filter;
    filter_.Start(recording);
    into_.is_part |= !filter_.chooses_all();
    StartDesigns(recording);
    if (names_.merged() != nullptr) names_.merged()->Start(header_->recording_id);
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
    AddSamples(block, of_samples_->Add(block));
    if (of_rows_) AddRows(block);
    if (tracks_) AddLives(block);
  }

  // `end_ns`: end of the recording. Returns the factor by which its samples are scaled.
  double Close(const Recording& recording, uint64_t end_ns) {
    const format::StreamCounters& counters = recording.counters(question_.stream);
    const double factor = Conclude(counters, &*of_samples_, &into_.of_samples);
    if (of_rows_) {
      const double of_rows = Conclude(counters, &*of_rows_, &into_.of_rows);
      into_.rows.Append(rows_, is_one_ ? 1 : of_rows);
      rows_ = {};
    }
    into_.factors.push_back(factor);
    types_.Close(factor);
    if (tracks_) CloseLives(recording.header().start_epoch_ns, end_ns);
    return factor;
  }

  void CloseNames() {
    if (has_rows_) {
      into_.rows.Close();
    } else {
      into_.rows = {};
    }
    CloseTree();
    const auto& is_primitive = question_.tree.is_primitive;
    for (NamePool::Id id = 0; id < names_.size(); ++id) {
      into_.names.emplace_back(names_.At(id));
      if (is_primitive && is_primitive(WithoutLine(id))) into_.primitives.push_back(id);
    }
    if (is_one_) into_.factors.clear(), into_.recording.clear();
  }

 private:
  // The page determines sites itself, because it shows whole stacks.
  static CallTree::Options OptionsOf(CallTree::Options options) {
    options.is_primitive = {};
    return options;
  }
  std::string_view WithoutLine(NamePool::Id id) const {
    const std::string_view name = names_.At(id);
    return question_.tree.lines ? name.substr(0, name.rfind(':')) : name;
  }

  void StartDesigns(const Recording& recording) {
    of_samples_.emplace(*header_, question_.stream);
    of_rows_.reset();
    by_rows_ = filter_.RowsTaken(header_->interval_ns);
    if (question_.use_rows && question_.stream == format::Stream::kAllocations) {
      of_rows_.emplace(*header_, question_.stream);
    }
    if (!is_one_ || !question_.use_census || question_.stream != format::Stream::kAllocations) return;
    of_samples_->SetStrata(StrataOf(recording).strata);
    if (of_rows_) of_rows_->SetStrata(StrataOf(recording, by_rows_).strata);
  }

  double Conclude(const format::StreamCounters& counters, Design* design, SampleColumns::Basis* into) const {
    if (into_.counts_events) design->SetCounted(counters.candidates);
    design->CountUnwritten(counters);
    const Estimator estimator(*design, counters);
    const double factor = estimator.factor(), scale = is_one_ ? 1 : factor;
    into->factor = is_one_ ? factor : 1;
    into->calibrated = (into->calibrated || into_.factors.empty()) && estimator.calibrated();
    if (design->counted_by_class()) into->by_class = design->bytes_by_class();
    into->all += Scaled(SumsOf(design->all()), scale);
    into->uncounted_variance += scale * scale * design->uncounted().variance().bytes;
    into->lost += estimator.lost();
    into->unwritten += estimator.unwritten();
    return factor;
  }

  void NoteWindows(const format::Block& block) {
    if (block.chunk != chunk_) windows_.clear();
    chunk_ = block.chunk;
    for (const format::Window& window : block.windows) {
      if (format::StreamOfWindow(window.id) != question_.stream || !windows_.insert(window.id).second) continue;
      into_.windows.push_back({Shifted(window.start_ns, shift_ns_), window.lambda});
    }
  }

  void AddSamples(const format::Block& block, std::span<const WeightedSample> drawn) {
    for (const WeightedSample& one : drawn) {
      const format::Sample& sample = block.samples[one.index];
      types_.Add(block, tree_, sample.stack, one.weight);
      if (!filter_.Keeps(sample)) continue;
      subjects_[one.index] = static_cast<uint32_t>(into_.second.size());
      AddSample(sample, one.weight);
      into_.counted_of_class.resize(into_.classes.size());
      if (one.of_class != nullptr) into_.counted_of_class[into_.class_id.back()] = *one.of_class;
    }
  }

  void AddSample(const format::Sample& sample, double weight) {
    const uint64_t time_ns = Shifted(sample.time_ns, shift_ns_);
    into_.second.push_back(static_cast<uint32_t>(time_ns / kSecond));
    into_.microsecond.push_back(static_cast<uint32_t>(time_ns % kSecond / kMicrosecond));
    into_.class_id.push_back(ClassOf(sample.class_id));
    into_.thread.push_back(threads_.Of(names_.Of(dictionary_.Thread(sample.thread)), &into_.threads));
    into_.node.push_back(tree_.Of(sample.stack));
    into_.size.push_back(into_.counts_events ? 1 : static_cast<double>(sample.size));
    into_.weight.push_back(weight);
    into_.recording.push_back(static_cast<uint8_t>(into_.factors.size()));
  }

  uint32_t ClassOf(format::Index class_id) {
    return classes_.Of(names_.Of(dictionary_.Class(class_id)), &into_.classes);
  }

  void AddRows(const format::Block& block) {
    const bool by_rows = by_rows_(block);
    has_rows_ |= by_rows;
    const auto drawn = of_rows_->Add(block, by_rows);
    uint64_t end_ns = 0;
    for (const format::Interval& interval : block.intervals) {
      if (interval.stream == question_.stream) end_ns = std::max(end_ns, (interval.index + 1) * header_->interval_ns);
    }
    for (const WeightedSample& one : drawn) {
      if (one.row == nullptr) end_ns = std::max(end_ns, (one.interval + 1) * header_->interval_ns);
    }
    if (end_ns == 0) return;
    rows_.Begin(Shifted(end_ns, shift_ns_));
    const auto of_rows = by_rows ? SamplesOfRows(block, header_->interval_ns) : std::vector<format::Sample>();
    const std::vector<format::Sample>& samples = by_rows ? of_rows : block.samples;
    for (const WeightedSample& one : drawn) {
      if (!filter_.Keeps(samples[one.index])) continue;
      const uint32_t class_id = ClassOf(one.class_id);
      rows_.Add(class_id, PathOf(tree_.Of(one.stack)), SumsOf(one));
      into_.counted_of_class.resize(into_.classes.size());
      auto& counted = into_.counted_of_class[class_id];
      if (!counted && one.of_class != nullptr) counted = *one.of_class;
    }
  }

  // The frames from the leaf up to the site, as a separate path.
  CallTree::NodeId PathOf(CallTree::NodeId leaf) {
    const auto known = paths_.find(leaf);
    if (known != paths_.end()) return known->second;
    std::vector<NamePool::Id> names;
    const auto& is_primitive = question_.tree.is_primitive;
    for (CallTree::NodeId at = leaf; at != CallTree::kRoot && names.size() < format::kLongestPath;) {
      const NamePool::Id name = tree_.At(at).name;
      names.push_back(name);
      if (!is_primitive || !is_primitive(WithoutLine(name))) break;
      at = tree_.At(at).parent;
    }
    CallTree::NodeId path = tree_.ChildOf(CallTree::kRoot, names_.Of(kCallersNotKept));
    for (; !names.empty(); names.pop_back()) path = tree_.ChildOf(path, names.back());
    return paths_[leaf] = path;
  }

  // Objects that are in a list of survivors, but were not seen before, were born before the file begins.
  void AddLives(const format::Block& block) {
    std::vector<uint32_t> survivors(block.live_checkpoint.size(), Lifetimes::kLeftOut);
    for (size_t i = 0; i < survivors.size(); ++i) {
      const format::Sample& sample = block.live_checkpoint[i].sample;
      if (sample.stream() != question_.stream || lives_->Knows(sample.id) || !filter_.Keeps(sample)) continue;
      survivors[i] = static_cast<uint32_t>(into_.second.size());
      AddSample(sample, 0);
    }
    into_.counted_of_class.resize(into_.classes.size());
    lives_->Add(block, subjects_, survivors);
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
    into_.is_range |= lives_->is_range() && question_.survived == 0;
    const uint64_t at_ns = MomentOf(question_.at, start_epoch_ns, end_ns);
    for (const Lifetime& life : lives_->all()) {
      if (life.subject == Lifetimes::kLeftOut || !lives_->IsLiveAt(life, at_ns, question_.survived)) continue;
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

  bool has_rows_ = false;
  std::unordered_map<CallTree::NodeId, CallTree::NodeId> paths_;  // by leaf

  // State of the current recording.
  const format::FileHeader* header_ = nullptr;
  std::optional<Design> of_samples_, of_rows_;
  ByRows by_rows_;
  StepRows rows_;
  std::optional<Lifetimes> lives_;
  Filter filter_;
  Names dictionary_;
  bool tracks_ = false;
  int64_t shift_ns_ = 0;
  std::unordered_set<uint32_t> windows_;  // of the current chunk
  std::vector<uint32_t> subjects_;
  uint32_t chunk_ = format::kNone;
};

constexpr std::string_view kOutOfMemory = "java/lang/OutOfMemoryError";

// Collects heap, pauses, intervals, losses and OutOfMemoryErrors.
class AxisBuilder {
 public:
  AxisBuilder(format::Stream stream, SampleColumns* into) : stream_(stream), into_(*into) {}

  // Returns the offset for its times.
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
                                 is_estimated});
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
  ColumnBuilder builder(question, recordings.size() == 1, &columns);
  AxisBuilder axis(question.stream, &columns);
  for (const auto& recording : recordings) {
    const format::FileHeader& header = recording->header();
    if (question.stream == format::Stream::kAllocations) columns.has_no_chances |= IsBiased(header.source);
    const int64_t shift_ns = axis.Start(header, recording == recordings.front());
    const uint64_t begin_ns = columns.end_ns;
    builder.Start(*recording, shift_ns);
    Walk(recording.get(), [&](const format::Block& block) {
      builder.Add(block);
      axis.Add(block);
    });
    const auto& ending = recording->ending();
    if (ending) columns.end_ns = std::max(begin_ns, Shifted(ending->time_ns, shift_ns));
    axis.Close(builder.Close(*recording, ending ? ending->time_ns : Shifted(columns.end_ns, -shift_ns)));
  }
  builder.CloseNames();
  columns.samples = columns.second.size();
  if (columns.samples > question.max_samples) ThinSamples(question.max_samples, &columns);
  KeepUsedNames(&columns);
  return columns;
}

}  // namespace heaprec::tools
