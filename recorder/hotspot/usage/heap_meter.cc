#include "recorder/hotspot/usage/heap_meter.h"

#include <algorithm>
#include <cstring>

#include "format/model/file_description.h"

namespace heaprec::hotspot {
namespace {

constexpr std::string_view kNoCause = "No GC";

// Loads one machine word once, because the JVM may be writing it.
uint64_t Load(const char* address) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(address), __ATOMIC_RELAXED);
}
const char* LoadPointer(const char* address) { return reinterpret_cast<const char*>(Load(address)); }

uint64_t Sum(const std::vector<const char*>& addresses) {
  uint64_t sum = 0;
  for (const char* address : addresses) sum += Load(address);
  return sum;
}

// "sun.gc.generation.0.capacity" matches "sun.gc.generation.*.capacity"; a star matches one word without dots.
bool Fits(std::string_view name, std::string_view pattern) {
  for (;;) {
    const size_t dot = name.find('.'), pattern_dot = pattern.find('.');
    const std::string_view word = pattern.substr(0, pattern_dot);
    if (word != "*" && word != name.substr(0, dot)) return false;
    if (dot == std::string_view::npos || pattern_dot == std::string_view::npos) return dot == pattern_dot;
    name.remove_prefix(dot + 1);
    pattern.remove_prefix(pattern_dot + 1);
  }
}

// The layout that jstat reads: version 2.0, the same in every JDK since 5.
struct Prologue {
  uint32_t magic;  // always big endian
  uint8_t byte_order, major, minor, accessible;
  int32_t used, overflow;
  int64_t changed;
  int32_t entry_offset, entries;
};
static_assert(sizeof(Prologue) == 32 && offsetof(Prologue, entry_offset) == 24);
struct Entry {
  int32_t bytes, name_offset, vector_length;
  uint8_t type, flags, units, variability;
  int32_t value_offset;
};
static_assert(sizeof(Entry) == 20);
constexpr uint32_t kMagic = 0xc0c0feca;  // the bytes ca fe c0 c0 loaded in little endian
constexpr uint8_t kLittleEndian = 1, kMajor = 2;
constexpr uint8_t kByte = 'B', kLong = 'J';

}  // namespace

HeapMeter HeapMeter::Resolve(const VmStructs& structs, const SymbolTable* symbols, const std::string& gc) {
  HeapMeter meter;
  meter.UseStructs(structs, gc);
  meter.UseCounters(structs, gc);
  meter.UseOrderOf(gc);
  // Shenandoah's cycles increment _total_collections only if they end in a pause that collects everything.
  if (gc == "Shenandoah") {
    const auto next = symbols != nullptr ? symbols->FindByPrefix(kNextGcId) : std::nullopt;
    meter.collections_ = next ? reinterpret_cast<const char*>(*next) : nullptr;  // NOLINT(performance-no-int-to-ptr)
  }
  return meter;
}

HeapMeter HeapMeter::ForTest(const std::string& gc, const uint32_t* collections, std::span<const char> cause) {
  HeapMeter meter;
  meter.UseOrderOf(gc);
  meter.collections_ = reinterpret_cast<const char*>(collections);
  meter.cause_ = {cause.data(), cause.size()};
  return meter;
}

// ZGC sets the cause, then raises _total_collections in the first pause: ZDriverGCScope (zDriver.cpp; ZDriverScopeMinor
// and ZDriverScopeMajor from 21 on), then VM_ZMarkStart... (zDriver.cpp; zGeneration.cpp from 21 on). Shenandoah takes
// its number first: GCIdMark before ShenandoahGCSession, whose constructor sets the cause
// (ShenandoahControlThread::service_concurrent_normal_cycle, shenandoahUtils.cpp).
void HeapMeter::UseOrderOf(const std::string& gc) {
  is_concurrent_ = format::IsConcurrent(gc);
  counts_before_cause_ = gc == "Shenandoah";
}

