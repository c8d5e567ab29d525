// Memory of which little is used: only pages that were touched become resident. Where transparent huge pages are always
// on, one byte would otherwise cost 2 MiB, and the time to clear them.
//
// Context:  setup.
#pragma once

#include <cstddef>

namespace heaprec {

// Returns zeroed memory, or null if there is none.
void* MapSparse(size_t bytes);
void UnmapSparse(void* memory, size_t bytes);

// Disables huge pages for memory that exists; affects only whole pages inside it.
void KeepSparse(void* memory, size_t bytes);

}  // namespace heaprec
