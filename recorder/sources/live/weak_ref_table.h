// The places in which sampled objects are tracked: a weak reference in each, never more than there are places.
//
// Who leads a place from one state to the next; nobody waits for anybody:
//
//   free      -> taken      an allocating thread (Take), which alone has it then
//   taken     -> tracked   the same thread, with reference and sample (Follow)
//   taken     -> dropped    the same thread: there is no sample (Cancel)
//   tracked  -> dropped    the drain: the sample is not wanted any longer (Drop)
//   tracked  -> dead       the watch: its object was found dead (Bury)
//   dropped,
//   dead      -> free       the watch, which has deleted the reference (Free); it alone deletes any
//
// A state and the sample's id are one word: who leads a place of one sample on never meets another sample in it.
//
// Context:  Take, Follow, Cancel: alloc. Drop, CollectionsAtBirth: drain. The rest: the watch (one thread).
// Threads:  as above.
// Failure:  Take answers 0 when none is free.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace heaprec::sources {

class WeakRefTable {
 public:
  // Numbers are from 1 to count <= kMaxTracked.
  explicit WeakRefTable(uint32_t count);

  uint32_t count() const { return count_; }

  uint16_t Take();
  // `collections`: that the JVM had counted by then.
  void Track(uint16_t place, jweak reference, uint64_t sample, uint64_t collections);
  // `reference` may be null.
  void Cancel(uint16_t place, jweak reference);

  // False: it is no longer tracked there: its death was found, and says so itself.
  bool Drop(uint16_t place, uint64_t sample);
  // Of the sample, if it is tracked there; else (it died, and another may have its place) `otherwise`.
  uint64_t CollectionsAtBirth(uint16_t place, uint64_t sample, uint64_t otherwise) const;

  enum class State : uint64_t { kFree = 0, kTaken = 1, kTracked = 2, kDropped = 3, kDead = 4 };
  struct View {
    State state;
    uint64_t sample;
    jweak reference;
    uint64_t collections;
  };
  // What is tracked or dropped stays what is seen until the watch itself acts on it, but for a Drop.
  View Look(uint16_t place) const;
  // False: it was dropped meanwhile.
  bool MarkDead(uint16_t place, uint64_t sample);
  // The reference was deleted, or was null.
  void Free(uint16_t place);

 private:
  struct Entry {
    std::atomic<uint64_t> word{0};  // sample << 3 | state
    jweak reference = nullptr;      // written while taken; read behind an acquire of word
    std::atomic<uint64_t> collections{0};
  };
  Entry& At(uint16_t place) const { return places_[place - 1]; }

  const uint32_t count_;
  std::atomic<uint32_t> next_{0};  // where the next one begins to look
  const std::unique_ptr<Entry[]> places_;
};

}  // namespace heaprec::sources
