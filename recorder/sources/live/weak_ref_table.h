// A table of entries, each with a weak reference, that track sampled objects.
//
// Transitions of an entry, and the thread that makes them; no thread waits for another:
//
//   free      -> taken      an allocating thread (Take), which then owns it
//   taken     -> tracked    the same thread, with reference and sample (Track)
//   taken     -> dropped    the same thread: there is no sample (Cancel)
//   tracked   -> dropped    the drain: the sample is no longer needed (Drop)
//   tracked   -> dead       the poller: its object was found dead (MarkDead)
//   dropped,
//   dead      -> free       the poller, which has deleted the reference (Free); only it deletes references
//
// State and sample id are one word, so a thread that changes the entry of a sample cannot change that of another
// sample.
//
// Context:  Take, Track, Cancel: alloc. Drop, CollectionsAtBirth: drain. The others: the poller (one thread).
// Threads:  as above.
// Failure:  Take returns 0 if no entry is free.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "recorder/hotspot/usage/heap_meter.h"

namespace heaprec::sources {

class WeakRefTable {
 public:
  // Entries are numbered from 1 to count <= kMaxTracked.
  explicit WeakRefTable(uint32_t count);

  uint32_t count() const { return count_; }

  uint16_t Take();
  // `collections`: the JVM's count at this time.
  void Track(uint16_t index, jweak reference, uint64_t sample, uint64_t collections);
  // `reference` may be null.
  void Cancel(uint16_t index, jweak reference);

  // Returns false if the sample is no longer tracked there, because its death was found and will be reported.
  bool Drop(uint16_t index, uint64_t sample);
  // Returns the count at the sample's birth if it is tracked there, otherwise `otherwise`: it died, and another sample
  // may use its entry.
  uint64_t CollectionsAtBirth(uint16_t index, uint64_t sample, uint64_t otherwise) const;

  enum class State : uint64_t { kFree = 0, kTaken = 1, kTracked = 2, kDropped = 3, kDead = 4 };
  struct View {
    State state;
    uint64_t sample;
    jweak reference;
    uint64_t collections;
  };
  // Only the poller changes a tracked or dropped entry, except for Drop.
  View Look(uint16_t index) const;
  // Returns false if the entry was dropped meanwhile.
  bool MarkDead(uint16_t index, uint64_t sample);
  // Call after the reference was deleted, or if it was null.
  void Free(uint16_t index);
  // While this is held, no reference is deleted. For threads of the agent.
  std::unique_lock<std::mutex> KeepReferences() { return std::unique_lock(references_); }

 private:
  struct Entry {
    std::atomic<uint64_t> word{0};  // sample << 3 | state
    jweak reference = nullptr;      // written while taken; read after an acquire of word
    std::atomic<uint64_t> collections{0};
  };
  Entry& At(uint16_t index) const { return entries_[index - 1]; }

  const uint32_t count_;
  std::mutex references_;
  std::atomic<uint32_t> next_{0};  // entry at which the next Take begins to search
  const std::unique_ptr<Entry[]> entries_;
};

// An entry and a weak reference that are reserved for a sample, and released if there is no sample.
//
// Context:  alloc, inside a JVMTI callback: JNI is legal; it may wait for a safepoint, so no lease is held meanwhile.
// Failure:  no free entry, or no memory for the reference: Track returns 0.
class WeakRefReservation {
 public:
  // Reserves nothing if `table` or `object` is null.
  WeakRefReservation(WeakRefTable* table, const hotspot::HeapMeter* meter, JNIEnv* jni, jobject object)
      : table_(table) {
    if (table == nullptr || object == nullptr) return;
    index_ = table->Take();
    if (index_ == 0) return;
    collections_ = meter->Collections();
    reference_ = jni->NewWeakGlobalRef(object);
    if (reference_ == nullptr) jni->ExceptionClear();
  }
  ~WeakRefReservation() {
    if (index_ != 0) table_->Cancel(index_, reference_);
  }
  WeakRefReservation(const WeakRefReservation&) = delete;
  WeakRefReservation& operator=(const WeakRefReservation&) = delete;

  // Gives the entry to the sample. Returns its tracking index; 0: it is not tracked.
  uint16_t Track(uint64_t sample) {
    if (reference_ == nullptr) return 0;
    const uint16_t index = index_;
    index_ = 0;
    table_->Track(index, reference_, sample, collections_);
    return index;
  }

 private:
  WeakRefTable* const table_;
  uint16_t index_ = 0;
  jweak reference_ = nullptr;
  uint64_t collections_ = 0;
};

}  // namespace heaprec::sources
