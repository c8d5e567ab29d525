#include "recorder/native_sample/thread_clocks.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "base/memory.h"
#include "recorder/native_sample/index_free_lists.h"

namespace heaprec::native {
namespace {

std::atomic<ThreadClock*> memory_of_all{nullptr};  // pages are touched as threads start
std::atomic<uint32_t> high_water{0};
IndexFreeLists<ThreadClocks::kCapacity> links;
IndexFreeLists<ThreadClocks::kCapacity>::Free unused;
pthread_key_t key;

// The clock of threads that are ending, of threads beyond kCapacity, and of the recorder's own work. It is never due,
// and WakeAll and TotalOf skip it, so its allocations are neither sampled nor counted. Threads share it; its sums are
// not used.
struct Nobodys : ThreadClock {
  Nobodys() { due.store(UINT64_MAX, std::memory_order_relaxed); }
};
Nobodys nobodys;

// Pairs with the release in Prepare: a thread that calls through a patched slot sees all earlier initialisation.
ThreadClock* Clocks() { return memory_of_all.load(std::memory_order_acquire); }

ThreadClock* NewClock() {
  ThreadClock* const clocks = Clocks();
  if (const uint32_t index = links.Pop(&unused); index != links.kNone) return &clocks[index];
  uint32_t index = high_water.load(std::memory_order_relaxed);
  do {
    if (index >= ThreadClocks::kCapacity) return nullptr;
  } while (!high_water.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  // The drain may already read it: anonymous memory is zero, like a new clock.
  auto* const clock = new (&clocks[index]) ThreadClock;
  clock->index = index;
  return clock;
}

}  // namespace

constinit ThreadClock ThreadClocks::newcomers_;
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadClock* ThreadClocks::own_ = &newcomers_;

bool ThreadClocks::Prepare() {
  if (Clocks() != nullptr) return true;
  void* const memory = MapSparse(sizeof(ThreadClock) * kCapacity);
  if (memory == nullptr || pthread_key_create(&key, OnThreadEnd) != 0) return false;
  memory_of_all.store(static_cast<ThreadClock*>(memory), std::memory_order_release);
  return true;
}

ThreadClock* ThreadClocks::OwnNew() {
  // Setting a key's value may allocate memory.
  own_ = &nobodys;
  ThreadClock* const clock = NewClock();
  if (clock == nullptr || pthread_setspecific(key, clock) != 0) {
    if (clock != nullptr) links.Push(&unused, clock->index);
    return own_;
  }
  clock->os_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  clock->due.store(0, std::memory_order_relaxed);
  own_ = clock;
  return clock;
}

ThreadClocks::OwnWork::OwnWork() : before_(std::exchange(own_, &nobodys)) {}

void ThreadClocks::LeaveOut() { own_ = &nobodys; }

void ThreadClocks::OnThreadEnd(void* clock) {
  own_ = &nobodys;
  auto* const ended = static_cast<ThreadClock*>(clock);
  (void)ended->points.Finish(ended->bytes.load(std::memory_order_relaxed));
  links.Push(&unused, ended->index);
}

template <typename Visit>
void ThreadClocks::ForEach(const Visit& visit) {
  const uint32_t count = high_water.load(std::memory_order_acquire);
  ThreadClock* const clocks = Clocks();
  for (uint32_t i = 0; i < count; ++i) visit(clocks[i]);
}

void ThreadClocks::WakeAll() {
  ForEach([](ThreadClock& clock) { clock.due.store(0); });
}

bool ThreadClocks::IsAnybodyInside() {
  bool any = false;
  ForEach([&any](ThreadClock& clock) { any |= clock.is_inside.load(); });
  return any;
}

ThreadClocks::Totals ThreadClocks::TotalOf(uint32_t recording) {
  Totals totals;
  ForEach([&](ThreadClock& clock) {
    if (clock.recording.load(std::memory_order_acquire) != recording) return;
    totals.bytes += clock.bytes.load(std::memory_order_relaxed) - clock.bytes_before.load(std::memory_order_relaxed);
    totals.calls += clock.calls.load(std::memory_order_relaxed) - clock.calls_before.load(std::memory_order_relaxed);
  });
  return totals;
}

}  // namespace heaprec::native
