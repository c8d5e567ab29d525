#include "recorder/hotspot/usage/jvm_meter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "format/model/file_description.h"
#include "recorder/hotspot/memory.h"
#include "recorder/hotspot/usage/heap_meter.h"

namespace heaprec::hotspot {
namespace {

using format::AccountItem;
using format::Amount;

constexpr uint64_t kWordBytes = 8;
// Maxima from here on mean "no limit". The JVM's own value for that is the largest number, rounded down to an
// alignment.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;

// One machine word, loaded once: the JVM may be writing it.
uint64_t WordAt(const char* address) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(address), __ATOMIC_RELAXED);
}
uint32_t HalfAt(const char* address) {
  return __atomic_load_n(reinterpret_cast<const uint32_t*>(address), __ATOMIC_RELAXED);
}
const char* PointerIn(const char* address) {
  return reinterpret_cast<const char*>(WordAt(address));  // NOLINT(performance-no-int-to-ptr)
}

uint64_t Sum(const std::vector<const char*>& counters) {
  uint64_t sum = 0;
  for (const char* counter : counters) sum += WordAt(counter);
  return sum;
}

Amount Limit(std::optional<uint64_t> bytes) {
  if (!bytes) return Amount::NotKnown();
  return *bytes >= kNoLimit ? Amount::NoLimit() : Amount::Of(*bytes);
}

Amount Counted(const char* counter) { return counter != nullptr ? Amount::Of(WordAt(counter)) : Amount::NotKnown(); }

template <typename T>
T At(const SymbolTable* symbols, std::string_view name) {
  const auto address = symbols != nullptr ? symbols->FindByPrefix(name) : std::nullopt;
  return address ? reinterpret_cast<T>(*address) : nullptr;  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

JvmMeter JvmMeter::Resolve(const VmStructs& structs, const SymbolTable* symbols, const std::string& gc) {
  JvmMeter meter;
  meter.metaspace_used_ = At<Function>(symbols, kMetaspaceUsed);
  meter.metaspace_committed_ = At<Function>(symbols, kMetaspaceCommitted);
  meter.class_space_used_ = At<Function>(symbols, kClassSpaceUsed);
  meter.class_space_committed_ = At<Function>(symbols, kClassSpaceCommitted);
  meter.code_max_ = At<Function>(symbols, kCodeCacheMax);
  meter.code_free_ = At<Function>(symbols, kCodeCacheFree);
  for (const std::string_view name : kOutOfMemoryErrors) {
    if (const char* const errors = At<const char*>(symbols, name)) meter.out_of_memory_errors_.push_back(errors);
  }
  meter.stack_overflow_errors_ = At<const char*>(symbols, kStackOverflowErrors);

  // Elsewhere what the counters call the old generation is the heap.
  const bool has_old = format::HasOldGeneration(gc);
  ForEachPerfCounter(structs, [&](const PerfCounter& counter) {
    if (counter.is_text) return;
    const auto use = [&counter](std::string_view name, Counter* into) {
      if (counter.name == name) *into = counter.value;
    };
    use("sun.gc.metaspace.used", &meter.metaspace_used_then_);
    use("sun.gc.metaspace.capacity", &meter.metaspace_committed_then_);
    use("sun.gc.compressedclassspace.used", &meter.class_space_used_then_);
    use("sun.gc.compressedclassspace.capacity", &meter.class_space_committed_then_);
    use("java.threads.started", &meter.thread_starts_);
    if (has_old) {
      use("sun.gc.generation.1.space.0.used", &meter.old_used_);
      use("sun.gc.generation.1.capacity", &meter.old_committed_);
      use("sun.gc.generation.1.maxCapacity", &meter.old_max_);
      use("sun.gc.collector.2.invocations", &meter.concurrent_pauses_);
    }
    if (counter.name == "java.cls.loadedClasses" || counter.name == "java.cls.sharedLoadedClasses")
      meter.classes_.push_back(counter.value);
    if (counter.name == "java.cls.unloadedClasses" || counter.name == "java.cls.sharedUnloadedClasses")
      meter.classes_gone_.push_back(counter.value);
  });

  const bool has_class_space = structs.BoolFlag("UseCompressedClassPointers").value_or(true);
  meter.limits_ = {{AccountItem::kHeapMax, Limit(structs.SizeFlag("MaxHeapSize"))},
                   {AccountItem::kMetaspaceMax, Limit(structs.SizeFlag("MaxMetaspaceSize"))},
                   {AccountItem::kCodeMax, Limit(structs.SizeFlag("ReservedCodeCacheSize"))}};
  if (has_class_space)
    meter.limits_.emplace_back(AccountItem::kClassSpaceMax, Limit(structs.SizeFlag("CompressedClassSpaceSize")));

  // Z maps its heap elsewhere, and before 21 three times.
  const auto* const heap_at = static_cast<const char*>(structs.Static("Universe", "_collectedHeap"));
  const auto reserved = structs.Offset("CollectedHeap", "_reserved");
  const auto start = structs.Offset("MemRegion", "_start"), words = structs.Offset("MemRegion", "_word_size");
  if (heap_at != nullptr && reserved && start && words && gc != "Z") {
    const char* const region = PointerIn(heap_at) + *reserved;
    const uint64_t begin = WordAt(region + *start);
    meter.heap_ = {begin, begin + WordAt(region + *words) * kWordBytes};
  }
  const auto* const low = static_cast<const char*>(structs.Static("CodeCache", "_low_bound"));
  const auto* const high = static_cast<const char*>(structs.Static("CodeCache", "_high_bound"));
  if (low != nullptr && high != nullptr) meter.code_ = {WordAt(low), WordAt(high)};
  const auto list = structs.Offset("GrowableArray<int>", "_data"), memory = structs.Offset("CodeHeap", "_memory");
  const auto from = structs.Offset("VirtualSpace", "_low"), to = structs.Offset("VirtualSpace", "_high");
  const auto* const heaps = static_cast<const char*>(structs.Static("CodeCache", "_heaps"));
  if (heaps != nullptr && list && memory && from && to) {
    // JDK 17 gave GrowableArray a base; the count is the first word of either.
    meter.code_heaps_ = {heaps, structs.Offset("GrowableArrayBase", "_len").value_or(0), *list, *memory, *from, *to};
  }
  return meter;
}

Amount JvmMeter::Metaspace(Function words, Counter bytes) const {
  if (words != nullptr) return Amount::Of(words() * kWordBytes);
  // 0 before the first collection.
  return bytes != nullptr && WordAt(bytes) > 0 ? Amount::Of(WordAt(bytes)) : Amount::NotKnown();
}

// The list of heaps is complete before the live phase.
Amount JvmMeter::CodeCommitted() const {
  if (code_heaps_.heaps == nullptr) return Amount::NotKnown();
  const char* const array = PointerIn(code_heaps_.heaps);
  if (array == nullptr) return Amount::NotKnown();
  const char* const list = PointerIn(array + code_heaps_.list);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < HalfAt(array + code_heaps_.count); ++i) {
    const char* const space = PointerIn(list + i * sizeof(void*)) + code_heaps_.memory;
    bytes += WordAt(space + code_heaps_.high) - WordAt(space + code_heaps_.low);
  }
  return Amount::Of(bytes);
}