// The counters of used bytes are updated after each collection, or every 50 ms only: before a collection they miss
// everything allocated since.
void HeapMeter::UseStructs(const VmStructs& structs, const std::string& gc) {
  const void* const heap_pointer = structs.Static("Universe", "_collectedHeap");
  if (heap_pointer == nullptr) return;
  const char* const heap = LoadPointer(static_cast<const char*>(heap_pointer));
  if (heap == nullptr) return;
  const auto field = [&structs](const char* object, std::string_view type, std::string_view name) -> const char* {
    const auto offset = structs.Offset(type, name);
    return object != nullptr && offset ? object + *offset : nullptr;
  };
  const auto pointee = [](const char* address) { return address == nullptr ? nullptr : LoadPointer(address); };
  collections_ = field(heap, "CollectedHeap", "_total_collections");
  if (gc == "G1") used_ = field(heap, "G1CollectedHeap", "_summary_bytes_used");
  if (gc == "Shenandoah") {
    used_ = field(heap, "ShenandoahHeap", "_used");
    const char* const whole = pointee(field(heap, "ShenandoahHeap", "_global_generation"));
    if (used_ == nullptr) used_ = field(whole, "ShenandoahGeneration", "_used");
    const char* const free_set = pointee(field(heap, "ShenandoahHeap", "_free_set"));  // 26 and later
    if (used_ == nullptr) used_ = field(free_set, "ShenandoahFreeSet", "_total_global_used");
  }
  const auto add = [this](std::initializer_list<const char*> holders, std::optional<size_t> bottom,
                          std::optional<size_t> top) {
    if (!bottom || !top || std::count(holders.begin(), holders.end(), nullptr) > 0) return;
    for (const char* holder : holders) spaces_.push_back({reinterpret_cast<const char* const*>(holder), *bottom, *top});
  };
  if (gc == "Serial") {
    const char* const type = structs.Offset("SerialHeap", "_young_gen") ? "SerialHeap" : "GenCollectedHeap";
    const char* const young = pointee(field(heap, type, "_young_gen"));
    const char* const old = pointee(field(heap, type, "_old_gen"));
    auto bottom = structs.Offset("ContiguousSpace", "_bottom");
    if (!bottom) bottom = structs.Offset("Space", "_bottom");
    add({field(young, "DefNewGeneration", "_eden_space"), field(young, "DefNewGeneration", "_from_space"),
         field(old, "TenuredGeneration", "_the_space")},
        bottom, structs.Offset("ContiguousSpace", "_top"));
  }
  if (gc == "Parallel") {
    const char* const young = pointee(static_cast<const char*>(structs.Static("ParallelScavengeHeap", "_young_gen")));
    const char* const old = pointee(static_cast<const char*>(structs.Static("ParallelScavengeHeap", "_old_gen")));
    auto bottom = structs.Offset("MutableSpace", "_bottom");
    if (!bottom) bottom = structs.Offset("ImmutableSpace", "_bottom");
    add({field(young, "PSYoungGen", "_eden_space"), field(young, "PSYoungGen", "_from_space"),
         field(old, "PSOldGen", "_object_space")},
        bottom, structs.Offset("MutableSpace", "_top"));
  }
}

void HeapMeter::UseCounters(const VmStructs& structs, const std::string& gc) {
  const bool has_old_generation = format::HasOldGeneration(gc);
  ForEachPerfCounter(structs, [&](const PerfCounter& counter) {
    const std::string_view name = counter.name;
    if (counter.is_text) {
      if (name == "sun.gc.cause") cause_ = {counter.value, counter.bytes};
      if (name == "sun.gc.lastCause") last_cause_ = {counter.value, counter.bytes};
      return;
    }
    if (Fits(name, "sun.gc.generation.*.space.*.used")) used_of_spaces_.push_back(counter.value);
    if (Fits(name, "sun.gc.generation.*.capacity")) capacities_.push_back(counter.value);
    if (name == "java.threads.live") live_threads_ = counter.value;
    if (has_old_generation && name == "sun.gc.collector.1.invocations") full_collections_ = counter.value;
    if (has_old_generation && name == "sun.gc.collector.2.invocations") concurrent_pauses_ = counter.value;
  });
}

uint64_t HeapMeter::Used() const {
  if (used_ != nullptr) return Load(used_);
  if (spaces_.empty()) return Sum(used_of_spaces_);
  uint64_t used = 0;
  for (const Space& space : spaces_) {
    const char* const at = LoadPointer(reinterpret_cast<const char*>(space.holder));
    if (at == nullptr) continue;
    const uint64_t bottom = Load(at + space.bottom), top = Load(at + space.top);
    if (top > bottom) used += top - bottom;
  }
  return used;
}

