// Memory of which little is used: only pages that were touched become resident. Where transparent huge pages are always
// on, one byte would otherwise cost 2 MiB, and the time to clear them.
//
// Context:  setup.
#pragma once

#include <cstddef>

namespace heaprec::buffer {

// Zeros; null: there is no memory.
void* MapSparse(size_t bytes);
void UnmapSparse(void* memory, size_t bytes);

// The same for memory that is there; only whole pages within it.
void KeepSparse(void* memory, size_t bytes);

}  // namespace heaprec::buffer
