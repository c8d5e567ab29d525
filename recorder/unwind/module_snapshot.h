// Loaded modules, for a glibc before 2.35, which has no _dl_find_object. They are read from /proc when an address is
// first looked up, and stored. The loader's list cannot be read without its lock, and malloc must not wait for that.
//
// Units:    addresses of this process.
// Context:  any: no lock, no heap. Finding an address of an unknown module reads /proc/thread-self/maps, and the
//           module's header through a pipe: five system calls and more. errno is preserved.
// Threads:  any number; a forked child continues with its parent's entries.
// Failure:  nothing is found if /proc is not mounted, no descriptor is free, or there is no module.
// Stale:    an unloaded module is found until Renew.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heaprec::native {

class ModuleSnapshot {
 public:
  struct Module {
    uintptr_t begin = 0, end = 0;  // of the mapped memory; end 0: none
    uintptr_t bias = 0;            // address minus address in the file
    uintptr_t index = 0;           // .eh_frame_hdr; 0: none
    uint64_t file = 0;             // identifies the file
  };

  bool Find(uintptr_t address, Module* into);
  // Removes modules that are no longer at their address.
  void Renew();

 private:
  // `version` is odd while the words change, so that inconsistent ones are not used.
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
  std::atomic<uint32_t> next_{0};  // slot to replace when all are in use
};

// Returns the path of the file that is mapped at `address`, or the kernel's own name of the mapping. Empty if there is
// none, or if it is longer than `into`. Reads /proc; `into` is zero-terminated.
void MappedFileAt(uintptr_t address, std::span<char> into);

}  // namespace heaprec::native
