// Who is alive when, and what that stands for: small sequences with known answers, then many simulated processes.
//
// The simulation: 200 processes of 60 s with four sites (garbage, a leak, a cache that turns over, a few large arrays),
// drawn at 8 kB a sample on average, of which 200 are tracked at a time. The limits are five standard deviations of
// what they limit away, or more; the seeds are fixed, and another would fail with less than 1e-6.
#include "tools/analysis/live/lifetimes.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <tuple>

#include "tests/tools/analysis/simulated_lives.h"
#include "tools/analysis/live/collection_clock.h"
#include "tools/analysis/live/growth.h"
#include "tools/analysis/live/live_sum.h"

namespace heaprec::tools {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;
using testing::kSecondNs;
using testing::SimulatedProcess;
using testing::SimulatedRun;
using testing::SimulatedTracker;

format::Sample Born(uint64_t id, uint64_t time_ns, double weight = 1000, uint64_t size = 100) {
  format::Sample sample{.id = id, .time_ns = time_ns};
  sample.size = size;
  sample.weight = weight;
  return sample;
}

format::ProcessState Collection(uint64_t time_ns, uint64_t completed) {
  format::ProcessState state;
  state.time_ns = time_ns;
  state.collections = completed;
  return state;
}

double BytesAt(const Lifetimes& lives, uint64_t time_ns) {
  double bytes = 0;
  for (const Lifetime& life : lives.all()) {
    if (life.IsTrackedAt(time_ns)) bytes += lives.WeightAt(life, time_ns);
  }
  return bytes;
}

constexpr uint32_t kOne[] = {0, 0, 0, 0};

TEST_CASE("If some samples of an interval have no entry, its others carry their weight") {
  format::FileHeader header;
  header.interval_ns = 1000;
  Lifetimes lives(header);
  format::Block block;
  block.samples = {Born(1, 10, 1000), Born(2, 20, 3000), Born(3, 30, 2000), Born(4, 1010, 500)};
  block.lifecycle_events = {{3, 1000, LifecycleKind::kUntracked, 0, 0}};
  block.end_ns = 2000;
  lives.Add(block, std::span(kOne, 4), {});
  lives.Close(2000);
  CHECK(BytesAt(lives, 900) == Approx(6000));
  CHECK(BytesAt(lives, 1500) == Approx(6500));
  CHECK(lives.untracked() == 1);
}

TEST_CASE("A lifetime is from birth to the check that finds the object dead, or to the end of the recording") {
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  block.samples = {Born(1, 10), Born(2, 20)};
  block.lifecycle_events = {{1, 50, LifecycleKind::kDied, 2, 0}};
  block.states = {Collection(5, 1), Collection(30, 2), Collection(49, 3)};
  block.end_ns = 60;
  block.ending = {60, "jvm exit"};
  lives.Add(block, std::span(kOne, 2), {});
  lives.Close(60);
  CHECK(BytesAt(lives, 9) == 0);
  CHECK(BytesAt(lives, 10) == 1000);
  CHECK(BytesAt(lives, 49) == 2000);
  CHECK(BytesAt(lives, 50) == 1000);
  CHECK(BytesAt(lives, 60) == 1000);
  CHECK(lives.all()[0].Survived() == 1);  // the collection at 30; that at 49 found it dead
  CHECK(lives.all()[1].Survived() == 2);
  // When the collection at 49 has begun, the object is not known to be dead, but has not survived it.
  CHECK(lives.SurvivedBy(lives.all()[0], 49) == 1);
  CHECK(lives.SurvivedBy(lives.all()[1], 49) == 2);
  CHECK(lives.clock().CollectionsBegunBy(4) == 1);  // when it began is unknown
  CHECK(lives.clock().CollectionsBegunBy(48) == 2);
}

format::ProcessState Pause(uint64_t time_ns, uint64_t counted) {
  format::ProcessState state = Collection(time_ns, counted);
  state.kind = format::ProcessStateKind::kGcEnd;
  return state;
}

TEST_CASE("A concurrent collection is survived at its second pause, or when the next one begins") {
  format::FileHeader header;
  header.gc_name = "Z";
  Lifetimes lives(header);
  format::Block block;
  block.samples = {Born(1, 10)};
  block.states = {Collection(5, 1), Pause(20, 2), Pause(30, 2), Pause(31, 2), Pause(50, 3), Pause(70, 4), Pause(75, 4)};
  block.end_ns = 80;
  block.ending = {80, "jvm exit"};
  lives.Add(block, std::span(kOne, 1), {});
  lives.Close(80);
  const Lifetime& life = lives.all()[0];
  CHECK(lives.SurvivedBy(life, 29) == 0);
  CHECK(lives.SurvivedBy(life, 30) == 1);
  CHECK(lives.SurvivedBy(life, 69) == 1);  // of the third one pause is missing
  CHECK(lives.SurvivedBy(life, 70) == 2);
  CHECK(lives.SurvivedBy(life, 80) == 3);
}

// Collections at 0.5, 1 and 1.5 s; checks found deaths at 560 and 1,060 ms.
Lifetimes CutAt(uint64_t end_ms, const std::string& reason, bool has_death = true) {
  constexpr uint64_t kMs = 1'000'000;
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  block.samples = {Born(1, 10 * kMs), Born(2, 20 * kMs), Born(3, 1'010 * kMs), Born(4, 1'020 * kMs)};
  block.states = {Collection(5 * kMs, 1), Collection(500 * kMs, 2), Collection(1'000 * kMs, 3),
                  Collection(1'500 * kMs, 4)};
  if (has_death) {
    block.lifecycle_events = {{9, 560 * kMs, LifecycleKind::kDied, 1, 0}, {1, 1'060 * kMs, LifecycleKind::kDied, 2, 0}};
  }
  block.end_ns = end_ms * kMs;
  if (!reason.empty()) block.ending = {end_ms * kMs, reason};
  lives.Add(block, std::span(kOne, 4), {});
  lives.Close(end_ms * kMs);
  return lives;
}

TEST_CASE("In an unfinished file, collections after the last check do not count as survived") {
  constexpr uint64_t kEnd = 1'520'000'000;
  for (const char* const reason : {"", "rotated", "dump", "trim", "recovered"}) {
    INFO(reason);
    const Lifetimes lives = CutAt(1'520, reason);
    CHECK(lives.SurvivedBy(lives.all()[1], kEnd) == 2);
    CHECK(lives.all()[1].Survived() == 2);
    CHECK(lives.SurvivedBy(lives.all()[2], kEnd) == 0);  // the collection at 1.5 s may have found it dead
    CHECK(lives.SurvivedBy(lives.all()[1], 900'000'000) == 1);
    CHECK(lives.knows_survivors());
    CHECK(lives.checked_ns() == 1'060'000'000);
  }
  // The check at 1,060 ms may not be over: what it found later is not in the file.
  const Lifetimes cut = CutAt(1'070, "");
  CHECK(cut.checked_ns() == 560'000'000);
  CHECK(cut.SurvivedBy(cut.all()[1], 1'070'000'000) == 1);
  // At its end the recorder has checked once more.
  for (const char* const reason : {"jvm exit", "stop", "duration"}) {
    const Lifetimes whole = CutAt(1'520, reason);
    CHECK(whole.SurvivedBy(whole.all()[1], kEnd) == 3);
    CHECK(whole.SurvivedBy(whole.all()[2], kEnd) == 1);
  }
}

TEST_CASE("If no death shows a check, survived collections are unknown") {
  const Lifetimes lives = CutAt(1'520, "", false);
  CHECK_FALSE(lives.knows_survivors());
  CHECK(lives.knows_collections());
  CHECK(CollectionInstants(lives, 0, lives.end_ns(), 1).empty());
  CHECK(CutAt(1'520, "jvm exit", false).knows_survivors());
  // Without a collection nothing can have survived one.
  Lifetimes young(format::FileHeader{});
  format::Block block;
  block.samples = {Born(1, 10)};
  block.states = {Collection(5, 1)};
  block.end_ns = 60;
  young.Add(block, std::span(kOne, 1), {});
  young.Close(60);
  CHECK(young.knows_survivors());
  CHECK(young.all()[0].Survived() == 0);
}

TEST_CASE("Numbers of generational Shenandoah without a pause are no collections") {
  format::FileHeader header;
  header.gc_name = "Shenandoah";
  Lifetimes lives(header);
  format::Block block;
  block.samples = {Born(1, 10), Born(2, 10)};
  block.states = {Collection(5, 1),  Pause(20, 2), Pause(30, 2), Collection(35, 3),
                  Collection(40, 4), Pause(50, 5), Pause(60, 5)};
  block.lifecycle_events = {{1, 55, LifecycleKind::kDied, 4, 0}};
  block.end_ns = 80;
  block.ending = {80, "jvm exit"};
  lives.Add(block, std::span(kOne, 2), {});
  lives.Close(80);
  CHECK(lives.all()[0].Survived() == 1);
  CHECK(lives.SurvivedBy(lives.all()[1], 45) == 1);
  CHECK(lives.SurvivedBy(lives.all()[1], 80) == 2);
}

TEST_CASE("If only major collections find dead objects, the deaths show what has survived one") {
  format::FileHeader header;
  header.interval_ns = 1'000'000'000;
  header.gc_name = "Z";
  header.Note(format::SourceFact::kKeepsYoungReferents);
  Lifetimes lives(header);
  constexpr uint64_t kMs = 1'000'000;
  format::Block block;
  block.samples = {Born(1, 100 * kMs), Born(2, 200 * kMs), Born(3, 300 * kMs), Born(4, 2'500 * kMs)};
  // A time that is an end of an interval tells nothing.
  block.lifecycle_events = {{2, 1'500 * kMs, LifecycleKind::kDied, 7, 0}, {4, 3'000 * kMs, LifecycleKind::kDied, 9, 0}};
  block.states = {Pause(400 * kMs, 3), Pause(900 * kMs, 4)};
  block.end_ns = 4'000 * kMs;
  lives.Add(block, std::span(kOne, 4), {});
  lives.Close(4'000 * kMs);
  CHECK(lives.is_range());
  CHECK(lives.SurvivedBy(lives.all()[0], 1'499 * kMs) == 0);
  CHECK(lives.SurvivedBy(lives.all()[0], 1'500 * kMs) == 1);
  CHECK(lives.all()[1].Survived() == 0);
  CHECK(lives.SurvivedBy(lives.all()[2], 4'000 * kMs) == 0);  // younger than what was found dead
  CHECK(lives.clock().counts().size() == 1);
}

TEST_CASE("The weight of a released sample moves only to those that competed with it") {
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  block.samples = {Born(1, 10), Born(2, 20), Born(3, 30, 7000), Born(4, 100)};
  block.lifecycle_events = {{1, 50, LifecycleKind::kEvicted, 0, 4000}, {9, 70, LifecycleKind::kEvicted, 0, 3000}};
  block.end_ns = 200;
  lives.Add(block, std::span(kOne, 4), {});
  lives.Close(200);
  CHECK(BytesAt(lives, 49) == 9000);
  CHECK(BytesAt(lives, 50) == 4000 + 7000);  // the heavy one stood for more already
  CHECK(BytesAt(lives, 99) == 4000 + 7000);  // a lower threshold later changes nothing
  CHECK(BytesAt(lives, 100) == 4000 + 7000 + 1000);
  CHECK(lives.untracked() == 0);
}

TEST_CASE("A shrunk sample has that part of its weight and threshold, and the rest has died") {
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  block.samples = {Born(1, 10, 1000, 100), Born(2, 20)};
  const auto shrunk = [](uint64_t time_ns, uint64_t left) {
    LifecycleEvent lifecycle{1, time_ns, LifecycleKind::kShrunk, 0, 0};
    lifecycle.left = left;
    return lifecycle;
  };
  block.lifecycle_events = {shrunk(30, 75), {9, 40, LifecycleKind::kEvicted, 0, 4000}, shrunk(50, 25), shrunk(60, 50)};
  block.lifecycle_events.push_back({1, 70, LifecycleKind::kDied, 0, 0});
  block.end_ns = 200;
  lives.Add(block, std::span(kOne, 2), {});
  lives.Close(200);
  CHECK(BytesAt(lives, 29) == 2000);
  CHECK(BytesAt(lives, 30) == 750 + 1000);
  CHECK(BytesAt(lives, 40) == 3000 + 4000);
  CHECK(BytesAt(lives, 50) == 1000 + 4000);
  CHECK(BytesAt(lives, 69) == 1000 + 4000);
  CHECK(BytesAt(lives, 70) == 4000);
}

TEST_CASE("A survivor that has shrunk counts with what is left of it") {
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  format::CheckpointSample checkpoint_sample;
  checkpoint_sample.sample = Born(1, 10, 1000, 100);
  checkpoint_sample.gone = 60;
  block.live_checkpoint = {checkpoint_sample};
  block.end_ns = 100;
  lives.Add(block, {}, std::span(kOne, 1));
  lives.Close(100);
  CHECK(BytesAt(lives, 100) == Approx(400));
  CHECK(lives.all()[0].size == 40);
}

TEST_CASE("Untracked samples are counted and omitted, and samples outside of the selection still compete") {
  Lifetimes lives(format::FileHeader{});
  format::Block block;
  block.samples = {Born(1, 10), Born(2, 20), Born(3, 30)};
  block.lifecycle_events = {{1, 10, LifecycleKind::kUntracked, 0, 0}, {2, 50, LifecycleKind::kEvicted, 0, 4000}};
  const uint32_t of[] = {0, Lifetimes::kLeftOut, 1};
  lives.Add(block, of, {});
  lives.Close(100);
  CHECK(lives.all().size() == 2);
  CHECK(lives.untracked() == 1);
  CHECK(lives.untracked_bytes() == 1000);
  CHECK(BytesAt(lives, 100) == 4000);
}

TEST_CASE(
    "If no sample of an interval is tracked, the next interval with some carries its weight, also in a later block") {
  format::FileHeader header;
  header.interval_ns = 100;
  Lifetimes lives(header);
  format::Block block;
  block.samples = {Born(1, 10), Born(2, 20), Born(3, 110), Born(4, 120)};
  block.lifecycle_events = {{3, 199, LifecycleKind::kUntracked, 0, 0}, {4, 199, LifecycleKind::kUntracked, 0, 0}};
  block.end_ns = 200;
  lives.Add(block, std::span(kOne, 4), {});
  format::Block next;
  next.samples = {Born(5, 210), Born(6, 220), Born(7, 310)};
  next.end_ns = 400;
  lives.Add(next, std::span(kOne, 3), {});
  lives.Close(400);
  CHECK(BytesAt(lives, 150) == 2000);
  CHECK(BytesAt(lives, 250) == 2000 + 4000);
  CHECK(BytesAt(lives, 350) == 2000 + 4000 + 1000);
  CHECK(lives.untracked_bytes() == 2000);
}

TEST_CASE("A later chunk alone shows what is live, with the threshold since birth") {
  format::FileHeader header;
  header.start.begin_ns = 1000;
  Lifetimes lives(header);
  format::Block block;
  block.live_checkpoint = {{Born(1, 10), 5000, 1}, {Born(2, 20), 0, 4}};
  block.states = {Collection(1100, 7)};
  block.lifecycle_events = {{2, 1200, LifecycleKind::kDied, 7, 0}};
  block.end_ns = 2000;
  block.ending = {2000, "jvm exit"};
  lives.Add(block, {}, std::span(kOne, 2));
  lives.Close(2000);
  CHECK(BytesAt(lives, 999) == 0);  // not in this file
  CHECK(BytesAt(lives, 1000) == 6000);
  CHECK(BytesAt(lives, 1200) == 5000);
  CHECK(lives.all()[0].Survived() == 6);
  CHECK(lives.all()[1].Survived() == 3);
}

TEST_CASE("A sample that is not among the survivors of a later chunk has an unknown fate, others are one lifetime") {
  Lifetimes lives(format::FileHeader{});
  format::Block first, second;
  first.samples = {Born(1, 10), Born(2, 20)};
  first.end_ns = 100;
  second.live_checkpoint = {{Born(2, 20), 3000, 0}};
  second.end_ns = 200;
  lives.Add(first, std::span(kOne, 2), {});
  CHECK(lives.Knows(1));
  lives.Add(second, {}, std::span(kOne, 1));
  lives.Close(200);
  REQUIRE(lives.all().size() == 2);
  CHECK(lives.all()[0].end == LifetimeEnd::kUnknown);
  CHECK(BytesAt(lives, 99) == 2000);
  CHECK(BytesAt(lives, 100) == 3000);  // the release that raised it is lost, too
}

// Constant lives, or of Exponential ones.
auto Lasting(double seconds) {
  return [seconds](throttle::Random*, double) { return seconds; };
}
auto TrustTopic(double seconds) {
  return [seconds](throttle::Random* random, double) { return seconds * random->Exponential(); };
}
constexpr double kForever = 1e9;

enum Site : uint32_t { kGarbage, kLeak, kCache, kArrays, kSites };

SimulatedProcess Process() {
  SimulatedProcess process;
  process.sites = {{1500, 320, TrustTopic(0.1)},
                   {150, 200, Lasting(kForever)},
                   {200, 300, TrustTopic(8)},
                   {2, 100'000, TrustTopic(5)}};
  return process;
}

std::vector<LiveSample> AliveOf(const Lifetimes& lives, uint32_t site, uint64_t time_ns) {
  std::vector<LiveSample> alive;
  for (const Lifetime& life : lives.all()) {
    if (life.subject != site || !life.IsTrackedAt(time_ns)) continue;
    alive.push_back({lives.WeightAt(life, time_ns), static_cast<double>(life.size),
                     static_cast<double>(time_ns - life.birth_ns) * 1e-9,
                     static_cast<double>(lives.clock().CollectionsBegunBy(time_ns) - life.gcs_at_birth)});
  }
  return alive;
}

// Of relative errors, and of intervals.
struct Outcome {
  double runs = 0, sum = 0, squares = 0, held = 0;
  void Add(double truth, const Estimate& estimate) {
    const double error = (estimate.value - truth) / truth;
    ++runs, sum += error, squares += error * error;
    held += estimate.low <= truth && truth <= estimate.high;
  }
  double mean() const { return sum / runs; }
  double sigma_of_mean() const { return std::sqrt(squares / runs - mean() * mean()) / std::sqrt(runs); }
  double coverage() const { return held / runs; }
};

double TrueSlope(const SimulatedRun& run, const Lifetimes& lives, uint32_t site, const std::vector<uint64_t>& instants,
                 uint64_t survived) {
  double mean = 0, along = 0, spread = 0;
  for (const uint64_t at : instants) mean += static_cast<double>(at) * 1e-9 / static_cast<double>(instants.size());
  for (const uint64_t at : instants) {
    const double off = static_cast<double>(at) * 1e-9 - mean;
    along += off * run.TrueBytes(site, at, lives.clock().CollectionsBegunBy(at), survived);
    spread += off * off;
  }
  return along / spread;
}

TEST_CASE("Live bytes are unbiased, and their intervals right, with a limited number of tracked samples") {
  Outcome bytes[kSites], total, slope[kSites];
  for (uint64_t run = 0; run < 200; ++run) {
    const SimulatedRun simulated = SimulatedTracker(Process(), 1000 + run).Run();
    REQUIRE(simulated.max_tracked == 200);
    const Lifetimes lives = simulated.Lifetimes();
    const uint64_t at = 47 * kSecondNs + 123'456'789;
    const Growth growth(CollectionInstants(lives, 20 * kSecondNs, 60 * kSecondNs, 1, 12), 1);
    LiveTotal all;
    double truth_of_all = 0;
    for (uint32_t site = 0; site < kSites; ++site) {
      for (const LiveSample& one : AliveOf(lives, site, at)) all.Add(one);
    }
    for (uint32_t site = 0; site < kSites; ++site) {
      const double truth = simulated.TrueBytes(site, at, lives.clock().CollectionsBegunBy(at));
      truth_of_all += truth;
      bytes[site].Add(truth, EstimateGroup(AliveOf(lives, site, at), all, all.Unit()).bytes);
      GrowthSum sum;
      for (const Lifetime& life : lives.all()) {
        if (life.subject == site) sum.Add(growth.Contribution(life, lives));
      }
      growth.Close(&sum);
      const double true_slope = TrueSlope(simulated, lives, site, growth.instants(), 1);
      slope[site].Add(true_slope, Growth::Of(sum).per_second);
    }
    total.Add(truth_of_all, TotalInterval(all.bytes, all.variance, all.Unit()));
  }
  for (uint32_t site = 0; site < kSites; ++site) {
    INFO("site " << site << ": off by " << bytes[site].mean() << " +- " << bytes[site].sigma_of_mean() << ", held "
                 << bytes[site].coverage() << "; slopes held " << slope[site].coverage());
    CHECK(std::abs(bytes[site].mean()) < 5.5 * bytes[site].sigma_of_mean() + 0.003);  // arrays are hardly ever missed
    CHECK(bytes[site].coverage() > 0.85);
    CHECK(slope[site].coverage() > 0.85);
  }
  INFO("total: off by " << total.mean() << " +- " << total.sigma_of_mean() << ", held " << total.coverage());
  CHECK(std::abs(total.mean()) < 5.5 * total.sigma_of_mean());
  CHECK(total.sigma_of_mean() < 0.02);
  CHECK(total.coverage() > 0.85);
  INFO("leak: " << slope[kLeak].mean() << " +- " << slope[kLeak].sigma_of_mean());
  CHECK(std::abs(slope[kLeak].mean()) < 5.5 * slope[kLeak].sigma_of_mean());
}

// Which collections a recording of generational ZGC shows, from the JVM's pauses and from what was found dead.

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
