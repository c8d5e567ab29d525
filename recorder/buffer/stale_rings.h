// Moves the rings of killed processes to the folders of their recordings, where readers find them. Otherwise a crash
// loop would fill the memory. Each ring is copied byte for byte into the folder of its recording, under its own name,
// and then removed.
//
// A ring is removed only if its copy is durable and complete, if it has no data, or if it cannot be copied and is one
// of the oldest beyond the limit. That loss is reported. The limit is four times as high for rings that this process
// cannot copy because of limits that another process may not have (ulimit, memory).
//
// Context:  a separate thread, because it waits for the disk.
// Threads:  any number of processes at once. A ring's owner is alive if it holds a lock on the file. Its pid does not
//           show that: it is 1 in every container. A process that moves a ring holds its lock.
// Failure:  a ring that cannot be examined, copied or removed stays. Rings of other users are not touched.
// Format:   docs/format/ring.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heaprec::buffer {

// Three rings of the usual size: a quarter of a container's /dev/shm.
inline constexpr uint64_t kMaxRingBytesKept = 16 << 20;

struct MovedRings {
  size_t copied = 0;                // copied, then removed
  size_t removed = 0;               // removed because they had no data
  std::vector<std::string> losses;  // one sentence per ring that was removed without a copy
};

// Moves this user's heaprec-*.ring files in `directory` whose owner is dead. Of those that cannot be copied keeps the
// youngest, up to `max_bytes_kept` in total.
MovedRings MoveAbandonedRings(const std::string& directory, uint64_t max_bytes_kept = kMaxRingBytesKept);

}  // namespace heaprec::buffer
