// The library that holds an address, without the loader's locks: whoever asks may stand in malloc, under any lock of
// the program's, and a child of fork must not find the loader's list locked by a thread that it does not have.
//
// glibc has _dl_find_object for that since 2.35; before, module_snapshot.h.
//
// Context:  any: no lock, no heap.
// Threads:  any number. The library stays as long as a frame of it is on the caller's stack.
// Failure:  false: no library is there, or none with an ELF header in front.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace heaprec::native {

struct ModuleUnwindInfo {
  uintptr_t begin = 0, end = 0;    // of what is mapped
  const uint8_t* index = nullptr;  // .eh_frame_hdr; null: it has none
};
bool LookUpModule(uintptr_t address, ModuleUnwindInfo* into);

// As dl_iterate_phdr tells it: address, name and segments. `name` is room for what nobody else keeps.
bool DescribeModuleAt(uintptr_t address, dl_phdr_info* into, std::span<char> name);

// After libraries were unloaded: what is known of them is forgotten.
void RenewModules();

// Whether what dl_iterate_phdr says of segments can be read. It lies in the module's first page, which a loader may
// protect, and a program may give back.
bool HasReadableSegments(const dl_phdr_info& info);

}  // namespace heaprec::native
