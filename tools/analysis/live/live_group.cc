#include "tools/analysis/live/live_group.h"

#include <algorithm>

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
  if (moments.by_time) return EvenInstants(moments.from_ns, moments.to_ns);
  return InstantsOf(lives, moments.from_ns, moments.to_ns, moments.grown);
}

}  // namespace

LiveSnapshot::LiveSnapshot(const Lifetimes& lives, const LiveQueryTimes& moments)
    : lives_(lives),
      moments_(moments),
      growth_(InstantsIn(lives, moments), moments.grown),
      late_(LaterHalf(growth_.instants()), moments.grown),
      old_(moments.of_old ? OldInstantsOf(lives, moments.from_ns, moments.to_ns) : std::vector<uint64_t>(), 1,
           Growth::Collections::kOld),
      by_seconds_(AgeAxis::OfSeconds(moments.lifetimes ? lives.end_ns() : 0)),
      by_collections_(AgeAxis::OfCollections(moments.collections)) {}

void LiveSnapshot::Add(const Lifetime& life, std::span<LiveGroup* const> groups) {
  AddAlive(life, groups);
  AddCourse(life, groups);
  const GrowthPart growth = growth_.PartOf(life, lives_), late = late_.PartOf(life, lives_);
  const GrowthPart old = old_.PartOf(life, lives_);
  for (LiveGroup* group : groups) group->open.Add(growth), group->open_late.Add(late), group->open_old.Add(old);
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

// nullopt: not then, or not what is asked for.
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

void LiveSnapshot::AddCourse(const Lifetime& life, std::span<LiveGroup* const> groups) const {
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
  growth_.Close(&group->open);
  late_.Close(&group->open_late);
  old_.Close(&group->open_old);
  const auto add = [](GrowthSum* to, GrowthSum* of) {
    if (to->squares == 0 && to->bytes.empty()) {
      *to = std::move(*of);
    } else {
      *to += *of;
    }
  };
  add(&group->growth, &group->open);
  add(&group->late, &group->open_late);
  add(&group->old, &group->open_old);
  group->open = group->open_late = group->open_old = {};
}

std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate, bool of_old) {
  std::vector<Leak> leaks;
  std::vector<Difference> rows;
  for (const LiveGroup* group : groups) {
    Leak leak{Growth::Of(group->growth), Growth::Of(group->late), Growth::Of(group->old)};
    // A group without live bytes at the end has not leaked, however fast it grew.
    leak.p = group->alive.empty() ? 1 : std::max(leak.all.p, leak.late.p);
    Difference row;
    row.after = leak.all.per_second;
    row.least_p = std::max(leak.all.least_p, leak.late.least_p);
    if (of_old) {
      leak.p = std::max(leak.p, leak.old.p);
      row.least_p = std::max(row.least_p, leak.old.least_p);
    }
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
