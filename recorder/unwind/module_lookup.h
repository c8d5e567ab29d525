// Finds the library that contains an address, without the loader's locks. The caller may be in malloc, under any lock
// of the program's. A child of fork must not find the loader's list locked by a thread that it does not have.
//
// glibc 2.35 and later have _dl_find_object for this; elsewhere see module_snapshot.h.
//
// Context:  any: no lock, no heap.
// Threads:  any number. The library stays as long as a frame of it is on the caller's stack.
// Failure:  false: no library is there, or none that begins with an ELF header.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

namespace heaprec::native {

struct ModuleUnwindInfo {
  uintptr_t begin = 0, end = 0;    // of what is mapped
  const uint8_t* index = nullptr;  // .eh_frame_hdr; null: it has none
};
bool LookUpModule(uintptr_t address, ModuleUnwindInfo* into);

// Address, name and segments, as dl_iterate_phdr reports them. `name`: memory for a name that has no other owner.
bool DescribeModuleAt(uintptr_t address, dl_phdr_info* into, std::span<char> name);

// Call after libraries were unloaded: forgets what is known about them.
void RenewModules();

// Whether the segments that dl_iterate_phdr reports can be read. They are in the module's first page, which a loader
// may protect, and a program may unmap.
bool HasReadableSegments(const dl_phdr_info& info);

// The next two: precondition HasReadableSegments. From the first mapped byte to the last; empty if nothing is.
struct AddressRange {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  bool Has(uintptr_t address) const { return begin <= address && address < end; }
};
AddressRange MappedRange(const dl_phdr_info& info);
// The bytes of the module's build id; empty if it has none, or it cannot be read.
std::span<const char> BuildIdOf(const dl_phdr_info& info);

}  // namespace heaprec::native
