// Which collections a recording of generational ZGC shows, from the JVM's pauses and from what was found dead.
#include "tools/analysis/live/collection_clock.h"

#include <catch2/catch.hpp>
#include <string>
#include <tuple>

namespace heaprec::tools {
namespace {

constexpr uint64_t kMs = 1'000'000;

format::FileHeader GenerationalZ() {
  format::FileHeader header;
  header.gc_name = "Z";
  header.Note(format::SourceFact::kKeepsYoungReferents);
  return header;
}

void AddPauses(CollectionClock* clock, uint64_t count, int pauses, uint64_t from_ms, const std::string& cause) {
  for (int i = 0; i < pauses; ++i) {
    format::ProcessState state;
    state.kind = format::ProcessStateKind::kGcEnd;
    state.time_ns = (from_ms + static_cast<uint64_t>(i)) * kMs;
    state.collections = count;
    state.cause = cause;
    clock->Add(state);
  }
}

TEST_CASE("A requested major collection shows what is live, even if nothing died") {
  CollectionClock clock(GenerationalZ(), format::Stream::kAllocations);
  AddPauses(&clock, 1, 3, 1000, "Allocation Rate");
  AddPauses(&clock, 2, 3, 2000, "System.gc()");  // promotes all
  AddPauses(&clock, 3, 5, 2010, "System.gc()");
  clock.Close();
  REQUIRE(clock.counts().size() == 1);
  CHECK(clock.CollectionsEndedBy(1500 * kMs) == 0);
  CHECK(clock.CollectionsEndedBy(2014 * kMs) == 0);  // the recorder has not yet looked
  CHECK(clock.CollectionsEndedBy(3000 * kMs) == 1);
  CHECK(clock.CollectionsBegunBy(1999 * kMs) == 0);
  CHECK(clock.CollectionsBegunBy(2001 * kMs) == 1);
}

TEST_CASE("Other major collections show what is older than the youngest object that they found dead") {
  CollectionClock clock(GenerationalZ(), format::Stream::kAllocations);
  AddPauses(&clock, 1, 5, 1000, "Timer");
  AddPauses(&clock, 2, 3, 1500, "Allocation Rate");
  AddPauses(&clock, 3, 5, 2000, "Timer");
  clock.AddDeath(700 * kMs, 2100 * kMs);
  clock.AddDeath(300 * kMs, 2120 * kMs);
  clock.Close();
  REQUIRE(clock.counts().size() == 2);
  CHECK(clock.CollectionsBegunBy(699 * kMs) == 1);  // of the first nothing is known
  CHECK(clock.CollectionsBegunBy(701 * kMs) == 2);
  CHECK(clock.CollectionsEndedBy(2500 * kMs) == 2);
}

TEST_CASE("Young collections during an old one are no major collection") {
  CollectionClock clock(GenerationalZ(), format::Stream::kAllocations);
  AddPauses(&clock, 1, 3, 1000, "Timer");
  AddPauses(&clock, 2, 2, 1010, "Allocation Rate");  // while the old generation is marked
  AddPauses(&clock, 2, 2, 1020, "Timer");
  AddPauses(&clock, 3, 4, 1030, "Allocation Rate");
  clock.Close();
  CHECK(clock.counts().size() == 1);
}

TEST_CASE("Without recorded pauses only deaths show major collections") {
  CollectionClock clock(GenerationalZ(), format::Stream::kAllocations);
  clock.AddDeath(100 * kMs, 1000 * kMs);
  clock.AddDeath(200 * kMs, 1100 * kMs);
  clock.AddDeath(300 * kMs, 5000 * kMs);
  clock.Close();
  CHECK(clock.counts().size() == 2);
}

TEST_CASE("Collections of the old generation are counted separately, each when it ends") {
  format::FileHeader header;
  header.gc_name = "Serial";
  CollectionClock clock(header, format::Stream::kAllocations);
  const auto add = [&clock](uint64_t ms, format::ProcessStateKind kind, uint64_t count, uint64_t old_count) {
    format::ProcessState state;
    state.kind = kind;
    state.time_ns = ms * kMs;
    state.collections = count;
    state.old_collections = old_count;
    clock.Add(state);
  };
  CHECK(clock.old_counts().empty());
  add(1000, format::ProcessStateKind::kGcEnd, 10, 2);
  add(2000, format::ProcessStateKind::kGcBegin, 11, 3);  // counted early
  add(2010, format::ProcessStateKind::kGcEnd, 11, 3);
  add(3000, format::ProcessStateKind::kGcEnd, 12, 3);
  add(4000, format::ProcessStateKind::kGcEnd, 13, 4);
  clock.Close();
  CHECK(clock.old_counts().size() == 3);
  CHECK(clock.OldCollectionsBy(500 * kMs) == 2);
  CHECK(clock.OldCollectionsBy(2005 * kMs) == 2);
  CHECK(clock.OldCollectionsBy(2010 * kMs) == 3);
  CHECK(clock.OldCollectionsBy(3999 * kMs) == 3);
  CHECK(clock.OldCollectionsBy(5000 * kMs) == 4);
  CHECK(clock.CollectionsEndedBy(5000 * kMs) == 13);
}

TEST_CASE("An object born before the first state has not survived the collections counted by then") {
  for (const auto& [collector, kind, before] : {std::tuple("G1", format::ProcessStateKind::kSnapshot, 150u),
                                                {"G1", format::ProcessStateKind::kGcBegin, 149u},
                                                {"Shenandoah", format::ProcessStateKind::kSnapshot, 0u},
                                                {"Z", format::ProcessStateKind::kGcBegin, 150u}}) {
    INFO(collector << ", state " << static_cast<int>(kind));
    format::FileHeader header;
    header.gc_name = collector;
    CollectionClock clock(header, format::Stream::kAllocations);
    format::ProcessState state;
    state.kind = kind;
    state.time_ns = 1000 * kMs;
    state.collections = 150;
    clock.Add(state);
    clock.Close();
    CHECK(clock.CollectionsBegunBy(500 * kMs) == before);
    CHECK(clock.CollectionsEndedBy(500 * kMs) == (collector == std::string("G1") ? before : 0));
  }
}

}  // namespace
}  // namespace heaprec::tools
