#include "tools/query/summary/follow_query.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/estimate/row_calibration.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

using format::Stream;

constexpr char kHeapOnly[] = "--follow shows allocations of the heap only";
constexpr uint32_t kTop = 0xffffffff;  // parent of rows that are not callers
constexpr size_t kSteps = 600;         // number of steps in curves
// Maximum callers shown below a row; the others are small.
constexpr size_t kCallers = 5;

double Measure(const Subset& sums, const std::string& sort) {
  if (sort == "objects") return sums.objects();
  if (sort == "mean-size") return sums.objects() > 0 ? sums.bytes() / sums.objects() : 0;
  if (sort == "points") return static_cast<double>(sums.samples());
  return sums.bytes();
}

double Ratio(double of, double to) { return to > 0 ? of / to : 1; }

GroupEstimates Scaled(const GroupEstimates& of, double bytes, double objects) {
  GroupEstimates scaled = of;
  scaled.bytes = tools::Scaled(of.bytes, bytes);
  scaled.objects = tools::Scaled(of.objects, objects);
  scaled.share = tools::Scaled(of.share, bytes);
  scaled.share.high = std::min(scaled.share.high, 1.0);
  scaled.mean_size = tools::Scaled(of.mean_size, Ratio(bytes, objects));
  return scaled;
}

}  // namespace

uint32_t Follow::Rows::Of(uint32_t parent, uint32_t key) {
  const auto [found, is_new] = places_.try_emplace(uint64_t{parent} << 32 | key, static_cast<uint32_t>(rows_.size()));
  if (!is_new) return found->second;
  rows_.push_back({parent, key, false, false, Subset(), Subset()});
  rows_.back().is_open = question_->opened.contains(PathOf(found->second));
  return found->second;
}

RowPath Follow::Rows::PathOf(uint32_t row) const {
  RowPath path;
  for (; row != kTop; row = rows_[row].parent) path.insert(path.begin(), rows_[row].key);
  return path;
}

void Follow::Rows::Add(const Drawn& drawn) {
  const By by = question_->grouping.by();
  const bool is_of_leaf = by == By::kSite || by == By::kMethod || by == By::kStack;
  CallTree::NodeId caller = is_of_leaf && drawn.leaf != CallTree::kRoot ? tree_->At(drawn.leaf).parent : drawn.leaf;
  uint32_t row = Of(kTop, drawn.key);
  if (drawn.counts) rows_[row].sums += drawn.sums, sums_ += drawn.sums;
  if (!drawn.is_kept) return;
  rows_[row].kept += drawn.sums, kept_ += drawn.sums;
  while (caller != CallTree::kRoot) {
    rows_[row].has_callers = true;
    if (!rows_[row].is_open) return;
    row = Of(row, tree_->At(caller).name);
    rows_[row].kept += drawn.sums;
    caller = tree_->At(caller).parent;
  }
}

Result<std::unique_ptr<Follow>> Follow::Start(std::unique_ptr<Recording> recording, FollowQuestion question) {
  auto scan = RecordingScan::Parse(question.scan);
  if (!scan.ok()) return scan.error();
  if (scan->stream() != Stream::kAllocations) return Error{kHeapOnly};
  if (MainStream(recording->header()) != Stream::kAllocations) {
    return Error{recording->source().name() + ": the recording has native memory only; " + kHeapOnly};
  }
  if (question.merged == nullptr) question.merged = question.scan.Naming();
  return std::unique_ptr<Follow>(new Follow(std::move(recording), std::move(question), *scan, scan->filter()));
}

