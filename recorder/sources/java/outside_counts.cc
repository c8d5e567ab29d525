#include "recorder/sources/java/outside_counts.h"

#include <algorithm>

#include "format/ring/content_keys.h"
#include "recorder/sources/java/thread_table.h"
#include "recorder/sources/sample/sample_writer.h"

namespace heaprec::sources {
namespace {

constexpr uint32_t kUnnamed = 0, kMaxProbes = 16;
// The drain's own lane hint, as for windows.
constexpr uint32_t kDrainLane = 0;

OutsideClasses::Totals TotalsNow() {
  OutsideClasses::Totals totals{};
  OutsideClasses::Instance().AddTo(&totals);
  ThreadTable::Instance().ForEachEntry([&totals](const ThreadEntry& entry) {
    for (const OutsideSlot& slot : entry.outside) {
      // Acquire: the counts belong to this class (pairs with the release in Add).
      const uint32_t number = slot.class_number.load(std::memory_order_acquire);
      if (number == 0) return;
      totals[number].objects += slot.objects.load(std::memory_order_relaxed);
      totals[number].bytes += slot.bytes.load(std::memory_order_relaxed);
    }
  });
  return totals;
}

}  // namespace

std::atomic<const hotspot::Names*> OutsideClasses::naming{nullptr};

OutsideClasses& OutsideClasses::Instance() {
  static constinit OutsideClasses classes{};
  return classes;
}

void OutsideClasses::AddOfThisThread(std::string_view name, uint64_t bytes) {
  ThreadEntry* const entry = own_entry.entry;
  Instance().Add(name, bytes, entry != nullptr ? &entry->outside : nullptr);
}

// Compares names, not their addresses, because addresses of unloaded classes are reused.
void OutsideClasses::Add(std::string_view name, uint64_t bytes, OutsideSlots* slots) {
  OutsideSlot* free = nullptr;
  for (size_t i = 0; slots != nullptr && i < slots->size(); ++i) {
    OutsideSlot& slot = (*slots)[i];
    const uint32_t number = slot.class_number.load(std::memory_order_relaxed);
    if (number == 0) {
      free = &slot;
      break;
    }
    if (classes_[number].Name() == name) return AddTo(bytes, &slot);
  }
  const uint32_t number = NumberOf(name);
  if (free != nullptr && number != kUnnamed) {
    free->class_number.store(number, std::memory_order_release);
    return AddTo(bytes, free);
  }
  classes_[number].bytes.fetch_add(bytes, std::memory_order_relaxed);
  classes_[number].objects.fetch_add(1, std::memory_order_release);
}

// Only the owner writes, so a plain load and store is sufficient.
void OutsideClasses::AddTo(uint64_t bytes, OutsideSlot* slot) {
  slot->bytes.store(slot->bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  slot->objects.store(slot->objects.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Two threads may meet a class at the same time and give it two numbers; readers add up classes with the same name.
uint32_t OutsideClasses::NumberOf(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes) return kUnnamed;
  const uint64_t hash = format::ClassKey(name);
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
    std::atomic<uint32_t>& slot = numbers_[(hash + probe) % numbers_.size()];
    // Acquire: the name is complete (pairs with the release below).
    uint32_t number = slot.load(std::memory_order_acquire);
    if (number != 0) {
      if (classes_[number].Name() == name) return number;
      continue;
    }
    if (used() == kClasses) return kUnnamed;
    const uint32_t free = given_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (free >= kClasses) return kUnnamed;
    std::ranges::copy(name, classes_[free].name);
    classes_[free].name_bytes = static_cast<uint32_t>(name.size());
    (void)slot.compare_exchange_strong(number, free, std::memory_order_release, std::memory_order_relaxed);
    return free;
  }
  return kUnnamed;
}

void OutsideClasses::AddTo(Totals* totals) const {
  for (uint32_t i = 0; i < used(); ++i) {
    // Acquire: the name is complete (pairs with the release in Add).
    (*totals)[i].objects += classes_[i].objects.load(std::memory_order_acquire);
    (*totals)[i].bytes += classes_[i].bytes.load(std::memory_order_relaxed);
  }
}

void OutsideRecorder::Begin() {
  written_ = TotalsNow();
  OutsideClasses::naming.store(&names_, std::memory_order_release);
}

void OutsideRecorder::End() { OutsideClasses::naming.store(nullptr, std::memory_order_relaxed); }

void OutsideRecorder::OnTick() {
  const OutsideClasses::Totals now = TotalsNow();
  for (uint32_t i = 0; i < OutsideClasses::Instance().used(); ++i) {
    const uint64_t objects = now[i].objects - written_[i].objects, bytes = now[i].bytes - written_[i].bytes;
    // One of the two may include an object that is being counted, and the other not yet.
    if (objects == 0 || bytes < objects) continue;
    if (!writer_.CommitOutside(OutsideClasses::Instance().NameOf(i), objects, bytes, kDrainLane)) return;
    written_[i] = now[i];
  }
}

}  // namespace heaprec::sources
