#include "recorder/agent/streams/native_stream.h"

#include <pthread.h>

#include <atomic>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "recorder/writer/signal_masked_thread.h"

namespace heaprec::agent {
namespace {

// A thread is inside for microseconds, or until it is scheduled again.
constexpr int kMaxPauses = 50;
constexpr timespec kPause{0, 1'000'000};

std::atomic<bool> is_patching{false};

// No thread waits for this one: it may wait for a library's constructors, and one of those may end the process.
void PatchInBackground() {
  if (is_patching.exchange(true)) return;
  const auto patch = [](void*) {
    (void)native::PatchLibraries();
    is_patching.store(false);
  };
  const auto thread = writer::StartSignalMaskedThread(
      "heaprec-loader", patch, [](void*) { is_patching.store(false); }, nullptr);
  if (!thread.ok()) return is_patching.store(false);
  pthread_detach(*thread);
}

}  // namespace

NativeStream::NativeStream(buffer::Ring& ring, const throttle::ControllerConfig& config, uint64_t start_ns,
                           uint32_t recording, uint64_t seed, double max_gap, sources::JavaFrames* java,
                           uint32_t maps_per_second)
    : shared_counters_(ring.header().CountersOf(format::Stream::kNative)),
      board_(config, start_ns, format::kNativeWindowBit),
      source_(board_, shared_counters_, ring, recording, format::SeedOf(format::Stream::kNative, seed), max_gap, java),
      writer_(ring, shared_counters_),
      unseen_allocators_(ring.header().unseen_allocators),
      recording_(recording) {
  writer_.WriteWindow(board_.first());
  if (maps_per_second > 0) mapped_.emplace(ring, start_ns, maps_per_second, writer_, java);
}

void NativeStream::Activate(std::unique_ptr<native::MallocHooks> calls) {
  (void)native::TakeLibraryChanges();  // discards those from before this recording
  writer_.RefreshLibraries();
  calls_ = std::move(calls);
  calls_->Activate(&source_, mapped_ ? mapped_->mapper() : nullptr);
}

void NativeStream::OnTick(uint64_t now_ns) {
  native::ThreadClocks::LeaveOut();
  Refresh();
  TakeIn();
  if (calls_ == nullptr) return;
  const native::ThreadClocks::Totals totals = native::ThreadClocks::TotalOf(recording_);
  shared_counters_.SetPopulation(totals.calls, totals.bytes);
  const auto window = board_.Tick(now_ns, totals.bytes);
  if (window) writer_.WriteWindow(*window);
  if (mapped_) mapped_->OnTick(now_ns);
}

void NativeStream::Refresh() {
  if (calls_ == nullptr) return;
  unseen_allocators_.store(native::UnseenAllocators(), std::memory_order_relaxed);
  const native::LibraryChanges changes = native::TakeLibraryChanges();
  if (changes.needs_patching) PatchInBackground();
  if (!changes.patched_or_unloaded) return;
  source_.ForgetLibraries();
  if (mapped_) mapped_->ForgetLibraries();
  writer_.RefreshLibraries();
}

void NativeStream::TakeIn() {
  writer_.WriteRest();
  native::Blocks().TakeDead([this](uint64_t sample, uint64_t freed_ns) { writer_.WriteDeath(sample, freed_ns); });
}

void NativeStream::Stop() {
  if (calls_ == nullptr) return;
  Refresh();
  // Now: until their slots are restored, threads continue to count bytes that are not sampled.
  const native::ThreadClocks::Totals totals = native::ThreadClocks::TotalOf(recording_);
  calls_.reset();
  for (int i = 0; !native::IsQuiet() && i < kMaxPauses; ++i) nanosleep(&kPause, nullptr);
  TakeIn();
  if (mapped_) mapped_->Stop(MonotonicNs());
  shared_counters_.SetPopulation(totals.calls, totals.bytes);
}

}  // namespace heaprec::agent
