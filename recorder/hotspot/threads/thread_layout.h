// The words of a JavaThread that the byte clock reads and writes: its allocated bytes, its TLAB, and the threshold at
// which the JVM's own sampler delivers SampledObjectAlloc.
//
// Units:    bytes of the thread's allocation; gap = bytes from the end of the current object to the sample point, any
//           double (infinite, huge, negative and NaN are clamped).
// Context:  setup: Resolve. The others: alloc; a few loads and stores, no call.
// Threads:  a JavaThread's words are accessed by that thread, by the collector while the thread is not in a hook, and
//           by a thread that has stopped it.
// Failure:  Resolve returns an Error for a JDK whose rules are unknown.
// Maths:    docs/sampler.md#arming
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/memory.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

class ThreadLayout {
 public:
  static Result<ThreadLayout> Resolve(const VmStructs& structs, const JdkRules& rules);

  // For a JVM whose JavaThread is unknown: uses the agent's own ThreadWords. There are no TLABs, and thresholds cannot
  // be set.
  static ThreadLayout FromThreadWords();
  // Adds the bytes that a sample represents, so that the thread's bytes are estimated without the JVM. Only for
  // ThreadWords.
  void AddEstimated(void* words, uint64_t bytes) const {
    if (is_estimated_) Store(words, allocated_bytes_, Load(words, allocated_bytes_) + bytes);
  }
  // Whether the bytes of threads are estimated from the samples.
  bool is_estimated() const { return is_estimated_; }

  // All bytes that this thread has allocated, including the object whose hook or callback runs.
  uint64_t AllocatedBytes(const void* java_thread) const {
    const uint64_t start = TlabStart(java_thread);
    const uint64_t in_tlab = start != 0 ? Load(TlabAddress(java_thread), top_) - start : 0;
    return Load(java_thread, allocated_bytes_) + in_tlab;
  }

  // The same inside SampledObjectAlloc.
  uint64_t AllocatedBytesInCallback(const void* java_thread) const {
    const Tlab now = TlabOf(java_thread);
    return now.retired + (now.top - now.start);
  }

  // The same for another thread, which may be running or gone, along with its memory; nullopt: gone. The value is from
  // some moment during the call, and meaningless if the memory was reused. Context: setup, drain.
  std::optional<uint64_t> AllocatedBytesOfOther(const void* java_thread) const;

  // Size of the current TLAB from its start to its hard end; 0: no TLAB.
  uint64_t TlabSize(const void* java_thread) const {
    const uint64_t start = TlabStart(java_thread);
    return start != 0 ? Load(TlabAddress(java_thread), allocation_end_) - start + ReservedBytes() : 0;
  }

  // Where the thread allocates. start and top: 0 without a TLAB; retired: bytes that it has allocated outside of the
  // current TLAB.
  struct Tlab {
    uint64_t start = 0, top = 0, retired = 0;
  };
  // For a thread in native state, whose TLAB a collection may retire between two loads: reads until two readings agree.
  Tlab TlabOf(const void* java_thread) const {
    // Usually the second reading agrees. If none does, the words are not a TLAB.
    constexpr int kReadings = 1000;
    uint64_t retired = 0;
    for (int reading = 0; reading < kReadings; ++reading) {
      retired = Load(java_thread, allocated_bytes_, __ATOMIC_ACQUIRE);
      const uint64_t start = TlabStart(java_thread, __ATOMIC_ACQUIRE);
      const uint64_t top = Load(TlabAddress(java_thread), top_, __ATOMIC_ACQUIRE);
      const bool same = TlabStart(java_thread, __ATOMIC_ACQUIRE) == start &&
                        Load(java_thread, allocated_bytes_, __ATOMIC_ACQUIRE) == retired;
      if (same && start == 0) return {0, 0, retired};
      if (same && top >= start) return {start, top, retired};
    }
    return {0, 0, retired};
  }
  const void* TlabAddress(const void* java_thread) const { return static_cast<const char*>(java_thread) + tlab_; }
  // Returns the thread that owns the TLAB.
  const void* ThreadOfTlab(const void* tlab) const { return static_cast<const char*>(tlab) - tlab_; }
  void* TlabAddress(void* java_thread) const { return static_cast<char*>(java_thread) + tlab_; }

  // Returns the OS thread id of another thread, which may be gone along with its memory. 0: libjvm does not describe
  // it. Context: setup.
  uint32_t OsTidOfOther(const void* java_thread) const;

