#include "recorder/sources/census/census.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "base/time.h"
#include "recorder/hotspot/threads/safepoint.h"
#include "recorder/sources/log.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// Classes that some walk has met. They may include unloaded classes, but an object that has just been allocated does
// not belong to one.
class KnownClasses {
 public:
  bool Has(const void* klass) const { return SlotOf(klass).load(std::memory_order_relaxed) == klass; }
  void Add(const void* klass) { SlotOf(klass).store(klass, std::memory_order_relaxed); }

 private:
  static constexpr size_t kSlots = 1 << 14;
  static std::atomic<const void*>& SlotOf(const void* klass) {
    return of_[reinterpret_cast<uintptr_t>(klass) / 8 % kSlots];
  }
  static std::array<std::atomic<const void*>, kSlots> of_;
};
constinit std::array<std::atomic<const void*>, KnownClasses::kSlots> KnownClasses::of_{};

// The threads of the process. Never destroyed, because a thread may end at any time.
std::atomic<CensusThreads*> directory{nullptr};

void Put(const Jvm& jvm, JNIEnv* jni, jthread thread, const void* java_thread, uint32_t os_tid, CensusThreads* into) {
  ThreadIdentity identity;
  jvm.thread_fields.Read(jni, thread, &identity);
  into->Put(java_thread, identity.java_tid, os_tid, identity.Name());
}

}  // namespace

std::atomic<Census*> Census::active{nullptr};
constinit thread_local const void* Census::retiring = nullptr;

Census::Census(const Jvm& jvm, buffer::Ring& ring, const hotspot::ObjectLayout& objects, const CensusThreads& directory,
               const std::optional<CensusDraw>& draw, uint64_t start_ns)
    : jvm_(jvm),
      counters_(ring.header().census),
      threads_(jvm.layout),
      objects_(objects),
      writer_(ring, directory, [&jvm](const void* klass) { return jvm.names.KlassName(klass); }),
      start_ns_(start_ns) {
  if (!draw) return;
  windows_ = std::make_unique<WindowPublisher>(draw->config, start_ns);
  most_per_second_ = draw->most_per_second;
  seed_ = draw->seed;
}

void Census::StartAtSafepoint() {
  if (!NoteUse()) return;
  retirement_watchers.fetch_add(1);
  active.store(this, std::memory_order_release);
}

void Census::CountAtSafepoint() {
  if (!is_active()) return;
  jvm_.threads->ForEach([this](void* java_thread) { LookAt(threads_.TlabAddress(java_thread)); });
  // Objects that have just been counted must not be counted again.
  if (NoteUse()) return;
  active.store(nullptr);
  retirement_watchers.fetch_sub(1);
}

// Marks how far the TLABs in use are filled, so that only later objects count. Returns false without memory.
bool Census::NoteUse() {
  size_t count = 0;
  jvm_.threads->ForEach([&count](void*) { ++count; });
  mark_slots_ = std::bit_ceil(2 * count + 1);
  marks_left_.store(0, std::memory_order_relaxed);
  marks_.reset(new (std::nothrow) Mark[mark_slots_]);
  if (marks_ == nullptr) {
    Add(Count::kUnvisited, 1);
    return false;
  }
  jvm_.threads->ForEach([this](void* java_thread) {
    const hotspot::ThreadLayout::Tlab now = threads_.TlabOf(java_thread);
    if (now.start == now.top) return;
    const void* const tlab = threads_.TlabAddress(java_thread);
    Mark* const mark = MarkOf(tlab);
    mark->tlab = tlab;
    mark->used.store(now.top - now.start, std::memory_order_relaxed);
    marks_left_.fetch_add(1, std::memory_order_relaxed);
  });
  return true;
}

void Census::StopAtSafepoint() {
  if (!is_active()) return;
  jvm_.threads->ForEach([this](void* java_thread) { LookAt(threads_.TlabAddress(java_thread)); });
  active.store(nullptr);
  retirement_watchers.fetch_sub(1);
}

