// Tables without a living owner. Processes that ended by _exit or were killed leave theirs in shared memory, where
// they can be read: megabytes each. For many processes (a shell's children) that is too much.
//
// Context:  setup, within malloc: no heap.
// Failure:  what cannot be examined stays.
#pragma once

#include <cstddef>

namespace heaprec::native {

inline constexpr size_t kStaleTablesKept = 8;

// Removes this user's tables in `folder` whose process has ended, except for the `keep` youngest. Returns how many. If
// there are very many, some stay until the next call.
size_t RemoveStaleTables(const char* folder, size_t keep);

}  // namespace heaprec::native
