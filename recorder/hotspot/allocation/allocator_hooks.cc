#include "recorder/hotspot/allocation/allocator_hooks.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "recorder/hotspot/vtable_slots.h"

namespace heaprec::hotspot {
namespace {

// oop MemAllocator::initialize(HeapWord* memory) const
using Initialize = void* (*)(const uintptr_t* allocator, void* memory);

constexpr size_t kFunctions = std::size(kAllocatorInitialize);

struct Function {
  std::optional<VtableSlots> slots;
  uintptr_t original = 0;
  bool installed = false;
};
// Never reset: a thread may still execute a replacement that was removed.
std::array<Function, kFunctions> functions;
std::array<std::atomic<Initialize>, kFunctions> originals;
// Written before the first slot changes.
std::optional<ThreadLayout> threads;
AllocationEntries entries;

// A MemAllocator's words: vtable, up to 17 its heap, then thread, klass and size in words. This is the index of the
// thread's word; 0 until a self-test has verified it, because a wrong index would make any word look like a thread.
std::atomic<size_t> thread_word{0};
// The index that the known thread's allocations show; used for that thread only.
std::atomic<size_t> tested_word{0};
std::atomic<const void*> known_thread{nullptr};

struct Allocation {
  void* java_thread;
  size_t bytes;
};

Allocation AllocationAt(const uintptr_t* allocator, size_t word) {
  constexpr size_t kThreadToSize = 2;
  return {reinterpret_cast<void*>(allocator[word]),  // NOLINT(performance-no-int-to-ptr)
          allocator[word + kThreadToSize] * sizeof(uintptr_t)};
}

// Returns the index of the thread's word as an allocation of the known thread shows it; the agent's self-test then
// compares the sizes. 0: the allocation is of another thread.
size_t WordUnderTest(const uintptr_t* allocator) {
  for (const size_t word : {size_t{1}, size_t{2}}) {
    if (AllocationAt(allocator, word).java_thread != known_thread.load(std::memory_order_relaxed)) continue;
    tested_word.store(word, std::memory_order_relaxed);
    return word;
  }
  return 0;
}

template <size_t I>
void* OnInitialize(const uintptr_t* allocator, void* memory) {
  size_t word = thread_word.load(std::memory_order_relaxed);
  if (word == 0) word = WordUnderTest(allocator);
  const Initialize original = originals[I].load(std::memory_order_relaxed);
  if (word == 0) return original(allocator, memory);
  const Allocation allocation = AllocationAt(allocator, word);
  // Computed before the call: ZGC allows safepoints while it clears a large array, and those retire TLABs.
  const bool refill = threads->IsFirstOfTlab(allocation.java_thread, memory, allocation.bytes);
  const bool outside = !refill && !threads->InTlab(allocation.java_thread, memory);
  void* const object = original(allocator, memory);
  if (refill) entries.on_refill(allocation.java_thread, allocation.bytes);
  if (outside) entries.on_outside(allocation.java_thread, allocation.bytes);
  return object;
}

template <size_t... I>
constexpr std::array<Initialize, kFunctions> Replacements(std::index_sequence<I...>) {
  return {&OnInitialize<I>...};
}
constexpr std::array<Initialize, kFunctions> kReplacements = Replacements(std::make_index_sequence<kFunctions>());

Status FindSlots(const LibJvm& libjvm, const SymbolTable& symbols) {
  for (size_t i = 0; i < kFunctions; ++i) {
    if (functions[i].slots) continue;
    const auto address = symbols.FindByPrefix(kAllocatorInitialize[i]);
    const bool everywhere = i < kAllocatorsEverywhere;
    if (!address && everywhere) return Error{symbols.origin() + ": no symbols of the allocators"};
    if (!address) continue;
    auto slots = VtableSlots::Find(libjvm, *address);
    if (!slots.ok() && everywhere) return slots.error();
    if (!slots.ok()) continue;
    functions[i].slots = std::move(*slots);
    functions[i].original = *address;
    originals[i].store(reinterpret_cast<Initialize>(*address));  // NOLINT(performance-no-int-to-ptr)
  }
  return {};
}

}  // namespace

Status InstallAllocatorHooks(const LibJvm& libjvm, const SymbolTable& symbols, const ThreadLayout& layout,
                             const void* thread, AllocationEntries to) {
  auto found = FindSlots(libjvm, symbols);
  if (!found.ok()) return found;
  if (!threads) threads = layout;
  entries = to;
  tested_word.store(thread_word.load(std::memory_order_relaxed), std::memory_order_relaxed);
  known_thread.store(thread, std::memory_order_relaxed);
  for (size_t i = 0; i < kFunctions; ++i) {
    Function& function = functions[i];
    if (!function.slots || function.installed) continue;
    auto pointed = function.slots->Point(reinterpret_cast<uintptr_t>(kReplacements[i]));
    if (!pointed.ok()) {
      (void)RemoveAllocatorHooks();  // undoes the earlier ones; the first reason is the one to report
      return pointed;
    }
    function.installed = true;
  }
  return {};
}

void TrustAllocatorHooks() {
  thread_word.store(tested_word.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

Status RemoveAllocatorHooks() {
  for (Function& function : functions) {
    if (!function.installed) continue;
    auto pointed = function.slots->Point(function.original);
    if (!pointed.ok()) return pointed;
    function.installed = false;
  }
  return {};
}

}  // namespace heaprec::hotspot
