// The library that holds an address, without the loader's locks: whoever asks may stand in malloc, under any lock of
// the program's, and a child of fork must not find the loader's list locked by a thread that it does not have.
//
// Context:  any: no lock, no heap.
// Threads:  any number. The library stays as long as a frame of it is on the caller's stack.
// Failure:  false: no library is there, or none with an ELF header in front.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace heaprec::native {

struct ModuleAt {
  uintptr_t begin = 0, end = 0;    // of what is mapped
  const uint8_t* index = nullptr;  // .eh_frame_hdr; null: it has none
};
bool FindModuleAt(uintptr_t address, ModuleAt* into);

// As dl_iterate_phdr tells it: address, name and segments.
bool DescribeModuleAt(uintptr_t address, dl_phdr_info* into);

// Whether what dl_iterate_phdr says of segments can be read. It lies in the module's first page, which a loader may
// protect, and a program may give back.
bool HasReadableSegments(const dl_phdr_info& info);

}  // namespace heaprec::native