Follow::Follow(std::unique_ptr<Recording> recording, FollowQuestion question, const RecordingScan& scan, Filter filter)
    : recording_(std::move(recording)),
      question_(std::move(question)),
      filter_(std::move(filter)),
      grouping_(question_.grouping),
      pool_(question_.merged),
      tree_(&pool_, scan.TreeOptions()),
      names_(pool_.merged()),
      reads_rows_(!question_.scan.no_rows && question_.scan.primitives.empty()),
      table_takes_rows_(reads_rows_ && question_.grouping.takes_rows()),
      samples_(recording_->header()),
      headlines_(samples_),
      table_(samples_),
      trust_(recording_->header(), Stream::kAllocations, /*has_design=*/true),
      heap_(recording_->header()),
      interval_ns_(std::max<uint64_t>(recording_->header().interval_ns, 1)),
      begin_ns_(recording_->header().start.next_interval[Stream::kAllocations] * interval_ns_),
      end_ns_(begin_ns_),
      first_step_(begin_ns_ / interval_ns_) {
  recording_->TakeAsWritten();  // samples need not wait for rows
  filter_.Start(*recording_);
  tree_.Start();
  grouping_.Start();
  rows_ = Rows(&question_, &tree_);
}

Result<std::unique_ptr<Follow>> Follow::Ask(FollowQuestion question) const {
  auto again = recording_->Again();
  if (!again.ok()) return again.error();
  return Start(std::move(*again), std::move(question));
}

bool Follow::Read() {
  bool any = false;
  while (const auto block = recording_->NextInFile()) {
    Add(*block);
    any = true;
  }
  if (any) Forget();
  return any;
}

void Follow::Add(const format::Block& block) {
  names_.Enter(block);
  filter_.Enter(block, &names_);
  tree_.Enter(block, &names_);
  trust_.Add(block);
  heap_.Add(block);
  full_.Add(block);
  AddSteps(block);
  AddStates(block);
  const auto time = TimeOf(block, interval_ns_);
  const bool has_rows = reads_rows_ && time;
  const bool is_by_rows = has_rows && table_takes_rows_ && filter_.TakesRows(*time);
  std::vector<const WeightedSample*> all;
  for (const WeightedSample& one : headlines_.Add(block, has_rows)) all.push_back(&one);
  for (GroupSums* const groups : {&sites_, &classes_}) groups->Add(block, all, &names_, &tree_);
  const auto of_table = table_.Add(block, is_by_rows);
  const auto kept = samples_.Add(block);
  if (is_by_rows) {
    has_rows_ = true;
    row_times_.push_back(*time);
    AddDrawn(block, of_table, SamplesOfRows(block, interval_ns_), true, false);
  }
  AddDrawn(block, kept, block.samples, !is_by_rows, true);
}

void Follow::AddDrawn(const format::Block& block, std::span<const WeightedSample> drawn,
                      const std::vector<format::Sample>& samples, bool counts, bool is_kept) {
  std::vector<const WeightedSample*> passed;
  for (const WeightedSample& one : drawn) {
    if (filter_.Keeps(samples[one.index])) passed.push_back(&one);
  }
  std::vector<uint32_t> keys;
  grouping_.KeysOf(block, passed, &names_, &tree_, &keys);
  for (size_t i = 0; i < passed.size(); ++i) {
    const WeightedSample& one = *passed[i];
    const uint64_t time_ns = samples[one.index].time_ns;
    Drawn next{
        .begin_ns = time_ns, .end_ns = time_ns, .key = keys[i], .counts = counts, .is_kept = is_kept, .sums = Subset()};
    if (one.row != nullptr) next.begin_ns = row_times_.back().begin_ns, next.end_ns = row_times_.back().end_ns;
    if (one.row == nullptr) next.leaf = tree_.Of(one.stack);
    next.sums.Add(one);
    latest_.push_back(next);
    rows_.Add(next);
  }
}

FollowStep* Follow::StepAt(uint64_t time_ns) {
  const uint64_t step = time_ns / interval_ns_;
  if (step < first_step_) return nullptr;
  // A time far beyond the intervals means damage.
  if (step - first_step_ >= steps_.size() + kSteps) return nullptr;
  while (step - first_step_ >= steps_.size()) steps_.push_back({0, last_heap_, 0, 0, heap_.last_after});
  return &steps_[step - first_step_];
}

