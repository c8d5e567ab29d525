#include "tools/analysis/live/live_group.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/estimate/difference.h"

namespace heaprec::tools {
namespace {

std::vector<uint64_t> LaterHalf(const std::vector<uint64_t>& instants) {
  if (instants.empty()) return {};
  const uint64_t middle = instants.front() + (instants.back() - instants.front()) / 2;
  std::vector<uint64_t> later;
  for (const uint64_t instant : instants) {
    if (instant >= middle) later.push_back(instant);
  }
  return later;
}

std::vector<uint64_t> InstantsIn(const Lifetimes& lives, const LiveQueryTimes& moments) {
  if (moments.by_time) return EvenlySpacedInstants(moments.from_ns, moments.to_ns);
  return CollectionInstants(lives, moments.from_ns, moments.to_ns, moments.grown);
}

PerSpan<Growth> GrowthIn(const Lifetimes& lives, const LiveQueryTimes& moments) {
  const std::vector<uint64_t> instants = InstantsIn(lives, moments);
  std::vector<uint64_t> old;
  if (moments.with_old_growth) old = OldCollectionInstants(lives, moments.from_ns, moments.to_ns);
  return {Growth(instants, moments.grown), Growth(LaterHalf(instants), moments.grown),
          Growth(std::move(old), 1, Growth::Collections::kOld)};
}

}  // namespace

LiveSnapshot::LiveSnapshot(const Lifetimes& lives, const LiveQueryTimes& moments)
    : lives_(lives),
      moments_(moments),
      growth_(GrowthIn(lives, moments)),
      by_seconds_(AgeAxis::InSeconds(moments.lifetimes ? lives.end_ns() : 0)),
      by_collections_(AgeAxis::InCollections(moments.collections)) {}

void LiveSnapshot::Add(const Lifetime& life, std::span<LiveGroup* const> groups) {
  AddAlive(life, groups);
  AddToSeries(life, groups);
  for (size_t span = 0; span < kGrowthSpans; ++span) {
    const GrowthContribution part = growth_[span].Contribution(life, lives_);
    for (LiveGroup* group : groups) group->open[span].Add(part);
  }
  if (!moments_.lifetimes || life.birth_ns < moments_.from_ns || life.birth_ns >= moments_.to_ns) return;
  const std::vector<AgeStep> seconds = by_seconds_.Of(life, lives_), collections = by_collections_.Of(life, lives_);
  for (LiveGroup* group : groups) {
    group->seconds.Add(seconds);
    group->collections.Add(collections);
    ++group->lives;
    group->died += life.end == LifetimeEnd::kDied ? 1 : 0;
    group->born += life.share * life.weight;
  }
}

// nullopt: it is not live at that time, or is not selected.
std::optional<LiveSample> LiveSnapshot::AliveAt(const Lifetime& life, uint64_t time_ns) const {
  if (!life.IsTrackedAt(time_ns) || time_ns - life.birth_ns < moments_.least_age_ns) return std::nullopt;
  const uint64_t survived = lives_.SurvivedBy(life, time_ns);
  if (survived < moments_.survived) return std::nullopt;
  return LiveSample{lives_.WeightAt(life, time_ns), static_cast<double>(life.size),
                    static_cast<double>(time_ns - life.birth_ns) * 1e-9, static_cast<double>(survived)};
}

void LiveSnapshot::AddAlive(const Lifetime& life, std::span<LiveGroup* const> groups) const {
  if (const auto alive = AliveAt(life, moments_.at_ns)) {
    for (LiveGroup* group : groups) group->alive.push_back(*alive);
  }
}

void LiveSnapshot::AddToSeries(const Lifetime& life, std::span<LiveGroup* const> groups) const {
  for (size_t i = 0; i < moments_.series.size(); ++i) {
    const auto alive = AliveAt(life, moments_.series[i]);
    if (!alive) continue;
    for (LiveGroup* group : groups) {
      group->series.resize(moments_.series.size());
      group->series[i].push_back(*alive);
    }
  }
}

void LiveSnapshot::Close(LiveGroup* group) const {
  for (size_t span = 0; span < kGrowthSpans; ++span) {
    GrowthSum &all = group->growth[span], &open = group->open[span];
    growth_[span].Close(&open);
    if (all.slope_square_sum == 0 && all.bytes.empty()) {
      all = std::move(open);
    } else {
      all += open;
    }
    open = {};
  }
}

std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate, bool with_old_growth) {
  std::vector<Leak> leaks;
  std::vector<Difference> rows;
  for (const LiveGroup* group : groups) {
    Leak leak;
    Difference row;
    // A group without live bytes at the end has no leak, however fast it grew.
    leak.p = group->alive.empty() ? 1 : 0;
    row.least_p = 0;
    for (size_t span = 0; span < kGrowthSpans; ++span) {
      const Slope& slope = leak.growth[span] = Growth::Of(group->growth[span]);
      if (span == kOldCollections && !with_old_growth) continue;
      leak.p = std::max(leak.p, slope.p);
      row.least_p = std::max(row.least_p, slope.least_p);
    }
    row.after = leak.growth[kWholeTime].per_second;
    row.p = leak.p;
    leaks.push_back(leak);
    rows.push_back(row);
  }
  Judge(&rows, rate);
  for (size_t i = 0; i < rows.size(); ++i) {
    leaks[i].q = rows[i].q;
    leaks[i].leaks = rows[i].verdict == Verdict::kNew || rows[i].verdict == Verdict::kMore;
  }
  return leaks;
}

}  // namespace heaprec::tools
