#include "tools/query/live/live_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "tools/analysis/live/growth.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/query/live/path_query.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSeed = 0x6c697665;  // for random choices: the same recording always gives the same traces
// Objects that survived this many collections are rarely garbage that a generational collector has not found yet.
constexpr uint64_t kUsuallyGrown = 3;
// Steps of life tables, enough to show which objects die young and which are promoted.
constexpr uint64_t kMinCollections = 16;

// A range has no value: its lower end is certainly live.
double AmountOf(const Estimate& bytes) { return IsRange(bytes) ? bytes.low : bytes.value; }

// The rows of the table are pairs of a class and a site.
class ByClassAndSite final : public LiveVisitor {
 public:
  using LiveVisitor::LiveVisitor;

 private:
  uint32_t KeyOf(size_t, const format::Sample& sample, const MatchedBlock& matched_block) override {
    const NamePool::Id site = matched_block.tree.LeafNameOf(sample.stack);
    NamePool& pool = matched_block.tree.names();
    return pool.Of(fmt::format("{} at {}", matched_block.names.Class(sample.class_id), pool.At(site)));
  }
};

// `heaviest`: number of sites that do not leak.
void SearchStream(const std::string& file, format::Stream stream, size_t heaviest, std::vector<LiveSite>* into) {
  FileScan scan(file, stream == format::Stream::kAllocations ? std::vector<std::string>()
                                                             : std::vector<std::string>{TraitsOf(stream).name});
  LiveQuery question;
  question.by = {Grouping(By::kSite)};
  question.leaks = true;
  std::unique_ptr<LiveVisitor> visitor;
  const GroupPathVisitor* paths = nullptr;
  auto searches = stream == format::Stream::kAllocations ? FindPathSearches({file}, std::nullopt)
                                                         : Error{"only objects have paths"};
  if (searches.ok()) {
    auto with_paths = std::make_unique<GroupPathVisitor>(std::move(question), std::move(*searches), scan.tree());
    paths = with_paths.get();
    visitor = std::move(with_paths);
  } else {
    visitor = std::make_unique<LiveVisitor>(std::move(question), scan.tree(), stream);
  }
  LiveVisitor& live = *visitor;
  if (!scan.Run(&live)) return;
  const LiveTable& table = live.result().tables.front();
  std::vector<const LiveTable::Row*> leaking;
  const auto site_of = [&](const LiveTable::Row& row) {
    const LiveEstimates estimates = live.result().EstimateGroup(row.group.alive).estimates;
    return LiveSite{stream,
                    table.grouping.NameOf(row.key, *scan.tree()),
                    estimates.bytes,
                    estimates.share,
                    {},
                    paths != nullptr ? paths->PathsOf(row.key) : std::vector<GroupPath>()};
  };
  if (!IsTooShort(live.result())) {
    for (const TestedRow& one : TestRows(live.result(), kUsualFdr)) {
      if (!one.leak.leaks) break;
      leaking.push_back(one.row);
      LiveSite site = site_of(*one.row);
      site.leak = FoundLeak{stream, site.site, one.leak.growth[kWholeTime].per_second, one.since_s};
      into->push_back(std::move(site));
    }
  }
  std::vector<LiveSite> others;
  for (const LiveTable::Row& row : table.rows) {
    if (heaviest == 0 || row.group.alive.empty() || std::ranges::find(leaking, &row) != leaking.end()) continue;
    others.push_back(site_of(row));
  }
  std::ranges::stable_sort(others, std::ranges::greater(), [](const LiveSite& site) { return AmountOf(site.bytes); });
  others.resize(std::min(others.size(), heaviest));
  std::ranges::move(others, std::back_inserter(*into));
}

}  // namespace

Result<LiveChoice> ParseLiveChoice(const std::string& at, uint64_t survived, const std::vector<std::string>& files,
                                   format::Stream stream) {
  const LifecycleTerms& words = TraitsOf(stream).lifecycle;
  if (survived > 0 && !words.is_collected) {
    return Error{fmt::format("--survived: {} are not subject to garbage collection; they live until they are {}",
                             words.things, words.ended)};
  }
  if (at != "peak") {
    const auto time = TimeOption("--at", at);
    if (!time.ok()) return time.error();
    return LiveChoice{*time, survived};
  }
  std::optional<uint64_t> peak_ns;
  size_t recordings = 0;
  for (const std::string& file : files) {
    const auto opened = Recording::OpenAll(file);
    if (!opened.ok()) return LiveChoice{};  // whoever reads it reports it
    for (const auto& recording : *opened) {
      GcSummary states(recording->header());
      Walk(recording.get(), [&](const format::Block& block) { states.Add(block); });
      ++recordings;
      if (!words.is_collected && states.most_rss > 0) peak_ns = states.most_rss_ns;
      if (words.is_collected && states.most_after > 0) peak_ns = states.most_after_ns;
    }
  }
  if (recordings > 1) return Error{"--at peak needs a single recording: each has its own peak"};
  if (!peak_ns)
    return Error{words.is_collected ? "--at peak: no collection in the recording shows how much it left"
                                    : "--at peak: the recording does not have the size of the process"};
  return LiveChoice{TimePoint{TimePoint::Origin::kStart, static_cast<int64_t>(*peak_ns), {}},
                    words.is_collected ? std::max<uint64_t>(survived, 1) : 0};
}