void Census::EndRunning(const std::vector<void*>& threads) {
  Census* self = this;
  if (!active.compare_exchange_strong(self, nullptr)) return;
  retirement_watchers.fetch_sub(1);
  for (const void* const java_thread : threads) {
    const hotspot::ThreadLayout::Tlab tlab = threads_.TlabOf(java_thread);
    const uint64_t used = tlab.top - tlab.start;
    const uint64_t before = std::min(used, TakeMark(threads_.TlabAddress(java_thread)));
    if (used == before) continue;
    Add(Count::kUnvisited, 1);
    Add(Count::kUnvisitedBytes, used - before);
  }
}

void Census::OnTick(uint64_t now_ns) {
  if (windows_ == nullptr) return;
  const auto at = [this](Count what) {
    return counters_.counters[static_cast<size_t>(what)].load(std::memory_order_relaxed);
  };
  (void)windows_->Tick(now_ns, at(Count::kTlabs) + at(Count::kOutside));
}

void Census::LookAt(const void* tlab) {
  const void* const java_thread = threads_.ThreadOfTlab(tlab);
  const hotspot::ThreadLayout::Tlab now = threads_.TlabOf(java_thread);
  const uint64_t used = now.top - now.start;
  if (now.start == 0) return;
  const uint64_t before = std::min(used, TakeMark(tlab));
  if (used == before) return;
  const uint64_t bytes = used - before;
  const double weight = Draw(bytes);
  // Counted after the draw, so that the controller's probability does not depend on this candidate.
  Add(Count::kTlabs, 1);
  Add(Count::kTlabBytes, bytes);
  if (weight > 0) Walk(java_thread, now.start + before, now.top, weight);
}

void Census::OnOutside(const void* java_thread, const void* klass, uint64_t bytes) {
  const double weight = Draw(bytes);
  Add(Count::kOutside, 1);
  Add(Count::kOutsideBytes, bytes);
  if (weight == 0) return;
  ClassCounts::Entry found{reinterpret_cast<uintptr_t>(klass), 1, bytes};
  Add(Count::kWalks, 1);
  Publish(java_thread, weight, {&found, 1}, bytes);
}

void Census::Walk(const void* java_thread, uint64_t begin, uint64_t end, double weight) {
  ClassCounts tally;
  KnownClasses known;
  uint64_t walked = 0, published = 0;
  const auto publish = [&] {
    Publish(java_thread, weight, tally.entries(), walked - published);
    published = walked;
  };
  const bool is_whole = objects_.Walk(begin, end, &known, [&](const void* klass, uint64_t bytes) {
    if (!tally.Add(klass, bytes)) [[unlikely]] {
      publish();
      tally.Clear();
      tally.Add(klass, bytes);
    }
    walked += bytes;
  });
  Add(Count::kWalks, 1);
  publish();
  if (is_whole) return;
  Add(Count::kAborted, 1);
  Add(Count::kAbortedBytes, end - begin - walked);
}

void Census::Publish(const void* java_thread, double weight, std::span<const ClassCounts::Entry> found,
                     uint64_t bytes) {
  Add(Count::kWalkedBytes, bytes);
  writer_.Write(MonotonicNs(), java_thread, weight, found);
}

// Returns the TLAB's mark, or the free entry for it.
Census::Mark* Census::MarkOf(const void* tlab) const {
  size_t slot = throttle::Mix64(reinterpret_cast<uintptr_t>(tlab)) % mark_slots_;
  while (marks_[slot].tlab != nullptr && marks_[slot].tlab != tlab) slot = (slot + 1) % mark_slots_;
  return &marks_[slot];
}

// Called when the TLAB is retired, or the census ends: the thread's next TLAB has no mark.
uint64_t Census::TakeMark(const void* tlab) {
  if (marks_left_.load(std::memory_order_relaxed) == 0) return 0;
  Mark* const mark = MarkOf(tlab);
  const uint64_t used = mark->used.exchange(0, std::memory_order_relaxed);
  if (used != 0) marks_left_.fetch_sub(1, std::memory_order_relaxed);
  return used;
}

