// Loaded modules, for a glibc before 2.35, which has no _dl_find_object. They are read from /proc when an address is
// asked for the first time, and kept: the loader's list cannot be read without its lock, and malloc may not wait for
// that.
//
// Units:    addresses of this process.
// Context:  any: no lock, no heap. Find of an address of a module that is not known yet reads /proc/thread-self/maps,
//           and the module's header through a pipe: five system calls and more. errno is kept.
// Threads:  any number; a child of fork goes on with what its parent knew.
// Failure:  nothing is found: /proc is not mounted, no descriptor is free, no module is there.
// Stale:    a module that was unloaded is found until Renew.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heaprec::native {

class ModuleSnapshot {
 public:
  struct Module {
    uintptr_t begin = 0, end = 0;  // of what is mapped; end 0: none
    uintptr_t bias = 0;            // address less that in the file
    uintptr_t index = 0;           // .eh_frame_hdr; 0: it has none
    uint64_t file = 0;             // tells files apart
  };

  bool Find(uintptr_t address, Module* into);
  // Forgets modules that are not where they were.
  void Renew();

 private:
  // Torn words are not used: `version` is odd while they change.
  struct Slot {
    std::atomic<uint32_t> version{0};
    std::atomic<uintptr_t> begin{0}, end{0}, bias{0}, index{0};
    std::atomic<uint64_t> file{0};

    bool Read(Module* into) const;
    bool Replace(const Module& before, const Module& by);
  };
  static constexpr size_t kSlots = 512;

  bool FindKnown(uintptr_t address, Module* into) const;
  void Keep(const Module& module);

  Slot slots_[kSlots];
  std::atomic<uint32_t> next_{0};  // the slot that goes when all are taken
};

// The path of the file that is mapped at `address`, or the kernel's own name of the mapping; empty: there is none, or
// it is longer than `into`. Reads /proc; `into` ends with a zero.
void MappedFileAt(uintptr_t address, std::span<char> into);

}  // namespace heaprec::native
