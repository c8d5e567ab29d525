// The drain on a disk whose fdatasync does not return.
#include <condition_variable>
#include <mutex>

#include "tests/writer/drain_bench.h"

namespace {

// What fdatasync waits for (the linker's --wrap).
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
  int waiting = 0, passed = 0;
};

Gate& TheGate() {
  static Gate* const gate = new Gate;
  return *gate;
}

}  // namespace

extern "C" int __wrap_fdatasync(int /*descriptor*/) {
  Gate& gate = TheGate();
  std::unique_lock lock(gate.mutex);
  ++gate.waiting;
  gate.changed.notify_all();
  gate.changed.wait(lock, [&gate] { return gate.is_open; });
  --gate.waiting;
  ++gate.passed;
  return 0;
}

namespace heaprec::writer {

TEST_CASE("A disk that does not answer to fdatasync delays no block, and is asked once") {
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

}  // namespace heaprec::writer
