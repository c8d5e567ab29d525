// Removes tables whose process has ended. A process that called _exit or was killed leaves its table in shared memory,
// where it can be read: megabytes each, which is too much for many processes (a shell's children).
//
// Context:  setup, within malloc: no heap.
// Failure:  a table that cannot be examined stays.
#pragma once

#include <cstddef>

namespace heaprec::native {

inline constexpr size_t kStaleTablesKept = 8;

// Removes this user's tables in `folder` whose process has ended, except for the `keep` youngest. Returns their number.
// If there are very many, some stay until the next call.
size_t RemoveStaleTables(const char* folder, size_t keep);

}  // namespace heaprec::native
