// Killed at any moment and at every named point, a recording has all that an independent witness saw committed.
//
// HEAPREC_KILLS=10000: how many at random moments; HEAPREC_KILL_SEED: others than the last time.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "tests/crash/killed_process.h"
#include "tests/crash/points.h"
#include "tests/crash/recovery_check.h"
#include "tests/support/files.h"

namespace heaprec::crash {
namespace {

constexpr uint64_t kMs = 1'000'000;

enum class Files { kOne, kBounded, kRotated };

Plan RandomPlan(std::mt19937_64& random) {
  const auto among = [&](uint64_t least, uint64_t most) {
    return std::uniform_int_distribution<uint64_t>(least, most)(random);
  };
  Plan plan;
  plan.folder = testing::MakeFolder(testing::kSharedMemory);
  plan.seed = random();
  plan.threads = static_cast<uint32_t>(among(1, 6));
  plan.lanes = static_cast<uint32_t>(among(1, 8));
  plan.lane_bytes = uint32_t{8} << 10 << among(0, 3);
  plan.interval_ns = among(1, 6) * kMs;
  plan.block_ns = among(0, 3) * plan.interval_ns;
  plan.pause_ns = among(0, 60) * 1000;
  if (among(0, 3) == 0) plan.cap = static_cast<uint32_t>(among(5, 40));
  if (among(0, 1) == 0) plan.sync = {.every_ns = among(0, 4) * kMs};
  const auto files = static_cast<Files>(among(0, 2));
  if (files == Files::kOne && among(0, 3) == 0) plan.disk_bytes = among(2, 60) << 10;
  if (files == Files::kBounded) plan.limits.max_bytes = among(64, 512) << 10;
  if (files == Files::kRotated) plan.limits.rotate_bytes = among(8, 60) << 10;
  if (among(0, 9) == 0) plan.stop_after_ns = among(1, 60) * kMs;
  return plan;
}

struct Death {
  std::string point;  // empty: at a random moment
  uint64_t passing = 1;
  size_t objects = 0;       // acknowledged before the time begins; a starved machine needs longer for them
  useconds_t after_us = 0;  // at the latest
};

// The process is killed anyway: it may be one that stops before.
void AwaitObjects(const Plan& plan, const Witness& witness, size_t objects) {
  for (int tries = 0; tries < 5'000 && Acknowledged(witness, plan.threads).size() < objects; ++tries) usleep(200);
}

// True if the point was passed in time.
bool Kill(const Plan& plan, const Death& death, Witness* witness) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!death.point.empty()) Arm(death.point, death.passing, &witness->fired);
    Record(plan, witness);
    _exit(0);
  }
  constexpr useconds_t kLook = 500;
  int status = 0;
  for (useconds_t waited = 0; !death.point.empty() && waited < death.after_us; waited += kLook) {
    if (waitpid(child, &status, WNOHANG) == child) return witness->fired.load() == 1;
    usleep(kLook);
  }
  if (death.point.empty()) {
    AwaitObjects(plan, *witness, death.objects);
    usleep(death.after_us);
  }
  kill(child, SIGKILL);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return witness->fired.load() == 1;
}

struct Totals {
  size_t kills = 0, acknowledged = 0, lost = 0, counted = 0, from_ring = 0, rows = 0;
  std::map<size_t, size_t> files;
};

// Whether it was found whole; a folder with findings is left.
void Look(const Plan& plan, const Witness& witness, const std::string& how, Totals* totals) {
  const RecoveryCheck check = Examine(plan, witness, Acknowledged(witness, plan.threads));
  std::string findings;
  for (const std::string& finding : check.findings) findings += "\n  " + finding;
  INFO(how << ", " << plan.folder << ", " << plan.threads << " threads, " << plan.lanes << " lanes of "
           << plan.lane_bytes << ", cap " << plan.cap << ", maxsize " << plan.limits.max_bytes << ", rotated at "
           << plan.limits.rotate_bytes << ", disk " << plan.disk_bytes << ":" << findings);
  CHECK(check.findings.empty());
  if (check.findings.empty()) std::filesystem::remove_all(plan.folder);
  ++totals->kills;
  totals->acknowledged += check.acknowledged;
  totals->lost += check.lost;
  totals->counted += check.counted;
  totals->from_ring += check.from_ring;
  totals->rows += check.rows;
  ++totals->files[check.files];
}

