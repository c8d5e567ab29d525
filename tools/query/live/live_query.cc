#include "tools/query/live/live_query.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tools/analysis/live/growth.h"
#include "tools/input/recording_kind.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSeed = 0x6c697665;  // of what is drawn here: the same recording gives the same traces
// What survived so many collections is hardly garbage that a collector of generations has left for later.
constexpr uint64_t kUsuallyGrown = 3;
// Steps of life tables: what dies young and what is promoted lies within.
constexpr uint64_t kMinCollections = 16;

void SearchStream(const std::string& file, format::Stream stream, std::vector<FoundLeak>* into) {
  FileScan scan(file, stream == format::Stream::kAllocations ? std::vector<std::string>()
                                                             : std::vector<std::string>{TraitsOf(stream).name});
  LiveQuery question;
  question.by = {Grouping(By::kSite)};
  question.leaks = true;
  LiveVisitor live(std::move(question), scan.tree(), stream);
  if (!scan.Run(&live) || IsTooShort(live)) return;
  for (const TestedRow& one : TestRows(live, kUsualFdr)) {
    if (!one.leak.leaks) break;
    into->push_back({stream, live.tables().front().grouping.NameOf(one.row->key, *scan.tree()),
                     one.leak.growth[kWholeTime].per_second, one.since_s});
  }
}

}  // namespace

size_t LiveTable::SlotOf(uint32_t key) {
  const auto [found, is_new] = slots.emplace(key, rows.size());
  if (is_new) rows.push_back({key, {}});
  return found->second;
}

LiveVisitor::LiveVisitor(LiveQuery question, CallTree* tree, format::Stream stream)
    : question_(std::move(question)),
      tree_(tree),
      stream_(stream),
      span_(question_.span),
      sampled_(question_.garbage, kSeed) {
  for (const Grouping& by : question_.by) tables_.emplace_back(by);
}

void LiveVisitor::Begin(const format::FileHeader& header) {
  lives_.reset();
  const bool tracks = header.MaxTracked(stream_) > 0;
  ++(tracks ? tracked_ : without_);
  if (!tracks) return;
  lives_.emplace(header, stream_);
  begin_ns_ = header.start.begin_ns;
  is_imported_ = IsImported(header.source);
  has_import_ |= is_imported_;
  if (lives_->clock().keeps_old_garbage()) old_garbage_of_ = header.gc_name;
  start_epoch_ns_ = header.start_epoch_ns;
  ended_ns_.reset();
  keys_.assign(tables_.size(), {});
  for (LiveTable& table : tables_) table.grouping.Start();
}

void LiveVisitor::Visit(const MatchedBlock& matched_block) {
  if (!lives_) return;
  for (LiveTable& table : tables_) table.grouping.Enter(matched_block.block);
  samples_.assign(matched_block.block.samples.size(), Lifetimes::kLeftOut);
  for (const WeightedSample* drawn : matched_block.drawn) {
    samples_[drawn->index] = SubjectOf(matched_block.block.samples[drawn->index], matched_block);
  }
  live_checkpoint_.assign(matched_block.block.live_checkpoint.size(), Lifetimes::kLeftOut);
  for (const format::CheckpointSample* one : matched_block.live_checkpoint) {
    if (lives_->Knows(one->sample.id)) continue;
    live_checkpoint_[static_cast<size_t>(one - matched_block.block.live_checkpoint.data())] =
        SubjectOf(one->sample, matched_block);
  }
  lives_->Add(matched_block.block, samples_, live_checkpoint_);
  if (matched_block.block.ending) ended_ns_ = matched_block.block.ending->time_ns;
}

uint32_t LiveVisitor::SubjectOf(const format::Sample& sample, const MatchedBlock& matched_block) {
  for (size_t i = 0; i < tables_.size(); ++i) {
    Grouping& by = tables_[i].grouping;
    const bool whole_path = by.by() == By::kMethod;
    keys_[i].push_back(whole_path ? matched_block.tree.Of(sample.stack)
                                  : by.KeyOf(sample, &matched_block.names, &matched_block.tree));
  }
  heaviest_ = std::max(heaviest_, sample.weight_bytes());
  return static_cast<uint32_t>(keys_.front().size() - 1);
}

