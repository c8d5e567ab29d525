#include "tools/analysis/live/collection_clock.h"

#include <algorithm>
#include <optional>
#include <string>

namespace heaprec::tools {
namespace {

// The recorder looks for the dead every 100 to 150 ms at most: what one major collection found dead lies closer
// together.
constexpr uint64_t kBetweenMajorsNs = 250'000'000;
// The second pause of a cycle ends marking: from then on the weak references to the dead are null.
constexpr uint64_t kMarkingPauses = 2;

void KeepGrowing(std::vector<std::pair<uint64_t, uint64_t>>* counts) {
  std::sort(counts->begin(), counts->end());
  std::optional<uint64_t> most;
  std::erase_if(*counts, [&most](const auto& look) {
    if (most && look.second <= *most) return true;
    most = look.second;
    return false;
  });
}

}  // namespace

bool KeepsYoungReferents(const format::FileHeader& header) {
  return header.source_reason.find(format::kYoungReferents) != std::string::npos;
}

CollectionClock::CollectionClock(const format::FileHeader& header, format::Stream stream)
    : of_majors_(stream == format::Stream::kAllocations && KeepsYoungReferents(header)),
      is_concurrent_(header.gc_name == "Z" || header.gc_name == "Shenandoah"),
      needs_pause_(header.gc_name == "Shenandoah"),
      interval_ns_(header.CapOf(stream).interval_ns) {}

void CollectionClock::Add(const format::HeapState& state) {
  if (of_majors_ || state.kind == format::StateKind::kMemory) return;
  begun_.emplace_back(state.time_ns, state.collections);
  if (is_concurrent_ && state.kind == format::StateKind::kGcEnd) pauses_.emplace_back(state.time_ns, state.collections);
}

// A death that was found after the end of its object's interval, but before that was closed, has the time of the end:
// it does not say when it was found.
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
    for (auto& [time_ns, counted] : *counts) counted = OfRecorded(counted);
  }
  KeepGrowing(&begun_);
  if (!is_concurrent_) return;
  uint64_t count = 0, pauses = 0;
  for (const auto& [time_ns, counted] : pauses_) {
    pauses = counted == count ? pauses + 1 : 1;
    count = counted;
    if (pauses == kMarkingPauses) ended_.emplace_back(time_ns, count);
  }
  // One begins when the one before it has ended.
  for (const auto& [time_ns, counted] : begun_) {
    if (counted > 0) ended_.emplace_back(time_ns, counted - 1);
  }
  KeepGrowing(&ended_);
}

// What has died by a major collection was old by then, and so was all that is older: objects are promoted in the order
// of their birth.
void CollectionClock::CloseMajors() {
  std::sort(deaths_.begin(), deaths_.end());
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

uint64_t CollectionClock::OfRecorded(uint64_t count) const {
  if (!needs_pause_) return count;
  return static_cast<uint64_t>(std::upper_bound(paused_.begin(), paused_.end(), count) - paused_.begin());
}

uint64_t CollectionClock::BegunBy(uint64_t birth_ns) const {
  if (!of_majors_) return CountAt(begun_, birth_ns);
  const auto first = std::lower_bound(known_to_.begin(), known_to_.end(), birth_ns);
  return static_cast<uint64_t>(first - known_to_.begin());
}

uint64_t CollectionClock::EndedBy(uint64_t time_ns) const {
  return CountAt(is_concurrent_ && !of_majors_ ? ended_ : begun_, time_ns);
}

uint64_t CollectionClock::CountAt(const Counts& counts, uint64_t time_ns) {
  const auto after = std::upper_bound(counts.begin(), counts.end(), time_ns,
                                      [](uint64_t time, const auto& look) { return time < look.first; });
  return after == counts.begin() ? 0 : std::prev(after)->second;
}

}  // namespace heaprec::tools