// What a point needs in order to be passed.
Plan PlanFor(const std::string& point, std::mt19937_64& random) {
  Plan plan = RandomPlan(random);
  plan.limits = {};
  plan.disk_bytes = 0;
  plan.stop_after_ns = 0;
  plan.pause_ns = 10'000;
  if (point.starts_with("rotation.") || point.starts_with("chunk.")) plan.limits.rotate_bytes = 8 << 10;
  if (point.starts_with("copy.")) plan.limits.max_bytes = 96 << 10;
  if (point.starts_with("sync.")) plan.sync = {.every_ns = kMs};
  const bool is_end =
      point.starts_with("end.") || point.starts_with("name.") || point.starts_with("stop.") || point == "ring.closing";
  if (is_end) plan.stop_after_ns = 20 * kMs;
  return plan;
}

// Points that are passed once, or of which the first passing is what counts.
bool IsPassedOnce(const std::string& point) {
  for (const char* room : {"ring.", "file.", "drain.", "end.", "name.", "stop."}) {
    if (point.starts_with(room)) return true;
  }
  return point.starts_with("block.tak") || point.starts_with("copy.") || point == "chunk.finishing";
}

}  // namespace

// Only what never reaches its point waits so long.
constexpr useconds_t kPatienceUs = 120'000'000;

TEST_CASE("After a kill at any named point, the recording has everything that was committed") {
  std::mt19937_64 random(NumberIn("HEAPREC_KILL_SEED", 20261121));
  const uint64_t rounds = std::max<uint64_t>(NumberIn("HEAPREC_KILLS", 0) / 100, 1);
  Totals totals;
  for (uint64_t round = 0; round < rounds; ++round) {
    for (const std::string_view point : kPoints) {
      const std::string name(point);
      const bool is_frequent = name.starts_with("sample.") || name.starts_with("lease.");
      const uint64_t most = is_frequent ? 200 : name.starts_with("window.") ? 2 : 8;
      const Death death{name, IsPassedOnce(name) ? 1 : 1 + random() % most, 0, kPatienceUs};
      const Plan plan = PlanFor(name, random);
      const auto witness = MakeWitness();
      INFO(name << ", passing " << death.passing);
      CHECK(Kill(plan, death, witness.get()));
      Look(plan, *witness, name, &totals);
    }
  }
  CHECK(totals.lost == 0);
  WARN(totals.kills << " kills at " << kPoints.size() << " points: " << totals.acknowledged << " acknowledged, "
                    << totals.lost << " lost, " << totals.counted << " refused and counted, " << totals.from_ring
                    << " of " << totals.rows << " read from rings");
}

TEST_CASE("After a kill at a random moment, the recording has everything that was committed") {
  std::mt19937_64 random(NumberIn("HEAPREC_KILL_SEED", 20261121) + 1);
  const uint64_t kills = NumberIn("HEAPREC_KILLS", 100);
  Totals totals;
  for (uint64_t i = 0; i < kills; ++i) {
    const Plan plan = RandomPlan(random);
    const auto witness = MakeWitness();
    const bool is_early = random() % 4 == 0;
    const Death death{"", 0, size_t{is_early ? 0U : 20U},
                      static_cast<useconds_t>(random() % (is_early ? 5'000 : 80'000))};
    Kill(plan, death, witness.get());
    Look(plan, *witness, "at a random moment", &totals);
  }
  CHECK(totals.lost == 0);
  CHECK(totals.acknowledged > kills * 10);
  WARN(totals.kills << " kills at random moments: " << totals.acknowledged << " acknowledged, " << totals.lost
                    << " lost, " << totals.counted << " refused and counted, " << totals.from_ring << " of "
                    << totals.rows << " read from rings; " << totals.files.size() << " numbers of files");
}

}  // namespace heaprec::crash