void LiveVisitor::End(const Estimator&, double) {
  if (!lives_) return;
  const uint64_t end_ns = ended_ns_.value_or(lives_->end_ns());
  SetMoments(end_ns);
  AddLifetimes();
  if (question_.garbage > 0) AddGarbage();
  if (!is_imported_) {
    untracked_ += lives_->untracked();
    untracked_bytes_ += lives_->untracked_bytes();
  }
  knows_collections_ &= moments_.by_time || lives_->knows_collections();
  knows_survivors_ &= moments_.by_time || lives_->knows_survivors();
  AddOldCollections();
  const auto& counts = lives_->clock().counts();
  if (counts.empty()) return;
  const uint64_t first = lives_->is_range() ? 0 : counts.front().second;
  // What a major collection found dead shows a little later, for the last ones perhaps after the end.
  const uint64_t last = lives_->is_range() ? lives_->clock().CollectionsEndedBy(end_ns) : counts.back().second;
  collections_ += last - first;
  spanned_collections_ += std::max(first, lives_->clock().CollectionsEndedBy(moments_.to_ns)) -
                          std::max(first, lives_->clock().CollectionsEndedBy(moments_.from_ns));
}

// At the end of the recording, or when it was asked for.
void LiveVisitor::SetMoments(uint64_t end_ns) {
  lives_->Close(end_ns);
  moments_ = {};
  span_.Start(start_epoch_ns_, end_ns);
  std::tie(moments_.from_ns, moments_.to_ns) = span_.Span(begin_ns_, end_ns);
  moments_.at_ns = moments_.to_ns;
  if (question_.at) {
    moments_.at_ns = MomentOf(question_.at, start_epoch_ns_, end_ns);
    moments_.to_ns = std::clamp(moments_.at_ns, moments_.from_ns, moments_.to_ns);
  }
  of_majors_ |= lives_->is_range();
  // A major collection leaves nothing for later.
  const uint64_t usual = lives_->is_range() ? 1 : lives_->clock().counts().size() / 4;
  moments_.grown = question_.grown.value_or(std::clamp<uint64_t>(usual, 1, kUsuallyGrown));
  moments_.survived = question_.grown ? question_.survived : moments_.grown;
  moments_.by_time = stream_ != format::Stream::kAllocations;
  if (moments_.by_time) moments_.grown = moments_.survived = 0;  // no collection frees it
  moments_.least_age_ns = question_.least_age_ns;
  moments_.lifetimes = question_.lifetimes;
  moments_.with_old_growth = question_.leaks;
  moments_.series = question_.series;
  moments_.collections = std::max(kMinCollections, question_.promoted);
}

// A recording without such collections has no slope of the old generation, so its leaks would be missed.
void LiveVisitor::AddOldCollections() {
  const CollectionClock& clock = lives_->clock();
  has_old_instants_ &= !OldCollectionInstants(*lives_, moments_.from_ns, moments_.to_ns).empty();
  if (!clock.keeps_old_garbage()) return;
  knows_old_ &= !clock.old_counts().empty();
  old_collections_ += clock.OldCollectionsBy(moments_.to_ns) - clock.OldCollectionsBy(moments_.from_ns);
}

void LiveVisitor::AddLifetimes() {
  LiveSnapshot look(*lives_, moments_);
  instants_ = look.instants();
  const size_t before = all_.alive.size();
  for (const Lifetime& life : lives_->all()) look.Add(life, GroupsOf(life));
  look.Close(&all_);
  for (LiveTable& table : tables_) {
    for (LiveTable::Row& row : table.rows) look.Close(&row.group);
  }
  for (size_t i = before; i < all_.alive.size(); ++i) total_.Add(all_.alive[i]);
}

// A method holds what those that it called allocated, too.
std::vector<LiveGroup*> LiveVisitor::GroupsOf(const Lifetime& life) {
  std::vector<size_t> slots;
  std::vector<LiveGroup*> groups{&all_};
  for (size_t i = 0; i < tables_.size(); ++i) {
    LiveTable& table = tables_[i];
    slots.clear();
    uint32_t key = keys_[i][life.subject];
    if (table.grouping.by() != By::kMethod) {
      slots.push_back(table.SlotOf(key));
    } else {
      for (; key != CallTree::kRoot; key = tree_->At(key).parent) slots.push_back(table.SlotOf(tree_->At(key).name));
    }
    for (const size_t slot : slots) groups.push_back(&table.rows[slot].group);
  }
  return groups;
}