// The fewer walks of the second are left, the lower the probability. So a burst rarely uses up all walks, and gets
// larger weights instead.
double Census::Draw(uint64_t bytes) {
  if (windows_ == nullptr) return 1;
  const uint64_t now_ns = MonotonicNs();
  const double left = LeftOf(now_ns);
  const double probability = std::min(windows_->Read().lambda, 1.0) * left * left;
  throttle::Random random(throttle::Mix64(seed_ + draws_.fetch_add(1, std::memory_order_relaxed)));
  if (left > 0 && random.Uniform() >= probability) return 0;
  if (left == 0 || !TryReserveWalk(now_ns)) {
    Add(Count::kOverBudget, 1);
    Add(Count::kOverBudgetBytes, bytes);
    return 0;
  }
  const double weight = 1 / probability;
  (void)windows_->OnPoint({.weight = weight, .effective = weight, .count = 1}, now_ns);
  return weight;
}

// Returns the fraction of the second's walks that is left.
double Census::LeftOf(uint64_t now_ns) const {
  const uint64_t turns = turns_.load(std::memory_order_relaxed);
  if (turns >> 32 != SecondOf(now_ns)) return 1;
  return 1 - static_cast<double>(turns & 0xffffffff) / most_per_second_;
}

bool Census::TryReserveWalk(uint64_t now_ns) {
  const uint64_t second = SecondOf(now_ns);
  uint64_t turns = turns_.load(std::memory_order_relaxed);
  for (;;) {
    const uint64_t taken = turns >> 32 == second ? turns & 0xffffffff : 0;
    // A thread that read the clock in the previous second still belongs to that second.
    if (taken == most_per_second_ || turns >> 32 > second) return false;
    if (turns_.compare_exchange_weak(turns, second << 32 | (taken + 1), std::memory_order_relaxed)) return true;
  }
}

Result<std::unique_ptr<Census>> Census::Make(const Jvm& jvm, buffer::Ring& ring, const std::optional<CensusDraw>& draw,
                                             uint64_t start_ns) {
  auto objects = jvm.Objects();
  if (!objects.ok()) return objects.error();
  if (directory.load() == nullptr) directory.store(new CensusThreads);
  return std::unique_ptr<Census>(new Census(jvm, ring, *objects, *directory.load(), draw, start_ns));
}

void Census::Describe(format::FileHeader* header) const {
  header->census = windows_ != nullptr ? format::CensusMode::kDrawn : format::CensusMode::kAll;
  header->census_per_second = most_per_second_;
}

void Census::RegisterThreads(JNIEnv* jni) {
  jvm_.ForEachThread(jni, [&](jthread thread) {
    const void* const java_thread = jvm_.thread_of.OfThread(jni, thread);
    if (java_thread != nullptr)
      Put(jvm_, jni, thread, java_thread, jvm_.layout.OsTidOfOther(java_thread), directory.load());
  });
}

Status Census::CountInUse() {
  const std::lock_guard lock(ending_);
  if (!is_active()) return Error{"the census has ended"};
  const auto count = [](void* self) { static_cast<Census*>(self)->CountAtSafepoint(); };
  return hotspot::AtSafepoint(jvm_.jvmti, *jvm_.symbols, count, this);
}

void Census::End(JNIEnv* jni) {
  const std::lock_guard lock(ending_);
  if (!is_active()) return;
  const auto end = [](void* self) { static_cast<Census*>(self)->StopAtSafepoint(); };
  const auto stopped = hotspot::AtSafepoint(jvm_.jvmti, *jvm_.symbols, end, this);
  if (!is_active()) return;
  Log(LogLevel::kInfo, "census: cannot stop the threads at a safepoint: {}",
      stopped.ok() ? "" : stopped.error().message);
  EndRunning(jni != nullptr ? jvm_.AllThreads(jni) : std::vector<void*>());
}

void Census::OnThreadStart(const Jvm& jvm, JNIEnv* jni, jthread thread) {
  CensusThreads* const into = directory.load(std::memory_order_acquire);
  if (into == nullptr) return;
  Put(jvm, jni, thread, jvm.thread_of(jni), static_cast<uint32_t>(syscall(SYS_gettid)), into);
}

void Census::OnThreadEnd(const void* java_thread) {
  if (CensusThreads* const known = directory.load(std::memory_order_acquire)) known->Forget(java_thread);
}

}  // namespace heaprec::sources