Status CheckSurvivors(uint64_t survived, const std::vector<std::string>& files) {
  if (survived == 0) return {};
  const auto opened = Recording::OpenAll(files);
  if (!opened.ok()) return {};  // whoever reads it reports it
  for (const auto& recording : *opened) {
    if (recording->header().max_tracked_objects == 0) continue;
    Lifetimes lives(recording->header());
    std::vector<uint32_t> samples, live_checkpoint;
    Walk(recording.get(), [&](const format::Block& block) {
      samples.assign(block.samples.size(), 0);
      live_checkpoint.assign(block.live_checkpoint.size(), 0);
      lives.Add(block, samples, live_checkpoint);
    });
    lives.Close(lives.end_ns());
    if (lives.knows_survivors()) continue;
    return Error{fmt::format("{}: what survived a collection is unknown: {}", recording->source().name(),
                             lives.knows_collections() ? kNoCheck : kNoCollections)};
  }
  return {};
}

size_t LiveTable::SlotOf(uint32_t key) {
  const auto [found, is_new] = slots.emplace(key, rows.size());
  if (is_new) rows.push_back({key, {}});
  return found->second;
}

LiveResult::LiveResult(LiveQuery asked, format::Stream of)
    : question(std::move(asked)), stream(of), sampled_garbage(question.garbage, kSeed) {
  for (const Grouping& by : question.by) tables.emplace_back(by);
}

LiveVisitor::LiveVisitor(LiveQuery question, CallTree* tree, format::Stream stream)
    : tree_(tree), result_(std::move(question), stream), span_(result_.question.span) {}

void LiveVisitor::Begin(const format::FileHeader& header) {
  lives_.reset();
  const bool tracks = header.MaxTracked(result_.stream) > 0;
  ++(tracks ? result_.tracked : result_.without);
  if (!tracks) return;
  lives_.emplace(header, result_.stream);
  begin_ns_ = header.start.begin_ns;
  is_imported_ = IsImported(header.source);
  result_.has_import |= is_imported_;
  if (lives_->clock().keeps_old_garbage()) result_.old_garbage_of = header.gc_name;
  result_.start_epoch_ns = header.start_epoch_ns;
  ended_ns_.reset();
  keys_.assign(result_.tables.size(), {});
  for (LiveTable& table : result_.tables) table.grouping.Start();
}

void LiveVisitor::Visit(const MatchedBlock& matched_block) {
  if (!lives_) return;
  for (LiveTable& table : result_.tables) table.grouping.Enter(matched_block.block);
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

uint32_t LiveVisitor::KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) {
  Grouping& by = result_.tables[table].grouping;
  return by.by() == By::kMethod ? matched_block.tree.Of(sample.stack)
                                : by.KeyOf(sample, &matched_block.names, &matched_block.tree);
}

uint32_t LiveVisitor::SubjectOf(const format::Sample& sample, const MatchedBlock& matched_block) {
  for (size_t i = 0; i < result_.tables.size(); ++i) keys_[i].push_back(KeyOf(i, sample, matched_block));
  result_.heaviest = std::max(result_.heaviest, sample.weight_bytes());
  return static_cast<uint32_t>(keys_.front().size() - 1);
}

void LiveVisitor::End(const Estimator&, double) {
  if (!lives_) return;
  const uint64_t end_ns = ended_ns_.value_or(lives_->end_ns());
  SetMoments(end_ns);
  AddLifetimes();
  if (result_.question.garbage > 0) AddGarbage();
  if (!is_imported_) {
    result_.untracked += lives_->untracked();
    result_.untracked_bytes += lives_->untracked_bytes();
  }
  result_.knows_collections &= result_.moments.by_time || lives_->knows_collections();
  result_.knows_survivors &= result_.moments.by_time || lives_->knows_survivors();
  AddOldCollections();
  const auto& counts = lives_->clock().counts();
  if (counts.empty()) return;
  const uint64_t first = lives_->is_range() ? 0 : counts.front().second;
  // Deaths found by a major collection are noticed later; those of the last one perhaps after the end.
  const uint64_t last = lives_->is_range() ? lives_->clock().CollectionsEndedBy(end_ns) : counts.back().second;
  result_.collections += last - first;
  result_.spanned_collections += std::max(first, lives_->clock().CollectionsEndedBy(result_.moments.to_ns)) -
                                 std::max(first, lives_->clock().CollectionsEndedBy(result_.moments.from_ns));
}

