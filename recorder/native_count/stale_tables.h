// Tables that nobody has finished: processes that ended by _exit or were killed leave theirs in memory, megabytes each,
// where they can be read. Of many processes (a shell's children) that is too much.
//
// Context:  setup, within malloc: no heap.
// Failure:  what cannot be looked at stays.
#pragma once

#include <cstddef>

namespace heaprec::native {

inline constexpr size_t kStaleTablesKept = 8;

// Those in `folder` of our user whose process is gone, but for the `keep` youngest. Answers how many. Of very many some
// stay for the next time.
size_t RemoveStaleTables(const char* folder, size_t keep);

}  // namespace heaprec::native
