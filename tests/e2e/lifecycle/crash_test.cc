// kill -9 at any moment: what was committed is there, names included, and a new recording never takes its place.
//
// The witness is the program itself: it notes each object in a shared mapping after the allocation has returned. At the
// rates used here an object is kept with 1 - exp(-lambda size), lambda size > 20: a witnessed object is missing by
// chance with probability < 1e-8, in all of the test < 1e-5 x 1e-3; anything missing is a loss. On a machine that gives
// the drain no time a ring may be full: each such loss must have been counted.
//
// HEAPREC_JVM_KILLS=300: how many of these JVMs are killed.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr uint64_t kSeed = 20240917;
constexpr int kAtOnce = 2;

int Kills() {
  const char* const value = getenv("HEAPREC_JVM_KILLS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? atoi(value) : 16;
}

std::vector<uint32_t> WitnessedIn(const std::string& path) {
  const std::string bytes = ReadFile(path);
  std::vector<uint32_t> sizes;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data() + at, 4);
    size = __builtin_bswap32(size);  // Java writes big-endian
    if (size != 0) sizes.push_back(size);
  }
  return sizes;
}

struct Victim {
  std::string folder;
  Process process;
  useconds_t wait_us;
};

Victim Start(const std::string& main, const std::vector<std::string>& args, const std::string& rate,
             useconds_t wait_us) {
  const std::string folder = FreshFolder();
  // Of regions of 1 MiB: the witnessed objects then fit into no TLAB. JDK 25 chooses larger ones.
  Java java{.flags = {"-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m"}, .main = main, .args = args};
  java.agent_options = "file=" + folder + "/rec.bin,rate=" + rate;
  Command command = CommandOf(java);
  command.folder = folder;
  return {folder, Process(command), wait_us};
}

// Waits until both are at work, and kills each at its moment.
void KillAll(std::vector<Victim>& victims) {
  for (Victim& victim : victims) REQUIRE(victim.process.WaitForOutput("running"));
  std::vector<const Victim*> in_order;
  in_order.reserve(victims.size());
  for (const Victim& victim : victims) in_order.push_back(&victim);
  std::sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->wait_us < b->wait_us; });
  useconds_t waited = 0;
  for (const Victim* victim : in_order) {
    usleep(victim->wait_us - waited);
    waited = victim->wait_us;
    victim->process.Kill(SIGKILL);
  }
  for (Victim& victim : victims) REQUIRE(victim.process.Finish().signal == SIGKILL);
}

uint64_t LostForRoom(const Rows& rows) { return rows.Lost("ring_full") + rows.Lost("lanes_busy"); }

// Nothing is torn, nameless or unaccounted for, but what each thread had under way (docs/format/recording.md#counters)
// and points in objects for which the JVM posts no event. A short recording need not be trustworthy: one of those may
// be 0.1 % of it.
void RequireWhole(const Rows& rows, uint64_t threads) {
  INFO(rows.reasons());
  CHECK(rows.summary["ended"] == "cut off");
  const auto& counters = rows.summary["losses"];
  const auto& salvage = counters["salvage"];
  CHECK(salvage["ring_found"] == true);
  CHECK(salvage["errors"].empty());
  CHECK(salvage["invalid"] == 0);
  CHECK(salvage["unnamed"] == 0);
  for (const char* reason : {"oversized", "write_failed"}) CHECK(rows.Lost(reason) == 0);
  const uint64_t points = counters["points"];
  const uint64_t committed = counters["committed"];
  const uint64_t known = committed + counters["thinned"].get<uint64_t>() + rows.Lost("missed") + LostForRoom(rows);
  const uint64_t accounted = counters["written"].get<uint64_t>() + counters["second_stage"].get<uint64_t>();
  CHECK(std::max(points, known) - std::min(points, known) <= threads);
  CHECK(std::max(committed, accounted) - std::min(committed, accounted) <= threads);
  CHECK(counters["written"] == rows.rows.size());
}

void RequireWitnessed(const Victim& victim, size_t* witnessed) {
  const Rows rows = ReadRows(victim.folder + "/rec.bin");
  RequireWhole(rows, 3);
  std::map<uint64_t, const Row*> by_size;
  for (const Row& row : rows.rows) by_size[row.size] = &row;
  uint64_t missing = 0;
  for (const uint32_t size : WitnessedIn(victim.folder + "/witness")) {
    const auto found = by_size.find(size);
    if (found == by_size.end()) {
      ++missing;
      continue;
    }
    ++*witnessed;
    INFO("size " << size);
    const Row& row = *found->second;
    CHECK(row.class_name == "byte[]");
    CHECK(row.kind == "outside");
    CHECK(row.probability > 1 - 1e-8);
    CHECK(row.thread == "witness-" + std::to_string((size - (1 << 20)) / 8 % 2));
    CHECK(row.stack.find("e2e.Witness$Worker.run:") == 0);
    CHECK(row.stack.find(";e2e.Witness$Worker.allocate:") != std::string::npos);
  }
  CHECK(missing <= LostForRoom(rows));
}

}  // namespace