// The end of the recording, or the requested times.
void LiveVisitor::SetMoments(uint64_t end_ns) {
  lives_->Close(end_ns);
  result_.moments = {};
  span_.Start(result_.start_epoch_ns, end_ns);
  std::tie(result_.moments.from_ns, result_.moments.to_ns) = span_.Span(begin_ns_, end_ns);
  result_.moments.at_ns = result_.moments.to_ns;
  if (const auto asked = at()) {
    result_.moments.at_ns = MomentOf(asked, result_.start_epoch_ns, end_ns);
    result_.moments.to_ns = std::clamp(result_.moments.at_ns, result_.moments.from_ns, result_.moments.to_ns);
  }
  result_.of_majors |= lives_->is_range();
  // A major collection finds all dead objects.
  const uint64_t usual = lives_->is_range() ? 1 : lives_->clock().counts().size() / 4;
  result_.moments.grown = result_.question.grown.value_or(std::clamp<uint64_t>(usual, 1, kUsuallyGrown));
  result_.moments.survived = result_.question.grown ? result_.question.survived : result_.moments.grown;
  result_.moments.by_time = result_.stream != format::Stream::kAllocations;
  if (result_.moments.by_time) result_.moments.grown = result_.moments.survived = 0;  // no collection frees it
  result_.moments.least_age_ns = result_.question.least_age_ns;
  result_.moments.lifetimes = result_.question.lifetimes;
  result_.moments.with_old_growth = result_.question.leaks;
  result_.moments.series = result_.question.series;
  result_.moments.collections = std::max(kMinCollections, result_.question.promoted);
}

// A recording without such collections has no slope for the old generation, so its leaks would be missed.
void LiveVisitor::AddOldCollections() {
  const CollectionClock& clock = lives_->clock();
  result_.has_old_instants &= !OldCollectionInstants(*lives_, result_.moments.from_ns, result_.moments.to_ns).empty();
  if (!clock.keeps_old_garbage()) return;
  knows_old_ &= !clock.old_counts().empty();
  if (!knows_old_) return result_.old_collections.reset();
  result_.old_collections = result_.old_collections.value_or(0) + clock.OldCollectionsBy(result_.moments.to_ns) -
                            clock.OldCollectionsBy(result_.moments.from_ns);
}

void LiveVisitor::AddLifetimes() {
  LiveSnapshot look(*lives_, result_.moments);
  result_.instants = look.instants();
  const size_t before = result_.all.alive.size();
  for (const Lifetime& life : lives_->all()) look.Add(life, GroupsOf(life));
  look.Close(&result_.all);
  for (LiveTable& table : result_.tables) {
    for (LiveTable::Row& row : table.rows) look.Close(&row.group);
  }
  for (size_t i = before; i < result_.all.alive.size(); ++i) result_.total.Add(result_.all.alive[i]);
}

// A method includes its callees' allocations.
std::vector<LiveGroup*> LiveVisitor::GroupsOf(const Lifetime& life) {
  std::vector<size_t> slots;
  std::vector<LiveGroup*> groups{&result_.all};
  for (size_t i = 0; i < result_.tables.size(); ++i) {
    LiveTable& table = result_.tables[i];
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
    const bool is_within = life.end_ns >= result_.moments.from_ns && life.end_ns <= result_.moments.to_ns;
    if (life.end == LifetimeEnd::kDied && is_within) dead.push_back(&life);
  }
  std::stable_sort(dead.begin(), dead.end(),
                   [](const Lifetime* a, const Lifetime* b) { return a->end_ns < b->end_ns; });
  const auto trace_of = [this](const Lifetime& life) {
    DeadTrace trace{result_.start_epoch_ns + life.end_ns,
                    result_.start_epoch_ns + life.birth_ns,
                    life.size,
                    life.Survived(),
                    lives_->WeightAt(life, life.end_ns),
                    {}};
    for (const auto& keys : keys_) trace.keys.push_back(keys[life.subject]);
    return trace;
  };
  for (const Lifetime* life : dead) result_.sampled_garbage.Offer([&] { return trace_of(*life); });
  const size_t older = dead.size() - std::min(dead.size(), result_.question.garbage);
  for (size_t i = older; i < dead.size(); ++i) result_.newest_garbage.push_back(trace_of(*dead[i]));
  std::stable_sort(result_.newest_garbage.begin(), result_.newest_garbage.end(),
                   [](const DeadTrace& a, const DeadTrace& b) { return a.died_ns > b.died_ns; });
  if (result_.newest_garbage.size() > result_.question.garbage) result_.newest_garbage.resize(result_.question.garbage);
}

