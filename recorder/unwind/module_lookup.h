// Finds the library that contains an address, without the loader's locks. The caller may be in malloc and hold any lock
// of the program. In a forked child, the loader's list may be locked by a thread that does not exist there.
//
// glibc 2.35 and later have _dl_find_object for this; elsewhere see module_snapshot.h.
//
// Context:  any: no lock, no heap.
// Threads:  any number. The library stays loaded as long as a frame of it is on the caller's stack.
// Failure:  returns false if there is no library, or it does not begin with an ELF header.
#pragma once

#include <link.h>

#include <cstdint>
#include <span>

namespace heaprec::native {

struct ModuleUnwindInfo {
  uintptr_t begin = 0, end = 0;    // of the mapped memory
  const uint8_t* index = nullptr;  // .eh_frame_hdr; null: none
};
bool LookUpModule(uintptr_t address, ModuleUnwindInfo* into);

// Returns address, name and segments like dl_iterate_phdr. `name`: memory for a name that has no other owner.
bool DescribeModuleAt(uintptr_t address, dl_phdr_info* into, std::span<char> name);

// Call after libraries were unloaded: removes cached information about them.
void RenewModules();

// Whether the segments that dl_iterate_phdr reports can be read. They are in the module's first page, which a loader
// may protect and a program may unmap.
bool HasReadableSegments(const dl_phdr_info& info);

// Precondition of the next two functions: HasReadableSegments. The range from the first mapped byte to the last; empty
// if nothing is mapped.
struct AddressRange {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  bool Has(uintptr_t address) const { return begin <= address && address < end; }
};
AddressRange MappedRange(const dl_phdr_info& info);
// Returns the bytes of the module's build id; empty if it has none, or it cannot be read.
std::span<const char> BuildIdOf(const dl_phdr_info& info);

}  // namespace heaprec::native
