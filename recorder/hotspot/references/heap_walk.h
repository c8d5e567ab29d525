// Searches the heap, breadth first, for the shortest chain of references from a root to each wanted object, while the
// VM is paused.
//
// Strong references come first, then what is only reachable through soft ones, then what waits for its finalizer.
// Weak and phantom references keep nothing alive and are not followed. Stacks of unmounted virtual threads are not
// read.
//
// Memory:   12 bytes an object and 1/64 of the heap at most, mapped in advance and used as far as needed; 4 bytes more
// for
//           an object on the way to a found one.
// Units:    ns of CLOCK_MONOTONIC, bytes.
// Context:  Make: setup. The rest: the VM paused, one thread. No heap, no lock.
// Failure:  Make returns an Error without address space. Run says why it stopped.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "base/memory.h"
#include "base/result.h"
#include "base/time.h"
#include "format/model/process_state.h"
#include "recorder/hotspot/references/reference_layout.h"

namespace heaprec::hotspot {

// Mapped memory that the kernel provides when it is used.
template <typename T>
class MappedArray {
  static_assert(std::is_trivial_v<T>);

 public:
  // Replaces the contents by `count` zeros.
  Status Map(size_t count) {
    const size_t bytes = count * sizeof(T);
    void* const memory = MapSparse(bytes);
    if (memory == nullptr) return Error{std::string("no address space: ") + std::strerror(errno)};
    memory_ = std::unique_ptr<T, Unmap>(static_cast<T*>(memory), Unmap{bytes});
    count_ = count;
    return {};
  }
  T& operator[](size_t i) { return memory_.get()[i]; }
  const T& operator[](size_t i) const { return memory_.get()[i]; }
  size_t size() const { return count_; }

 private:
  struct Unmap {
    size_t bytes = 0;
    void operator()(T* memory) const { UnmapSparse(memory, bytes); }
  };
  std::unique_ptr<T, Unmap> memory_;
  size_t count_ = 0;
};

class HeapWalk {
 public:
  // max_bytes: of the queue.
  static Result<HeapWalk> Make(const ReferenceLayout& layout, uint64_t max_bytes);

  // At most kMostWanted.
  void Want(uint64_t address, uint32_t id);
  // `number`: what Climb returns for what starts from this root. False: there is no memory for it.
  bool AddRoot(uint32_t reference, uint32_t number) { return Reach(reference, kRootBit | number); }

  // kComplete, kTime or kMemory.
  format::WalkEnd Run(uint64_t deadline_ns);

  struct Found {
    uint32_t id;
    uint32_t at;
  };
  std::span<const Found> found() const { return {&found_[0], found_count_}; }
  format::PathStrength StrengthOf(uint32_t at) const {
    return at < strong_end_ ? format::PathStrength::kStrong
           : at < soft_end_ ? format::PathStrength::kSoft
                            : format::PathStrength::kFinal;
  }
  uint64_t objects() const { return count_; }

  // Visits the holders of a found object, from the nearest to the root: visit(index, address, Place), until it returns
  // false. Returns the number of the root; nullopt: the time is over, or visit returned false. What follows an index is
  // always the same.
  template <typename Visit>
  std::optional<uint32_t> Climb(uint32_t at, uint64_t deadline_ns, const Visit& visit) const {
    for (uint32_t steps = 1; (queue_[at].parent & kRootBit) == 0; ++steps) {
      if (steps % kStepsBetweenLooks == 0 && MonotonicNs() >= deadline_ns) return std::nullopt;
      const uint32_t reference = queue_[at].reference;
      at = queue_[at].parent;
      const uint64_t holder = layout_->AddressOf(queue_[at].reference);
      if (!visit(at, holder, PlaceOf(holder, reference))) return std::nullopt;
    }
    return queue_[at].parent & ~kRootBit;
  }