void Follow::AddSteps(const format::Block& block) {
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != Stream::kAllocations) continue;
    end_ns_ = std::max(end_ns_, (interval.index + 1) * interval_ns_);
    if (FollowStep* const step = StepAt(interval.index * interval_ns_)) step->counted_bytes += interval.bytes;
  }
}

void Follow::AddStates(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (!format::IsOfHeap(state.kind)) continue;
    FollowStep* const step = StepAt(state.time_ns);
    if (state.used > 0) last_heap_ = state.used;
    if (step == nullptr) continue;
    step->heap_used = last_heap_;
    step->heap_after = heap_.last_after;
    if (state.kind == format::ProcessStateKind::kSnapshot || state.kind == format::ProcessStateKind::kGcBegin) continue;
    step->pauses += state.pauses;
    step->paused_ns += state.paused_ns;
  }
}

// Removes data that no span shows any more. Blocks are in order of time, the samples of one in any order.
void Follow::Forget() {
  const uint64_t kept_ns = (kLongestSpan + 1) * 1'000'000'000 + interval_ns_;
  uint64_t first_ns = end_ns_ - std::min(kept_ns, end_ns_);
  while (!row_times_.empty() && row_times_.front().end_ns <= first_ns) row_times_.pop_front();
  if (!row_times_.empty()) first_ns = std::min(first_ns, row_times_.front().begin_ns);
  while (!latest_.empty() && latest_.front().end_ns < first_ns) latest_.pop_front();
  for (; steps_.size() > kSteps; ++first_step_) steps_.pop_front();
}

std::vector<FollowStep> Follow::StepsSoFar() const {
  const uint64_t complete = std::max(end_ns_ / interval_ns_, first_step_) - first_step_;
  return {steps_.begin(), steps_.begin() + static_cast<int64_t>(std::min<uint64_t>(complete, steps_.size()))};
}

std::string Follow::NameOf(const Rows::Row& row) const {
  return row.parent == kTop ? grouping_.NameOf(row.key, tree_) : std::string(pool_.At(row.key));
}

void Follow::AppendRows(const Rows& rows, uint32_t below, const Ranking& ranking, const Estimators& estimators,
                        const Factors& of_callers, FollowAnswer* into) const {
  struct Entry {
    double measure = 0;
    std::string name;
    uint32_t row = 0;
  };
  std::vector<Entry> entries;
  const bool by_name = ranking.sort == "name";
  for (uint32_t i = 0; i < rows.all().size(); ++i) {
    const Rows::Row& row = rows.all()[i];
    if (row.parent != below || (below == kTop && row.sums.samples() == 0)) continue;
    entries.push_back({by_name ? 0 : Measure(below == kTop ? row.sums : row.kept, ranking.sort), NameOf(row), i});
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return a.measure != b.measure ? a.measure > b.measure : a.name < b.name;
  });
  if (below == kTop) into->all_rows = entries.size();
  const size_t limit = below == kTop ? ranking.limit : kCallers;
  if (limit > 0 && entries.size() > limit) entries.resize(limit);
  for (Entry& entry : entries) {
    const Rows::Row& row = rows.all()[entry.row];
    const GroupEstimates kept = EstimateGroup(row.kept, estimators.kept);
    const GroupEstimates shown =
        below == kTop ? EstimateGroup(row.sums, estimators.rows) : Scaled(kept, of_callers.bytes, of_callers.objects);
    into->rows.push_back({rows.PathOf(entry.row), std::move(entry.name), row.is_open, row.has_callers, shown});
    if (!row.is_open) continue;
    const Factors factors = below == kTop ? Factors{Ratio(shown.bytes.value, kept.bytes.value),
                                                    Ratio(shown.objects.value, kept.objects.value)}
                                          : of_callers;
    AppendRows(rows, entry.row, ranking, estimators, factors, into);
  }
}

// A row of the recording cannot be divided.
uint64_t Follow::BeginOf(uint64_t span_ns) const {
  const uint64_t begin_ns = end_ns_ - span_ns;
  for (const TimeOfRows& time : row_times_) {
    if (time.begin_ns < begin_ns && begin_ns < time.end_ns) return time.begin_ns;
  }
  return begin_ns;
}

