// Counts all objects outside of TLABs by class, independently of sampling. The hook sees each of them.
//
// A thread adds to the slots of its own entry. If other classes use these slots, it adds to the class itself, which all
// threads share. The drain sums up, and writes the difference since its last tick to the ring.
//
// Context:  AtOutside: alloc, inside a hook: no heap, no lock, no call of the JVM. OutsideRecorder: setup, and drain;
//           Begin also at a safepoint.
// Threads:  AtOutside, Add: any, each with its own slots. One OutsideRecorder at a time.
// Failure:  if the table is full, or a class name is too long, the class is counted together with the classes without a
//           name. A kill loses what was counted since the drain's last tick.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "recorder/hotspot/metadata/names.h"

namespace heaprec::sources {

class SampleWriter;

// The sums never decrease, even when the entry gets another owner.
struct OutsideSlot {
  std::atomic<uint32_t> class_number{0};  // 0: free
  std::atomic<uint64_t> objects{0}, bytes{0};
};
inline constexpr size_t kOutsideSlots = 4;
using OutsideSlots = std::array<OutsideSlot, kOutsideSlots>;

class OutsideClasses {
 public:
  static constexpr uint32_t kClasses = 512, kMaxNameBytes = 228;

  static OutsideClasses& Instance();  // one per process, like ThreadTable

  // The hook. Counts if a recording has activated it.
  static void AtOutside(const void* klass, uint64_t bytes) {
    // Acquire: sees them complete (pairs with the release in OutsideRecorder::Begin).
    if (const hotspot::Names* const names = naming.load(std::memory_order_acquire))
      AddOfThisThread(names->KlassName(klass), bytes);
  }
  // Adds an object of the class `name`. slots: null if the thread has none.
  void Add(std::string_view name, uint64_t bytes, OutsideSlots* slots);

  struct Sums {
    uint64_t objects = 0, bytes = 0;
  };
  // Indexed by class number; 0 is for classes without a name.
  using Totals = std::array<Sums, kClasses>;
  // Adds the sums of the classes below used().
  void AddTo(Totals* totals) const;
  uint32_t used() const { return std::min(given_.load(std::memory_order_relaxed) + 1, kClasses); }
  std::string_view NameOf(uint32_t number) const { return classes_[number].Name(); }

 private:
  friend class OutsideRecorder;
  struct alignas(64) Class {
    std::atomic<uint64_t> objects{0}, bytes{0};
    uint32_t name_bytes = 0;
    char name[kMaxNameBytes] = {};
    std::string_view Name() const { return {name, name_bytes}; }
  };

  static void AddOfThisThread(std::string_view name, uint64_t bytes);
  uint32_t NumberOf(std::string_view name);
  static void AddTo(uint64_t bytes, OutsideSlot* slot);

  static std::atomic<const hotspot::Names*> naming;  // null: not counting

  // Finds a class by its name: open addressing.
  std::array<std::atomic<uint32_t>, 2 * kClasses> numbers_;
  std::atomic<uint32_t> given_{0};  // assigned numbers, from 1
  std::array<Class, kClasses> classes_;
};

// Writes a recording's sums of objects outside of TLABs.
class OutsideRecorder {
 public:
  // Both arguments must outlive this; `names` must never be destroyed, because a thread may be inside the hook.
  OutsideRecorder(SampleWriter& writer, const hotspot::Names& names) : writer_(writer), names_(names) {}
  void Begin();
  static void End();
  // Writes to a lane what was counted since the last tick. Without space in the lane, the next tick writes it.
  void OnTick();

 private:
  SampleWriter& writer_;
  const hotspot::Names& names_;
  OutsideClasses::Totals written_{};
};

}  // namespace heaprec::sources
