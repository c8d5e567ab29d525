// Rings that killed processes left behind. Their recordings are read with them, but memory must not fill up in a crash
// loop: each ring is copied, byte for byte, into the folder of its recording, under its own name, and then removed.
//
// A ring is removed only when its copy is durable and complete, when it holds nothing, or when it cannot be copied and
// is one of the oldest beyond the bound. That loss is reported.
//
// Context:  a thread of its own: it waits for the disk.
// Threads:  any number of processes at once: whether a ring's owner lives is told by its lock on the file, not by its
//           pid, which is 1 in every container. Who moves a ring holds its lock.
// Failure:  a ring stays that cannot be examined, copied or removed. Rings of other users are theirs.
// Format:   docs/format/ring.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heaprec::buffer {

// Three at the usual ring size: a quarter of a container's /dev/shm.
inline constexpr uint64_t kMaxRingBytesKept = 16 << 20;

struct MovedRings {
  size_t copied = 0;                // and removed
  size_t removed = 0;               // that held nothing
  std::vector<std::string> losses;  // a sentence for each that was removed without a copy
};

// Moves this user's heaprec-*.ring files in `directory` that nobody holds. Those that cannot be copied stay, the
// youngest first, up to `max_bytes_kept` in all.
MovedRings MoveAbandonedRings(const std::string& directory, uint64_t max_bytes_kept = kMaxRingBytesKept);

}  // namespace heaprec::buffer