uint64_t HeapMeter::Committed() const { return Sum(capacities_); }

uint32_t HeapMeter::LiveThreads() const {
  return live_threads_ == nullptr ? 0 : static_cast<uint32_t>(Load(live_threads_));
}

uint64_t HeapMeter::Collections() const {
  return collections_ == nullptr ? 0
                                 : __atomic_load_n(reinterpret_cast<const uint32_t*>(collections_), __ATOMIC_ACQUIRE);
}

// A cycle has two pauses. If a full collection ends it before its cleanup, or its remark is repeated because the mark
// stack overflowed, later cycles are counted at their cleanup instead of their remark. Both are rare.
std::optional<uint64_t> HeapMeter::OldCollections() const {
  if (full_collections_ == nullptr) return std::nullopt;
  return Load(full_collections_) + (concurrent_pauses_ != nullptr ? (Load(concurrent_pauses_) + 1) / 2 : 0);
}

// The JVM stores the cause of a collection until its end. So this reads the count first: if there is no cause
// afterwards, all counted collections that had a cause by then have ended. If a collection is counted before it has a
// cause, one of its pauses shows that it had one.
uint64_t HeapMeter::CollectionsEnded(uint64_t paused_in) const {
  const uint64_t begun = Collections();  // acquire: later reads are newer
  if (!is_concurrent_ || begun == 0) return begun;
  char cause[8];
  const bool is_idle = cause_.value != nullptr && !cause_.CopyTo(cause, sizeof(cause));
  const bool had_cause = !counts_before_cause_ || paused_in == begun;
  return is_idle && had_cause ? begun : begun - 1;
}

bool HeapMeter::PerfText::CopyTo(char* into, size_t size) const {
  std::memset(into, 0, size);
  if (value == nullptr) return false;
  const std::string_view text(value, strnlen(value, std::min(size, bytes)));
  if (text == kNoCause) return false;
  std::memcpy(into, text.data(), text.size());
  return true;
}

void HeapMeter::Cause(char* into, size_t size) const { (void)cause_.CopyTo(into, size); }

void HeapMeter::LastCause(char* into, size_t size) const {
  if (!cause_.CopyTo(into, size)) (void)last_cause_.CopyTo(into, size);
}

void ForEachPerfCounter(const VmStructs& structs, const std::function<void(const PerfCounter&)>& visit) {
  const void* const start = structs.Static("PerfMemory", "_start");
  const void* const capacity_at = structs.Static("PerfMemory", "_capacity");
  if (start == nullptr || capacity_at == nullptr) return;
  const char* memory = nullptr;
  size_t capacity = 0;
  std::memcpy(&memory, start, sizeof(memory));
  std::memcpy(&capacity, capacity_at, sizeof(capacity));
  Prologue prologue;
  if (memory == nullptr || capacity < sizeof(prologue)) return;
  std::memcpy(&prologue, memory, sizeof(prologue));
  if (prologue.magic != kMagic || prologue.byte_order != kLittleEndian || prologue.major != kMajor) return;
  size_t at = static_cast<size_t>(prologue.entry_offset);
  for (int32_t i = 0; i < prologue.entries && at + sizeof(Entry) <= capacity; ++i) {
    Entry entry;
    std::memcpy(&entry, memory + at, sizeof(entry));
    const auto bytes = static_cast<size_t>(entry.bytes), name = static_cast<size_t>(entry.name_offset),
               value = static_cast<size_t>(entry.value_offset);
    if (entry.bytes <= 0 || bytes > capacity - at || name >= bytes || value >= bytes) return;
    const bool is_text = entry.vector_length > 0;
    const size_t size = is_text ? static_cast<size_t>(entry.vector_length) : sizeof(int64_t);
    const std::string_view text(memory + at + name, strnlen(memory + at + name, bytes - name));
    if (size <= bytes - value && entry.type == (is_text ? kByte : kLong)) {
      visit({text, memory + at + value, size, is_text});
    }
    at += bytes;
  }
}

}  // namespace heaprec::hotspot
