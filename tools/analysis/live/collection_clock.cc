#include "tools/analysis/live/collection_clock.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

// The recorder checks for dead objects every 100 to 150 ms at most, so deaths found by one major collection are closer
// together.
constexpr uint64_t kBetweenMajorsNs = 250'000'000;
// Generational ZGC: mark start, mark end, relocate start; the old generation has the last two.
constexpr uint64_t kYoungPauses = 3, kOldPauses = 2;
// Causes for which ZGC promotes all young objects before a major collection: should_preclean_young (zDriver.cpp).
constexpr std::array<std::string_view, 5> kPromotingCauses{
    "System.gc()", "Diagnostic Command", "JvmtiEnv ForceGarbageCollection", "FullGCAlot", "WhiteBox Initiated Full GC"};
// The second pause of a cycle ends marking: from then on weak references to dead objects are null.
constexpr uint64_t kMarkingPauses = 2;

// Sorts by time and removes entries whose count does not increase.
void MakeMonotonic(std::vector<std::pair<uint64_t, uint64_t>>* counts) {
  std::sort(counts->begin(), counts->end());
  std::optional<uint64_t> most;
  std::erase_if(*counts, [&most](const auto& entry) {
    if (most && entry.second <= *most) return true;
    most = entry.second;
    return false;
  });
}

}  // namespace

// A concurrent collection has several pauses with the same count, and this may not be its first.
uint64_t CountedBefore(const format::ProcessState& first, bool is_concurrent) {
  const bool is_of_pause = first.kind != format::ProcessStateKind::kSnapshot && !is_concurrent;
  return first.collections - (is_of_pause && first.collections > 0 ? 1 : 0);
}

CollectionClock::CollectionClock(const format::FileHeader& header, format::Stream stream)
    : of_majors_(stream == format::Stream::kAllocations && header.Has(format::SourceFact::kKeepsYoungReferents)),
      is_concurrent_(format::IsConcurrent(header.gc_name)),
      keeps_old_garbage_(stream == format::Stream::kAllocations && !IsImported(header.source) &&
                         format::HasOldGeneration(header.gc_name)),
      needs_pause_(header.gc_name == "Shenandoah"),
      interval_ns_(header.CapOf(stream).interval_ns) {}

void CollectionClock::Add(const format::ProcessState& state) {
  if (!format::IsOfHeap(state.kind)) return;
  const bool is_end = state.kind == format::ProcessStateKind::kGcEnd;
  has_pause_ |= is_end;
  has_count_ |= state.collections > 0;
  if (of_majors_) {
    if (!is_end || state.collections == 0) return;
    const bool promotes_all = std::ranges::find(kPromotingCauses, state.cause) != kPromotingCauses.end();
    return pauses_of_majors_.push_back({state.time_ns, state.collections, promotes_all});
  }
  begun_.emplace_back(state.time_ns, state.collections);
  if (state.time_ns < earliest_ns_) {
    earliest_ns_ = state.time_ns;
    before_ = CountedBefore(state, is_concurrent_);
  }
  // When a collection begins, the JVM may not have counted it as one of the old generation yet.
  if (keeps_old_garbage_ && state.old_collections && state.kind != format::ProcessStateKind::kGcBegin)
    old_.emplace_back(state.time_ns, *state.old_collections);
  if (is_concurrent_ && is_end) pauses_.emplace_back(state.time_ns, state.collections);
}

// A death that was found after the end of an interval, but before the interval was closed, has the time of the end. The
// time at which it was found is then unknown.
void CollectionClock::AddDeath(uint64_t birth_ns, uint64_t died_ns) {
  if (!of_majors_ || (interval_ns_ > 0 && died_ns % interval_ns_ == 0)) return;
  deaths_.emplace_back(died_ns, birth_ns);
}

void CollectionClock::Close() {
  if (of_majors_) return CloseMajors();
  std::sort(pauses_.begin(), pauses_.end());
  if (needs_pause_) {
    for (const auto& [time_ns, counted] : pauses_) paused_.push_back(counted);
    std::sort(paused_.begin(), paused_.end());
    paused_.erase(std::unique(paused_.begin(), paused_.end()), paused_.end());
  }
  for (Counts* counts : {&begun_, &pauses_}) {
    for (auto& [time_ns, counted] : *counts) counted = FromStoredCount(counted);
  }
  before_ = FromStoredCount(before_);
  MakeMonotonic(&begun_);
  MakeMonotonic(&old_);
  if (!is_concurrent_) return;
  uint64_t count = 0, pauses = 0;
  for (const auto& [time_ns, counted] : pauses_) {
    pauses = counted == count ? pauses + 1 : 1;
    count = counted;
    if (pauses == kMarkingPauses) ended_.emplace_back(time_ns, count);
  }
  // A collection begins after the previous one has ended.
  for (const auto& [time_ns, counted] : begun_) {
    if (counted > 0) ended_.emplace_back(time_ns, counted - 1);
  }
  MakeMonotonic(&ended_);
}