  // Reads the words of other threads.
  const SafeReader& reader() const { return reader_; }

  // Whether `object` is in the used part of the thread's current TLAB.
  bool InTlab(const void* java_thread, const void* object) const {
    const uint64_t address = reinterpret_cast<uintptr_t>(object);
    const uint64_t start = TlabStart(java_thread);
    return start != 0 && address >= start && address < Load(TlabAddress(java_thread), top_);
  }

  // Whether `object` is the only object in the thread's current TLAB: the one that caused the refill.
  bool IsFirstOfTlab(const void* java_thread, const void* object, uint64_t bytes) const {
    const uint64_t address = reinterpret_cast<uintptr_t>(object);
    return address == TlabStart(java_thread) && address + bytes == Load(TlabAddress(java_thread), top_);
  }

  // Call in an allocation hook, for the reported object of `size` bytes: the next event occurs `gap` bytes after it.
  void ArmInHook(void* java_thread, double gap, uint64_t size, bool outside) const {
    const uint64_t bytes = Clamp(gap);
    if (threshold_rule_ == ThresholdRule::kJdk25) return ArmJdk25(java_thread, bytes);
    Store(TlabAddress(java_thread), since_sample_, 0);
    Store(java_thread, threshold_, bytes + size);  // the JVM subtracts size right after the hook
    if (threshold_rule_ == ThresholdRule::kJdk11 && outside) RearmJdk11(java_thread, bytes);
  }

  // Call in SampledObjectAlloc. outside_hit: the hook for objects outside of TLABs has reported the object.
  void ArmInCallback(void* java_thread, double gap, bool outside_hit) const {
    const uint64_t bytes = Clamp(gap);
    if (threshold_rule_ == ThresholdRule::kJdk25) return ArmJdk25(java_thread, bytes);
    Store(java_thread, threshold_, bytes);
    if (threshold_rule_ == ThresholdRule::kJdk11 && outside_hit) RearmJdk11(java_thread, bytes);
  }

  // Call outside of any allocation, on a stopped thread or on the thread itself: the next event occurs after `gap` more
  // bytes.
  void ArmAtRest(void* java_thread, double gap) const {
    void* const tlab = TlabAddress(java_thread);
    const uint64_t bytes = Clamp(gap);
    const uint64_t end = Load(tlab, end_);
    const uint64_t top = Load(tlab, top_);
    const uint64_t left = TlabStart(java_thread) != 0 ? Load(tlab, allocation_end_) - top : 0;
    if (threshold_rule_ == ThresholdRule::kJdk25) {
      ArmJdk25(java_thread, bytes);
    } else {
      Store(java_thread, threshold_, bytes);
      Store(tlab, since_sample_, bytes < left ? bytes : left);
    }
    const uint64_t cut = bytes & ~uint64_t{7};
    if (left != 0) ReplaceTlabEnd(tlab, end, top + (cut < left ? cut : left));
  }

  // Call in an allocation hook: SampledObjectAlloc is delivered for the reported object.
  void Force(void* java_thread) const { Store(java_thread, threshold_, 0); }

  // Call if the agent has no sample point for the thread. The JVM still delivers an object every 64 MiB, so that an
  // agent that samples later finds every thread. The TLAB's end may stay lowered once, which causes one slow path
  // without an event.
  void SetUnarmed(void* java_thread) const {
    Store(java_thread, threshold_, kUnarmed);
    if (threshold_rule_ != ThresholdRule::kJdk25) Store(TlabAddress(java_thread), since_sample_, 0);
  }

  // The JVM's threshold word, for self-tests.
  uint64_t Threshold(const void* java_thread) const { return Load(java_thread, threshold_); }
  size_t threshold_offset() const { return threshold_; }

 private:
  using ThresholdRule = JdkRules::ThresholdRule;

  // More than a thread can allocate, and no overflow when the JVM adds TLAB sizes. A multiple of 8.
  static constexpr uint64_t kFarthest = uint64_t{1} << 60;

  static constexpr uint64_t kUnarmed = uint64_t{64} << 20;

