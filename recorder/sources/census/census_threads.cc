#include "recorder/sources/census/census_threads.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "format/ring/ring_reader.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// Not in the middle of a character.
std::string_view Cut(std::string_view name, size_t most) {
  if (name.size() <= most) return name;
  while (most > 0 && (static_cast<unsigned char>(name[most]) & 0xc0) == 0x80) --most;
  return name.substr(0, most);
}

size_t SlotOf(const void* java_thread, size_t probe, size_t slots) {
  return (throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)) + probe) % slots;
}

}  // namespace

CensusThreads::CensusThreads()
    // Zeros are what slots begin with; pages are touched as threads come.
    : slots_(static_cast<Slot*>(MapSparse(kSlots * sizeof(Slot))),
             [](Slot* slots) { UnmapSparse(slots, kSlots * sizeof(Slot)); }) {}

CensusThreads::Slot* CensusThreads::Look(const void* java_thread) const {
  if (slots_ == nullptr) return nullptr;
  for (size_t probe = 0; probe < kMaxProbes; ++probe) {
    Slot& slot = slots_[SlotOf(java_thread, probe, kSlots)];
    const void* const owner = slot.java_thread.load(std::memory_order_acquire);
    if (owner == java_thread) return &slot;
    if (owner == nullptr) return nullptr;
  }
  return nullptr;
}

CensusThreads::Slot* CensusThreads::PlaceFor(const void* java_thread) {
  if (slots_ == nullptr) return nullptr;
  if (Slot* const known = Look(java_thread)) return known;
  for (size_t probe = 0; probe < kMaxProbes; ++probe) {
    Slot& slot = slots_[SlotOf(java_thread, probe, kSlots)];
    if (slot.java_thread.load(std::memory_order_relaxed) == nullptr || slot.has_ended.load(std::memory_order_relaxed)) {
      return &slot;
    }
  }
  return nullptr;
}

void CensusThreads::Put(const void* java_thread, uint64_t java_tid, uint32_t os_tid, std::string_view name) {
  CensusThread thread;
  // Labels follow a zero byte.
  const std::string_view cut = Cut(name.substr(0, name.find('\0')), CensusThread::kMaxNameBytes);
  thread.key = format::ThreadKey(java_tid, os_tid, /*is_virtual=*/false, cut);
  thread.java_tid = java_tid;
  thread.os_tid = os_tid;
  thread.name_bytes = static_cast<uint32_t>(cut.size());
  std::copy(cut.begin(), cut.end(), thread.name);
  while (writing_.test_and_set(std::memory_order_acquire)) {  // another thread that starts: less than a microsecond
  }
  if (Slot* const slot = PlaceFor(java_thread)) {
    slot->version.fetch_add(1, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_release);
    slot->thread = thread;
    slot->has_ended.store(false, std::memory_order_relaxed);
    slot->java_thread.store(java_thread, std::memory_order_release);
    slot->version.fetch_add(1, std::memory_order_release);
  }
  writing_.clear(std::memory_order_release);
}

void CensusThreads::Forget(const void* java_thread) {
  if (Slot* const slot = Look(java_thread)) slot->has_ended.store(true, std::memory_order_relaxed);
}

bool CensusThreads::Find(const void* java_thread, CensusThread* into) const {
  const Slot* const slot = Look(java_thread);
  if (slot == nullptr) return false;
  const uint32_t before = slot->version.load(std::memory_order_acquire);
  if (before % 2 != 0) return false;
  std::memcpy(into, &slot->thread, sizeof(*into));
  std::atomic_thread_fence(std::memory_order_acquire);
  return slot->version.load(std::memory_order_relaxed) == before &&
         slot->java_thread.load(std::memory_order_relaxed) == java_thread;
}

}  // namespace heaprec::sources