TEST_CASE("After kill -9 every witnessed object is in the recording, with class, stack and thread") {
  std::mt19937_64 random(kSeed);
  const int kills = Kills();
  size_t witnessed = 0;
  for (int killed = 0; killed < kills; killed += kAtOnce) {
    std::vector<Victim> victims;
    victims.reserve(kAtOnce);
    for (int i = 0; i < kAtOnce; ++i) {
      victims.push_back(Start("e2e.Witness", {"witness", "2", "100"}, "20000",
                              std::uniform_int_distribution<useconds_t>(50'000, 1'800'000)(random)));
    }
    KillAll(victims);
    for (const Victim& victim : victims) {
      RequireWitnessed(victim, &witnessed);
      RemoveRingsOf(victim.process.pid());
    }
  }
  INFO(witnessed << " witnessed in " << kills << " JVMs");
  CHECK(witnessed > 30 * static_cast<size_t>(kills));
}

TEST_CASE("After kill -9 under heavy load the recording is readable and its counters add up") {
  std::mt19937_64 random(kSeed + 1);
  for (int round = 0; round < 3; ++round) {
    std::vector<Victim> victims;
    victims.reserve(kAtOnce);
    for (int i = 0; i < kAtOnce; ++i) {
      victims.push_back(Start("e2e.Load", {"8", "20000", "0"}, "3000",
                              std::uniform_int_distribution<useconds_t>(50'000, 1'500'000)(random)));
    }
    KillAll(victims);
    for (const Victim& victim : victims) {
      const Rows rows = ReadRows(victim.folder + "/rec.bin");
      RequireWhole(rows, 9);
      CHECK(!rows.rows.empty());
      size_t without_stack = 0;
      for (const Row& row : rows.rows) {
        CHECK(!row.class_name.empty());
        CHECK(!row.thread.empty());
        without_stack += row.stack.empty() ? 1 : 0;
      }
      // The JVM itself allocates on threads without a Java frame, as they start: counted, once each is committed.
      CHECK(without_stack <= rows.summary["losses"]["stacks"]["none"].get<uint64_t>() + 9);
      RemoveRingsOf(victim.process.pid());
    }
  }
}

TEST_CASE(
    "In a crash loop no recording loses what only its ring holds: each next agent moves the ring beside the file") {
  constexpr int kCrashes = 6;  // without the copies four rings would be left
  struct Crash {
    std::string file;
    pid_t pid;
    nlohmann::json counters;
  };
  std::vector<Crash> crashes;
  for (int i = 0; i < kCrashes; ++i) {
    std::vector<Victim> victim;
    victim.push_back(Start("e2e.Load", {"2", "20000", "0"}, "3000", 150'000));
    KillAll(victim);
    const std::string file = victim[0].folder + "/rec.bin";
    const Rows rows = ReadRows(file);
    RequireWhole(rows, 3);
    CHECK(!rows.rows.empty());
    crashes.push_back({file, victim[0].process.pid(), rows.summary["losses"]});
  }
  Process next(
      CommandOf({.main = "e2e.Ends", .args = {"wait"}, .agent_options = "file=" + FreshFolder() + "/rec.bin"}));
  for (const Crash& crash : crashes) {
    INFO(crash.file);
    for (int polls = 0; polls < 600 && !RingsOf(crash.pid).empty(); ++polls) usleep(100'000);
    CHECK(RingsOf(crash.pid).empty());
    const Rows rows = ReadRows(crash.file);
    RequireWhole(rows, 3);
    CHECK(rows.summary["losses"] == crash.counters);
  }
  next.Kill(SIGKILL);
  CHECK(next.Finish().signal == SIGKILL);
  RemoveRingsOf(next.pid());
}

TEST_CASE("An existing recording is kept: after a crash and restart there are both") {
  const std::string folder = FreshFolder();
  const std::string options = "file=" + folder + "/rec.bin,rate=150";
  {
    Process killed(CommandOf({.main = "e2e.Load", .args = {"2", "20000", "0"}, .agent_options = options}));
    REQUIRE(killed.WaitForOutput("running"));
    usleep(400'000);
    killed.Kill(SIGKILL);
    CHECK(killed.Finish().signal == SIGKILL);
    for (const char* name : {"/rec-1.bin", "/rec-2.bin"}) {
      INFO(name);
      CHECK(Run(Java{.main = "e2e.Load", .args = {"2", "200", "0"}, .agent_options = options}).exit_code == 0);
      CHECK(FileExists(folder + name));
    }
    const Rows crash = ReadRows(folder + "/rec.bin");
    INFO(crash.reasons());
    CHECK(crash.summary["recording"]["pid"] == killed.pid());
    RequireWhole(crash, 3);
    CHECK(!crash.rows.empty());
    RemoveRingsOf(killed.pid());
  }
  CHECK(ReadRows(folder + "/rec-1.bin").trustworthy());
  CHECK(ReadRows(folder + "/rec-2.bin").trustworthy());
}

TEST_CASE("A JVM that exits because its heap is full leaves a readable recording") {
  const std::string folder = FreshFolder();
  Process process(CommandOf({.flags = {"-XX:+ExitOnOutOfMemoryError", "-Xmx32m"},
                             .main = "e2e.Exhaust",
                             .agent_options = "file=" + folder + "/rec.bin,rate=150"}));
  const pid_t pid = process.pid();
  CHECK(process.Finish().exit_code == 3);
  const Rows rows = ReadRows(folder + "/rec.bin");
  RequireWhole(rows, 2);
  CHECK(!rows.rows.empty());
  RemoveRingsOf(pid);
}

}  // namespace heaprec::testing