// Pauses may be missing for the count at the start of the recording. Young collections continue during an old one: the
// pauses of the old one then have the counts of young ones, but the number of pauses is the same.
std::vector<CollectionClock::Major> CollectionClock::MajorsFromPauses() {
  std::ranges::sort(pauses_of_majors_, {}, [](const Pause& pause) { return std::pair(pause.time_ns, pause.count); });
  std::map<uint64_t, uint64_t> pauses;  // by count
  std::vector<Major> majors;
  uint64_t old_pauses = 0, promoting_since_ns = 0;
  for (const Pause& pause : pauses_of_majors_) {
    const uint64_t of_count = ++pauses[pause.count];
    if (of_count == 1 && pause.promotes_all && promoting_since_ns == 0) promoting_since_ns = pause.time_ns;
    if (of_count <= kYoungPauses || ++old_pauses % kOldPauses != 0) continue;
    majors.push_back({pause.time_ns, std::exchange(promoting_since_ns, 0)});
  }
  return majors;
}

// Objects that a major collection found dead were old by then, and so were all older objects, because objects are
// promoted in the order of their birth.
void CollectionClock::CloseMajors() {
  std::sort(deaths_.begin(), deaths_.end());
  const std::vector<Major> majors = MajorsFromPauses();
  if (majors.empty()) return CloseMajorsByDeaths();
  uint64_t known_to_ns = 0;
  auto death = deaths_.begin();
  for (size_t i = 0; i < majors.size(); ++i) {
    const uint64_t next_ns = i + 1 < majors.size() ? majors[i + 1].ended_ns : UINT64_MAX;
    uint64_t found_ns = std::min(majors[i].ended_ns + kBetweenMajorsNs, next_ns);
    for (; death != deaths_.end() && death->first < next_ns; ++death) {
      if (death->first < majors[i].ended_ns) continue;  // before the first major collection
      known_to_ns = std::max(known_to_ns, death->second);
      found_ns = std::max(found_ns, death->first);
    }
    known_to_ns = std::max(known_to_ns, majors[i].promoted_to_ns);
    known_to_.push_back(known_to_ns);
    begun_.emplace_back(found_ns, known_to_.size());
  }
  deaths_.clear();
}

// For a recording without pauses: only deaths show that there was a major collection.
void CollectionClock::CloseMajorsByDeaths() {
  uint64_t known_to_ns = 0;
  for (size_t i = 0; i < deaths_.size(); ++i) {
    known_to_ns = std::max(known_to_ns, deaths_[i].second);
    const bool is_last = i + 1 == deaths_.size() || deaths_[i + 1].first > deaths_[i].first + kBetweenMajorsNs;
    if (!is_last) continue;
    known_to_.push_back(known_to_ns);
    begun_.emplace_back(deaths_[i].first, known_to_.size());
  }
  deaths_.clear();
}

uint64_t CollectionClock::FromStoredCount(uint64_t count) const {
  if (!needs_pause_) return count;
  return static_cast<uint64_t>(std::upper_bound(paused_.begin(), paused_.end(), count) - paused_.begin());
}

uint64_t CollectionClock::CollectionsBegunBy(uint64_t birth_ns) const {
  if (!of_majors_) return CountAt(begun_, birth_ns, before_);
  const auto first = std::lower_bound(known_to_.begin(), known_to_.end(), birth_ns);
  return static_cast<uint64_t>(first - known_to_.begin());
}

uint64_t CollectionClock::CollectionsEndedBy(uint64_t time_ns) const {
  const bool is_later = is_concurrent_ && !of_majors_;
  return CountAt(is_later ? ended_ : begun_, time_ns, is_later ? 0 : before_);
}

uint64_t CollectionClock::OldCollectionsBy(uint64_t time_ns) const {
  return CountAt(old_, time_ns, old_.empty() ? 0 : old_.front().second);
}

uint64_t CollectionClock::CountAt(const Counts& counts, uint64_t time_ns, uint64_t before) {
  const auto after = std::upper_bound(counts.begin(), counts.end(), time_ns,
                                      [](uint64_t time, const auto& look) { return time < look.first; });
  return after == counts.begin() ? before : std::prev(after)->second;
}

}  // namespace heaprec::tools