Follow::Estimators Follow::EstimatorsOf(const Rows& rows, bool chooses_all) const {
  const format::StreamCounters& counters = recording_->counters();
  const auto of = [&](const Design& design, const Subset& chosen) {
    return chooses_all ? Estimator(design, counters)
                       : Estimator(design, counters, Weights::kCalibrated, &chosen, Estimator::ChosenBy::kAny);
  };
  return {of(table_, rows.sums()), of(samples_, rows.kept())};
}

FollowAnswer Follow::Answer(uint64_t span, const Ranking& ranking) {
  FollowAnswer answer{.begin_ns = begin_ns_, .end_ns = end_ns_, .is_whole = true, .rows = {}, .all = {}};
  const uint64_t span_ns = span * 1'000'000'000;
  if (span > 0 && span_ns < end_ns_ - begin_ns_) {
    answer.begin_ns = BeginOf(span_ns);
    answer.is_whole = false;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const uint64_t begin_ns = (first_step_ + i) * interval_ns_;
    if (begin_ns < answer.begin_ns || begin_ns >= answer.end_ns) continue;
    answer.counted_bytes += static_cast<double>(steps_[i].counted_bytes);
    answer.pauses += steps_[i].pauses;
    answer.paused_ns += steps_[i].paused_ns;
  }
  answer.has_rows = has_rows_;
  if (answer.is_whole) {
    const bool chooses_all = filter_.chooses_all();
    answer.counted_bytes = static_cast<double>(samples_.counted_bytes());
    answer.pauses = heap_.pauses;
    answer.paused_ns = heap_.paused_ns;
    const Estimators estimators = EstimatorsOf(rows_, chooses_all);
    answer.all = EstimateGroup(chooses_all ? table_.all() : rows_.sums(), estimators.rows);
    AppendRows(rows_, kTop, ranking, estimators, {}, &answer);
    return answer;
  }
  Rows rows(&question_, &tree_);
  for (const Drawn& drawn : latest_) {
    if (drawn.begin_ns >= answer.begin_ns && std::max(drawn.end_ns, drawn.begin_ns + 1) <= answer.end_ns)
      rows.Add(drawn);
  }
  const Estimators estimators = EstimatorsOf(rows, /*chooses_all=*/false);
  answer.all = EstimateGroup(rows.sums(), estimators.rows);
  AppendRows(rows, kTop, ranking, estimators, {}, &answer);
  return answer;
}

std::optional<HeadlineInputs::Top> Follow::TopOf(const GroupSums& groups, const Estimator& estimator) const {
  const auto most = std::ranges::max_element(groups.sums, {}, [](const auto& one) { return one.second.bytes(); });
  if (most == groups.sums.end()) return std::nullopt;
  return HeadlineInputs::Top{groups.grouping.NameOf(most->first, tree_), estimator.Share(most->second)};
}

Headlines Follow::HeadlinesSoFar(const std::string& file) {
  const format::StreamCounters& counters = recording_->counters();
  const Estimator estimator(samples_, counters), raw(samples_, counters, Weights::kRaw);
  const Estimator of_rows(headlines_, counters);
  HeadlineInputs inputs;
  inputs.file = file;
  inputs.site = TopOf(sites_, of_rows);
  inputs.klass = TopOf(classes_, of_rows);
  inputs.allocated_bytes = estimator.Total().value;
  if (estimator.calibrated()) inputs.estimated_bytes = raw.Total();
  inputs.chance_bytes = CheckCounts(samples_, counters).slack;
  inputs.duration_ns = end_ns_ - begin_ns_;
  inputs.heap = &heap_;
  inputs.full = full_.Soonest();
  inputs.is_running = recording_->running();
  inputs.trust_reasons = trust_.Reasons(*recording_, &samples_);
  inputs.lost_samples = counters.AllLost();
  inputs.sample_points = counters.points;
  return HeadlinesOf(inputs);
}

}  // namespace heaprec::tools