void LiveVisitor::AddGarbage() {
  std::vector<const Lifetime*> dead;
  for (const Lifetime& life : lives_->all()) {
    const bool is_within = life.end_ns >= moments_.from_ns && life.end_ns <= moments_.to_ns;
    if (life.end == LifetimeEnd::kDied && is_within) dead.push_back(&life);
  }
  std::stable_sort(dead.begin(), dead.end(),
                   [](const Lifetime* a, const Lifetime* b) { return a->end_ns < b->end_ns; });
  const auto trace_of = [this](const Lifetime& life) {
    DeadTrace trace{start_epoch_ns_ + life.end_ns,
                    start_epoch_ns_ + life.birth_ns,
                    life.size,
                    life.Survived(),
                    lives_->WeightAt(life, life.end_ns),
                    {}};
    for (const auto& keys : keys_) trace.keys.push_back(keys[life.subject]);
    return trace;
  };
  for (const Lifetime* life : dead) sampled_.Offer([&] { return trace_of(*life); });
  const size_t older = dead.size() - std::min(dead.size(), question_.garbage);
  for (size_t i = older; i < dead.size(); ++i) newest_.push_back(trace_of(*dead[i]));
  std::stable_sort(newest_.begin(), newest_.end(),
                   [](const DeadTrace& a, const DeadTrace& b) { return a.died_ns > b.died_ns; });
  if (newest_.size() > question_.garbage) newest_.resize(question_.garbage);
}

LiveRange LiveVisitor::EstimateGroup(const std::vector<LiveSample>& alive) const {
  if (is_range()) return RangeOf(alive, total_, unit());
  LiveEstimates estimates = tools::EstimateGroup(alive, total_, unit());
  if (!knows_survivors_) {
    estimates.mean_survived = kUnknownEstimate;
    estimates.median_survived = kUnknownEstimate.value;
    if (moments_.survived > 0)
      estimates.bytes = estimates.objects = estimates.share = estimates.mean_age_s = kUnknownEstimate;
  }
  return {estimates, estimates.bytes, estimates.objects};
}

// If nothing is live, returns the weight of the heaviest sample.
double LiveVisitor::unit() const { return total_.bytes > 0 ? total_.Unit() : heaviest_; }

std::vector<TestedRow> TestRows(const LiveVisitor& live, double rate) {
  std::vector<TestedRow> rows;
  if (!live.knows_growth()) return rows;
  std::vector<const LiveGroup*> groups;
  for (const LiveTable::Row& row : live.tables().front().rows) {
    if (row.group.growth[kWholeTime].slope_square_sum == 0) continue;
    groups.push_back(&row.group);
    rows.push_back({&row, {}, {}});
  }
  const std::vector<Leak> leaks = LeaksOf(groups, rate, live.has_old_growth());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].leak = leaks[i];
    if (!leaks[i].leaks || live.tracked() != 1) continue;
    rows[i].since_s =
        OnsetOf(groups[i]->alive, static_cast<double>(live.from_ns()) * 1e-9, static_cast<double>(live.at_ns()) * 1e-9);
  }
  std::ranges::stable_sort(rows, [](const TestedRow& a, const TestedRow& b) {
    if (a.leak.leaks != b.leak.leaks) return a.leak.leaks;
    return a.leak.growth[kWholeTime].per_second.value > b.leak.growth[kWholeTime].per_second.value;
  });
  return rows;
}

bool IsTooShort(const LiveVisitor& live) {
  return !live.knows_growth() || (live.tracked() == 1 && live.instants().size() < 3);
}

std::vector<FoundLeak> SearchLeaks(const std::string& file, const format::FileHeader& header) {
  std::vector<FoundLeak> leaks;
  for (const format::Stream stream : format::kAllStreams) {
    if (header.MaxTracked(stream) > 0) SearchStream(file, stream, &leaks);
  }
  std::ranges::stable_sort(leaks, std::ranges::greater(), [](const FoundLeak& one) { return one.per_second.value; });
  return leaks;
}

}  // namespace heaprec::tools
