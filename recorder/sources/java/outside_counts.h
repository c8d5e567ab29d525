// Objects outside of TLABs, counted by class, whatever is sampled. The hook sees each of them.
//
// A thread adds to the slots of its own entry. Where another class has these it adds to the class itself, which all
// threads share. The drain adds up, and takes down in the ring what has come since.
//
// Context:  AtOutside: alloc, inside a hook: no heap, no lock, no call of the JVM. OutsideRecorder: setup, and drain;
//           Begin also at a safepoint.
// Threads:  AtOutside, Add: any, each with its own slots. One OutsideRecorder at a time.
// Failure:  a class for which there is no room, or whose name is too long, is counted with all such as one without a
//           name. A kill loses what came since the drain's last tick.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "recorder/hotspot/metadata/names.h"

namespace heaprec::sources {

class SampleWriter;

// The sums never decrease, whoever owns the entry.
struct OutsideSlot {
  std::atomic<uint32_t> class_number{0};  // 0: free
  std::atomic<uint64_t> objects{0}, bytes{0};
};
inline constexpr size_t kOutsideSlots = 4;
using OutsideSlots = std::array<OutsideSlot, kOutsideSlots>;

class OutsideClasses {
 public:
  static constexpr uint32_t kClasses = 512, kMaxNameBytes = 228;

  static OutsideClasses& Instance();  // one per process, as ThreadTable

  // The hook. Counts while a recording has begun to.
  static void AtOutside(const void* klass, uint64_t bytes) {
    // Acquire: sees them as they were built (pairs with the release in OutsideRecorder::Begin).
    if (const hotspot::Names* const names = naming.load(std::memory_order_acquire))
      AddOfThisThread(names->KlassName(klass), bytes);
  }
  // An object of the class `name` was allocated. slots: null if the thread has none.
  void Add(std::string_view name, uint64_t bytes, OutsideSlots* slots);

  struct Sums {
    uint64_t objects = 0, bytes = 0;
  };
  // The index is the number of the class; 0 is for classes without a name.
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

  static std::atomic<const hotspot::Names*> naming;  // null: nothing is counted

  // Finds a class by its name: open addressing.
  std::array<std::atomic<uint32_t>, 2 * kClasses> numbers_;
  std::atomic<uint32_t> given_{0};  // numbers, from 1
  std::array<Class, kClasses> classes_;
};

// Writes what a recording's objects outside of TLABs add up to.
class OutsideRecorder {
 public:
  // Both arguments must outlive it; `names` for ever, because a thread may be inside the hook.
  OutsideRecorder(SampleWriter& writer, const hotspot::Names& names) : writer_(writer), names_(names) {}
  void Begin();
  static void End();
  // Writes what has come since the last tick to a lane. What finds no room there waits for the next one.
  void OnTick();

 private:
  SampleWriter& writer_;
  const hotspot::Names& names_;
  OutsideClasses::Totals written_{};
};

}  // namespace heaprec::sources
