// Rings that killed processes left behind: readers still salvage from them, but a crash loop must not fill the tmpfs.
//
// Context:  setup.
// Threads:  any number of processes at once: whether a ring's owner lives is told by its lock on the file, not by its
// pid,
//           which is 1 in every container.
// Failure:  none: what cannot be looked at or removed stays.
#pragma once

#include <cstddef>
#include <string>

namespace heaprec::buffer {

// 16 MiB at the usual ring size: a quarter of a container's /dev/shm.
inline constexpr size_t kStaleRingsKept = 4;

// Removes this user's heaprec-*.ring files in `directory` that nobody holds, but for the `keep` youngest. Returns how
// many.
size_t RemoveStaleRings(const std::string& directory, size_t keep);

}  // namespace heaprec::buffer
