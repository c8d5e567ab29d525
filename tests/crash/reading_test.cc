// Read at any moment while it is written, a recording is a prefix of itself that holds all that was committed before.
//
// HEAPREC_READS=1000: how often; each case reads a share of them.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/crash/killed_process.h"
#include "tests/crash/points.h"
#include "tests/crash/recovery_check.h"
#include "tests/support/files.h"

namespace heaprec::crash {
namespace {

constexpr uint64_t kReadsOfOne = 25;

}  // namespace

TEST_CASE("Each prefix that is read during writing is complete, in order and without gaps") {
  const uint64_t reads = NumberIn("HEAPREC_READS", 100);
  size_t events = 0;
  for (uint64_t recording = 0; recording * kReadsOfOne < reads; ++recording) {
    const testing::Folder folder(testing::kSharedMemory);
    Plan plan;
    plan.folder = folder.path();
    plan.seed = recording + 1;
    plan.threads = 1 + recording % 4;
    plan.pause_ns = 200'000;
    plan.interval_ns = (1 + recording % 5) * 2'000'000;
    plan.block_ns = recording % 3 * plan.interval_ns;
    if (recording % 3 == 1) plan.cap = 4;
    const auto witness = MakeWitness();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      Record(plan, witness.get());
      _exit(0);
    }
    while (Acknowledged(*witness, plan.threads).empty()) usleep(1000);
    for (uint64_t i = 0; i < kReadsOfOne; ++i) {
      usleep(static_cast<useconds_t>(i * 700 % 9000));
      const RecoveryCheck check = Examine(plan, *witness, Acknowledged(*witness, plan.threads));
      INFO("recording " << recording << ", reading " << i << ": "
                        << (check.findings.empty() ? "" : check.findings.front()));
      CHECK(check.findings.empty());
      events += check.acknowledged;
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, nullptr, 0) == child);
  }
  CHECK(events > reads);
}

}  // namespace heaprec::crash