LiveRange LiveResult::EstimateGroup(const std::vector<LiveSample>& alive) const {
  if (is_range()) return RangeOf(alive, total, Unit());
  LiveEstimates estimates = tools::EstimateGroup(alive, total, Unit());
  if (!knows_survivors) {
    estimates.mean_survived = kUnknownEstimate;
    estimates.median_survived = kUnknownEstimate.value;
    if (moments.survived > 0)
      estimates.bytes = estimates.objects = estimates.share = estimates.mean_age_s = kUnknownEstimate;
  }
  return {estimates, estimates.bytes, estimates.objects};
}

std::vector<TestedRow> TestRows(const LiveResult& live, double rate) {
  std::vector<TestedRow> rows;
  if (!live.knows_growth()) return rows;
  std::vector<const LiveGroup*> groups;
  for (const LiveTable::Row& row : live.tables.front().rows) {
    if (row.group.growth[kWholeTime].slope_square_sum == 0) continue;
    groups.push_back(&row.group);
    rows.push_back({&row, {}, {}});
  }
  const std::vector<Leak> leaks = LeaksOf(groups, rate, live.has_old_growth());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].leak = leaks[i];
    if (!leaks[i].leaks || live.tracked != 1) continue;
    rows[i].since_s = OnsetOf(groups[i]->alive, static_cast<double>(live.moments.from_ns) * 1e-9,
                              static_cast<double>(live.moments.at_ns) * 1e-9);
  }
  std::ranges::stable_sort(rows, [](const TestedRow& a, const TestedRow& b) {
    if (a.leak.leaks != b.leak.leaks) return a.leak.leaks;
    return a.leak.growth[kWholeTime].per_second.value > b.leak.growth[kWholeTime].per_second.value;
  });
  return rows;
}

bool IsTooShort(const LiveResult& live) {
  return !live.knows_growth() || (live.tracked == 1 && live.instants.size() < 3);
}

std::vector<LiveSite> SearchLiveSites(const std::string& file, const format::FileHeader& header, size_t heaviest) {
  std::vector<LiveSite> sites;
  for (const format::Stream stream : format::kAllStreams) {
    if (header.MaxTracked(stream) > 0) SearchStream(file, stream, heaviest, &sites);
  }
  const auto amount = [](const LiveSite& site) {
    return site.leak ? site.leak->per_second.value : AmountOf(site.bytes);
  };
  std::ranges::stable_sort(sites, [&](const LiveSite& a, const LiveSite& b) {
    return a.leak.has_value() != b.leak.has_value() ? a.leak.has_value() : amount(a) > amount(b);
  });
  return sites;
}

std::vector<LivePart> SearchLiveAt(const std::string& file, const format::FileHeader& header, uint64_t at_ns,
                                   size_t heaviest) {
  std::vector<LivePart> parts;
  // If no death shows that references were checked, what has survived is not known, but what is tracked.
  for (const std::optional<uint64_t> grown : {std::optional<uint64_t>(), std::optional<uint64_t>(1)}) {
    if (header.max_tracked_objects == 0 || !parts.empty()) break;
    FileScan scan(file);
    LiveQuery question;
    question.by = {Grouping(By::kSite)};
    question.at = TimePoint{TimePoint::Origin::kStart, static_cast<int64_t>(at_ns), {}};
    question.grown = grown;
    ByClassAndSite live(std::move(question), scan.tree());
    if (!scan.Run(&live)) break;
    const LiveTable& table = live.result().tables.front();
    for (const LiveTable::Row& row : table.rows) {
      if (row.group.alive.empty()) continue;
      const LiveEstimates estimates = live.result().EstimateGroup(row.group.alive).estimates;
      if (IsUnknown(estimates.bytes)) continue;
      parts.push_back({table.grouping.NameOf(row.key, *scan.tree()), estimates.bytes, estimates.share});
    }
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), [](const LivePart& part) { return AmountOf(part.bytes); });
  parts.resize(std::min(parts.size(), heaviest));
  return parts;
}

std::vector<FoundLeak> SearchLeaks(const std::string& file, const format::FileHeader& header) {
  std::vector<FoundLeak> leaks;
  for (const LiveSite& site : SearchLiveSites(file, header, 0)) leaks.push_back(*site.leak);
  return leaks;
}

}  // namespace heaprec::tools
