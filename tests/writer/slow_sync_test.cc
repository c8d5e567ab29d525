// The drain on a disk whose fdatasync does not return, or fails.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "tests/writer/drain_bench.h"

namespace {

// What fdatasync waits for (the linker's --wrap).
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
  int descriptor = -1;                       // of the last call
  int waiting = 0, passed = 0, failing = 0;  // the next ones fail
};

Gate& TheGate() {
  static Gate* const gate = new Gate;
  return *gate;
}

}  // namespace

extern "C" int __wrap_fdatasync(int descriptor) {
  Gate& gate = TheGate();
  std::unique_lock lock(gate.mutex);
  gate.descriptor = descriptor;
  ++gate.waiting;
  gate.changed.notify_all();
  gate.changed.wait(lock, [&gate] { return gate.is_open; });
  --gate.waiting;
  ++gate.passed;
  if (gate.failing == 0) return 0;
  --gate.failing;
  errno = EIO;
  return -1;
}

namespace heaprec::writer {

TEST_CASE("A disk on which fdatasync hangs delays no block, and gets one request") {
  Gate& gate = TheGate();
  SyncPolicy sync;
  sync.every_ns = GENERATE(uint64_t{0}, 2 * kSecond);  // after each block, or every other one
  gate.is_open = false;
  gate.passed = 0;
  Bench bench(150, {}, 0, {}, sync, Syncer::Where::kOwnThread);
  for (uint64_t second = 0; second < 10; ++second) {
    bench.Sample(second + 1, second * kSecond + kSecond / 2);
    bench.TickAt((second + 1) * kSecond);
    CHECK(bench.ReadBack().samples.size() == second + 1);
    if (second < 3) continue;
    std::unique_lock lock(gate.mutex);
    gate.changed.wait(lock, [&gate] { return gate.waiting > 0; });
    CHECK(gate.waiting == 1);
    CHECK(gate.passed == 0);
  }
  {
    const std::lock_guard lock(gate.mutex);
    gate.is_open = true;
    gate.changed.notify_all();
  }
  bench.EndAt(11 * kSecond);
  CHECK(gate.passed >= 2);  // that one, and what came since
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 10);
  CHECK(read.ending == "test");
}

// Without a table of descriptors of its own the agent shares the program's.
TEST_CASE("While the disk hangs, the agent has no low descriptor, and closes none that the program reused") {
  Gate& gate = TheGate();
  SyncPolicy sync;
  sync.every_ns = 0;
  gate.is_open = false;
  Bench bench(150, {}, 0, {}, sync, Syncer::Where::kOwnThread);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  std::unique_lock lock(gate.mutex);
  gate.changed.wait(lock, [&gate] { return gate.waiting > 0; });
  const int number = gate.descriptor;
  CHECK(number >= 900);
  const int own = open("/dev/null", O_RDONLY);
  REQUIRE(dup2(own, number) == number);
  gate.is_open = true;
  gate.changed.notify_all();
  lock.unlock();
  bench.EndAt(2 * kSecond);
  CHECK(fcntl(number, F_GETFD) == 0);
  close(number);
  close(own);
}

TEST_CASE("A failing fdatasync is reported once, with its reason, and repeated") {
  Gate& gate = TheGate();
  gate.is_open = true;
  gate.passed = 0;
  gate.failing = GENERATE(0, 1, 3);
  const bool fails = gate.failing > 0;
  SyncPolicy sync;
  sync.every_ns = 0;
  Bench bench(150, {}, 0, {}, sync);
  for (uint64_t second = 0; second < 5; ++second) {
    bench.Sample(second + 1, second * kSecond + kSecond / 2);
    bench.TickAt((second + 1) * kSecond);
    bench.TickAt((second + 1) * kSecond + 1);
  }
  bench.EndAt(6 * kSecond);
  CHECK(gate.failing == 0);
  CHECK(gate.passed >= 5);
  CHECK(bench.sync_failures() == std::vector<std::string>(fails ? 1 : 0, bench.path() + ": Input/output error"));
  CHECK(bench.outages().empty());
  CHECK(bench.ReadBack().samples.size() == 5);
}

TEST_CASE("A failure of the last fdatasync is reported, too") {
  Gate& gate = TheGate();
  gate.is_open = true;
  Bench bench(150);
  gate.failing = 1;
  bench.Sample(1, kSecond / 2);
  bench.EndAt(kSecond);
  CHECK(gate.failing == 0);
  CHECK(bench.sync_failures().size() == 1);
}

}  // namespace heaprec::writer