  static uint64_t Clamp(double gap) {
    constexpr auto kFar = static_cast<double>(kFarthest);
    const double at_most = gap < kFar ? gap : kFar;  // also replaces NaN
    // Converts through a signed integer, which is one instruction.
    return static_cast<uint64_t>(static_cast<int64_t>(at_most > 0 ? at_most : 0));
  }
  static uint64_t Load(const void* base, size_t offset, int order = __ATOMIC_RELAXED) {
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(static_cast<const char*>(base) + offset), order);
  }
  static void Store(void* base, size_t offset, uint64_t value) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(static_cast<char*>(base) + offset), value, __ATOMIC_RELAXED);
  }
  // Between allocation end and hard end there is space for a filler array's header, or for prefetching beyond the end
  // (ThreadLocalAllocBuffer::end_reserve).
  uint64_t ReservedBytes() const {
    constexpr int kFillerHeaderWords = 2;
    const int words = prefetch_words_ != nullptr ? *prefetch_words_ : 0;
    return 8 * static_cast<uint64_t>(words > kFillerHeaderWords ? words : kFillerHeaderWords);
  }
  // Returns 0 if the thread has no TLAB now. JDK 11 without TLABs never writes these words, so they have arbitrary
  // contents.
  uint64_t TlabStart(const void* java_thread, int order = __ATOMIC_RELAXED) const {
    return has_tlabs_ ? Load(TlabAddress(java_thread), start_, order) : 0;
  }

  // JDK 11 re-arms the TLAB's end after a refill but not after an outside allocation.
  void RearmJdk11(void* java_thread, uint64_t bytes) const {
    void* const tlab = TlabAddress(java_thread);
    Store(tlab, since_sample_, bytes);
    if (TlabStart(java_thread) == 0) return;
    const uint64_t end = Load(tlab, top_) + (bytes & ~uint64_t{7});
    const uint64_t old_end = Load(tlab, end_);
    if (end < old_end) ReplaceTlabEnd(tlab, old_end, end);
  }

  // Also called by a thread in native state, while a collection may be retiring its TLAB: an end that the collection
  // has set must not be overwritten.
  void ReplaceTlabEnd(void* tlab, uint64_t old_end, uint64_t end) const {
    __atomic_compare_exchange_n(reinterpret_cast<uint64_t*>(static_cast<char*>(tlab) + end_), &old_end, end, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }

  // JDK 25 counts from its own start position, and delivers when strictly more bytes than the threshold have been
  // allocated since.
  void ArmJdk25(void* java_thread, uint64_t bytes) const {
    Store(java_thread, threshold_ + 8, Load(TlabAddress(java_thread), top_));
    Store(java_thread, threshold_ + 16, 0);
    Store(java_thread, threshold_ + 24, 0);
    Store(java_thread, threshold_, (bytes & ~uint64_t{7}) + 1);
  }

  ThresholdRule threshold_rule_ = ThresholdRule::kUnknown;
  bool is_estimated_ = false;
  SafeReader reader_;
  bool has_tlabs_ = true;  // -XX:+UseTLAB
  // Offsets in the JavaThread.
  size_t tlab_ = 0;
  size_t allocated_bytes_ = 0;
  size_t threshold_ = 0;
  // Offsets in the TLAB.
  size_t start_ = 0;
  size_t top_ = 0;
  size_t end_ = 0;
  size_t allocation_end_ = 0;
  size_t since_sample_ = 0;
  std::optional<size_t> os_thread_;      // offset in the JavaThread of a pointer to an OSThread
  size_t thread_id_ = 0;                 // offset in the OSThread
  const int* prefetch_words_ = nullptr;  // the JVM sets it after Agent_OnLoad
};

// All JavaThreads of the JVM, including those that JVMTI hides.
//
// Context:  setup: Resolve. ForEach: at a safepoint, where no thread starts or ends.
// Failure:  Resolve returns an Error if libjvm does not describe its list of threads.
class ThreadList {
 public:
  static Result<ThreadList> Resolve(const VmStructs& structs);

  template <typename Visit>  // visit(void* java_thread)
  void ForEach(const Visit& visit) const {
    char* const list = *list_;
    if (next_) return ForEachLinked(list, visit);
    if (list == nullptr) return;
    const auto count = *reinterpret_cast<const uint32_t*>(list + length_);
    void* const* const threads = *reinterpret_cast<void* const* const*>(list + threads_);
    for (uint32_t i = 0; i < count; ++i) visit(threads[i]);
  }

 private:
  template <typename Visit>
  void ForEachLinked(char* thread, const Visit& visit) const {
    for (; thread != nullptr; thread = *reinterpret_cast<char* const*>(thread + *next_)) visit(thread);
  }

  char* const volatile* list_ = nullptr;
  size_t length_ = 0, threads_ = 0;
  std::optional<size_t> next_;  // JDK 11: the threads form a linked list, and list_ is the first
};

}  // namespace heaprec::hotspot