  // After a complete search: calls visit(index, share) for each object whose share is at least `least`, a holder before
  // what it holds. An object's share is the mean of two shares of the found objects that were reached through it: of
  // their number, and of their bytes. (A sample represents something between one object and its own bytes.) Left out
  // are roots for which is_plain(number) is true, and objects whose share is nearly that of their holder.
  template <typename IsPlain, typename Visit>
  void ForEachHolder(float least, const IsPlain& is_plain, const Visit& visit) {
    double bytes = 0;
    const auto bytes_of = [this](const Found& of) {
      return static_cast<double>(layout_->objects().SizeOf(layout_->AddressOf(queue_[of.at].reference)));
    };
    for (const Found& of : found()) bytes += bytes_of(of);
    for (const Found& of : found())
      held_[of.at] += static_cast<float>((1.0 / static_cast<double>(found_count_) + bytes_of(of) / bytes) / 2);
    // A holder is reached before what it holds, and so has the smaller index.
    for (size_t i = count_; i-- > 0;) {
      if (held_[i] != 0 && !IsRoot(i)) held_[queue_[i].parent] += held_[i];
    }
    const auto is_plain_root = [&](size_t i) { return IsRoot(i) && is_plain(queue_[i].parent & ~kRootBit); };
    for (size_t i = 0; i < count_; ++i) {
      if (held_[i] < least || is_plain_root(i)) continue;
      const bool repeats =
          !IsRoot(i) && !is_plain_root(queue_[i].parent) && held_[i] >= kNearlyAll * held_[queue_[i].parent];
      if (!repeats && !visit(static_cast<uint32_t>(i), held_[i])) return;
    }
  }
  uint32_t ReferenceAt(uint32_t at) const { return queue_[at].reference; }
  // Forgets what was reached. The next search, whose roots are to be added again, does not enter `without`: what it
  // does not find is held by that object alone.
  void Restart(uint32_t without);

  static constexpr size_t kMostWanted = 1 << 16;

 private:
  static constexpr uint32_t kRootBit = 1U << 31;
  static constexpr uint32_t kStepsBetweenLooks = 1024;
  static constexpr float kNearlyAll = 0.95F;
  struct Entry {
    uint32_t reference, parent;  // parent: an index, or a root
  };

  explicit HeapWalk(const ReferenceLayout& layout) : layout_(&layout) {}
  bool IsRoot(size_t at) const { return (queue_[at].parent & kRootBit) != 0; }
  // The word of seen_ and the bit of an object.
  std::pair<uint64_t*, uint64_t> SeenOf(uint32_t reference) {
    const uint32_t place = reference >> (3 - layout_->shift());
    return {&seen_[place / 64], uint64_t{1} << place % 64};
  }
  bool Reach(uint32_t reference, uint32_t parent);
  // False at the end of time or memory; looks at the clock now and then.
  bool MayGoOn();
  void Follow(uint32_t at);
  // These return false at the end of time or memory.
  bool FollowReferents(const MappedArray<uint32_t>& references, size_t count, size_t* next);
  bool Drain();
  const ReferenceLayout::Class& ClassOf(uint64_t object, uint32_t at);
  Place PlaceOf(uint64_t holder, uint32_t reference) const;

  const ReferenceLayout* layout_;
  MappedArray<uint64_t> seen_;  // a bit for each address at which an object can begin
  MappedArray<Entry> queue_;
  MappedArray<float> held_;  // by index: the share of the found objects that were reached through it
  size_t count_ = 0, next_ = 0;
  uint32_t without_ = 0;  // what Restart was told
  size_t strong_end_ = SIZE_MAX, soft_end_ = SIZE_MAX;
  MappedArray<uint32_t> soft_, final_;  // indices of such references
  size_t soft_count_ = 0, final_count_ = 0;
  struct Wanted {
    uint32_t reference, id;
  };
  MappedArray<Wanted> wanted_;
  MappedArray<uint64_t> wanted_bits_;  // says quickly that a reference is not wanted
  MappedArray<Found> found_;
  size_t wanted_count_ = 0, found_count_ = 0;
  struct KnownClass {
    uint64_t word;
    ReferenceLayout::Class of;
  };
  std::unique_ptr<KnownClass[]> classes_;
  uint64_t deadline_ns_ = 0;
  uint32_t until_look_ = 0;
  format::WalkEnd end_ = format::WalkEnd::kComplete;
};

}  // namespace heaprec::hotspot
