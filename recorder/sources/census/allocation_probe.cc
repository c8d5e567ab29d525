#include "recorder/sources/census/allocation_probe.h"

#include <array>
#include <memory>
#include <utility>

#include "recorder/sources/census/census.h"

namespace heaprec::sources {
namespace {

// A slot is used while its probe is not null. A hook checks all slots, because there are few.
std::array<std::atomic<AllocationProbe*>, AllocationProbe::kMax> probes;
// Number of hooks that are inside a probe, which must not be freed meanwhile.
std::atomic<uint32_t> visitors{0};

// Returns the used bytes of the thread's TLAB. A collection that retires it just when the probe begins has finished
// within a moment.
uint64_t SettledUse(const hotspot::ThreadLayout& threads, const void* java_thread) {
  constexpr int kLooks = 100;
  hotspot::ThreadLayout::Tlab last = threads.TlabOf(java_thread);
  for (int look = 0; look < kLooks; ++look) {
    const hotspot::ThreadLayout::Tlab now = threads.TlabOf(java_thread);
    if (now.start != last.start || now.retired != last.retired) look = 0;
    last = now;
  }
  return last.top - last.start;
}

}  // namespace

std::atomic<uint32_t> AllocationProbe::at_work{0};

AllocationProbe::AllocationProbe(const hotspot::ThreadLayout& threads, const hotspot::ObjectLayout& objects,
                                 void* java_thread, size_t most_objects)
    : threads_(threads), layout_(objects), java_thread_(java_thread), most_(most_objects) {
  found_.objects.reserve(most_objects);
}

AllocationProbe* AllocationProbe::Begin(const hotspot::ThreadLayout& threads, const hotspot::ObjectLayout& objects,
                                        void* java_thread, size_t most_objects) {
  std::unique_ptr<AllocationProbe> probe(new AllocationProbe(threads, objects, java_thread, most_objects));
  // Held until the probe has the thread's position: a collection that begins now waits for that.
  probe->Lock();
  at_work.fetch_add(1);
  retirement_watchers.fetch_add(1);
  for (auto& slot : probes) {
    AllocationProbe* none = nullptr;
    if (!slot.compare_exchange_strong(none, probe.get())) continue;
    probe->seen_ = SettledUse(threads, java_thread);
    probe->Unlock();
    return probe.release();
  }
  at_work.fetch_sub(1);
  retirement_watchers.fetch_sub(1);
  return nullptr;
}

AllocationProbe::Found AllocationProbe::End(AllocationProbe* probe) {
  probe->Lock();
  probe->Look();
  probe->Unlock();
  for (auto& slot : probes) {
    AllocationProbe* mine = probe;
    slot.compare_exchange_strong(mine, nullptr);
  }
  at_work.fetch_sub(1);
  retirement_watchers.fetch_sub(1);
  while (visitors.load() != 0) {  // a collector that checks the probes: microseconds
  }
  const std::unique_ptr<AllocationProbe> ended(probe);
  return std::move(ended->found_);
}

void AllocationProbe::Lock() {
  while (busy_.test_and_set(std::memory_order_acquire)) {
  }
  holder_.store(pthread_self(), std::memory_order_relaxed);
}

void AllocationProbe::Unlock() {
  holder_.store(pthread_t{}, std::memory_order_relaxed);
  busy_.clear(std::memory_order_release);
}

AllocationProbe::Retirement::Retirement(const void* tlab) {
  visitors.fetch_add(1);
  for (auto& slot : probes) {
    AllocationProbe* const probe = slot.load();
    if (probe == nullptr || probe->threads_.TlabAddress(probe->java_thread_) != tlab || probe->IsHeldByMe()) continue;
    probe->Lock();
    probe->Look();
    held_[count_++] = probe;
  }
}

AllocationProbe::Retirement::~Retirement() {
  for (size_t i = 0; i < count_; ++i) {
    AllocationProbe* const probe = held_[i];
    if (probe->threads_.TlabOf(probe->java_thread_).start == 0) probe->seen_ = 0;
    probe->Unlock();
  }
  visitors.fetch_sub(1);
}

void AllocationProbe::OnOutside(const void* java_thread, const void* klass, uint64_t bytes) {
  visitors.fetch_add(1);
  for (auto& slot : probes) {
    AllocationProbe* const probe = slot.load();
    if (probe == nullptr || probe->java_thread_ != java_thread) continue;
    probe->Lock();
    probe->Look();
    probe->Note(klass, bytes);
    probe->Unlock();
  }
  visitors.fetch_sub(1);
}

void AllocationProbe::Look() {
  const hotspot::ThreadLayout::Tlab now = threads_.TlabOf(java_thread_);
  if (now.start == 0) return;
  const auto note = [this](const void* klass, uint64_t size) { Note(klass, size); };
  if (now.start + seen_ < now.top) found_.is_whole &= layout_.Walk(now.start + seen_, now.top, &known_, note);
  seen_ = now.top - now.start;
}

void AllocationProbe::Note(const void* klass, uint64_t bytes) {
  ++found_.count;
  found_.bytes += bytes;
  if (found_.objects.size() < most_) found_.objects.push_back({klass, bytes});
}

}  // namespace heaprec::sources