std::optional<uint64_t> JvmMeter::OldUsed() const {
  return old_used_ != nullptr ? std::optional(WordAt(old_used_)) : std::nullopt;
}

std::optional<uint64_t> JvmMeter::OldMax() const {
  return old_max_ != nullptr ? std::optional(WordAt(old_max_)) : std::nullopt;
}

uint64_t JvmMeter::ConcurrentPauses() const { return concurrent_pauses_ != nullptr ? WordAt(concurrent_pauses_) : 0; }

void JvmMeter::Read(format::ProcessAccount* account) const {
  for (const auto& [item, limit] : limits_) account->Set(item, limit);
  account->Set(AccountItem::kMetaspaceUsed, Metaspace(metaspace_used_, metaspace_used_then_));
  account->Set(AccountItem::kMetaspaceCommitted, Metaspace(metaspace_committed_, metaspace_committed_then_));
  if (std::ranges::any_of(limits_, [](const auto& limit) { return limit.first == AccountItem::kClassSpaceMax; })) {
    account->Set(AccountItem::kClassSpaceUsed, Metaspace(class_space_used_, class_space_used_then_));
    account->Set(AccountItem::kClassSpaceCommitted, Metaspace(class_space_committed_, class_space_committed_then_));
  }
  account->Set(AccountItem::kOldUsed, Counted(old_used_));
  account->Set(AccountItem::kOldCommitted, Counted(old_committed_));
  account->Set(AccountItem::kOldMax, Counted(old_max_));
  account->Set(AccountItem::kCodeCommitted, CodeCommitted());
  const bool knows_code = code_max_ != nullptr && code_free_ != nullptr;
  account->Set(AccountItem::kCodeUsed,
               knows_code ? Amount::Of(code_max_() - std::min(code_max_(), code_free_())) : Amount::NotKnown());
  const bool knows_classes = classes_.size() == 2 && classes_gone_.size() == 2;
  const uint64_t gone = knows_classes ? Sum(classes_gone_) : 0;
  account->Set(AccountItem::kClassesLoaded,
               knows_classes ? Amount::Of(Sum(classes_) - std::min(Sum(classes_), gone)) : Amount::NotKnown());
  account->Set(AccountItem::kThreadStarts, Counted(thread_starts_));
  uint64_t errors = 0;
  for (const char* one : out_of_memory_errors_) errors += HalfAt(one);
  account->Set(AccountItem::kOutOfMemoryErrors,
               out_of_memory_errors_.size() == std::size(kOutOfMemoryErrors) ? Amount::Of(errors) : Amount::NotKnown());
  account->Set(AccountItem::kStackOverflowErrors,
               stack_overflow_errors_ != nullptr ? Amount::Of(HalfAt(stack_overflow_errors_)) : Amount::NotKnown());
}

}  // namespace heaprec::hotspot
