// Named points of the recorder's code at which a test ends the process with SIGKILL.
//
// The points are passed by link_seams.cc and jvm_link_seams.cc, which the linker puts between the recorder's parts and
// between them and libc (--wrap): the recorder itself knows nothing of them.
//
// Threads:  Arm: one, before the others are there. The rest: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace heaprec::crash {

// In the order in which a recording, then a sample, then a block passes them.
inline constexpr auto kPoints = std::to_array<std::string_view>({
    "ring.creating",
    "ring.allocating",
    "ring.allocated",
    "ring.created",
    "file.creating",
    "file.created",
    "drain.starting",
    "drain.started",
    // A sample.
    "lease.taking",
    "lease.taken",
    "lease.letting_go",
    "lease.let_go",
    "class.reserving",
    "class.reserved",
    "class.committing",
    "class.committed",
    "method.reserving",
    "method.reserved",
    "method.committing",
    "method.committed",
    "stack.reserving",
    "stack.reserved",
    "stack.committing",
    "stack.committed",
    "thread.reserving",
    "thread.reserved",
    "thread.committing",
    "thread.committed",
    "window.reserving",
    "window.reserved",
    "window.committing",
    "window.committed",
    "sample.reserving",
    "sample.reserved",
    "sample.committing",
    "sample.committed",
    // A block.
    "scan.begin",
    "scan.lane",
    "scan.lane_done",
    "scan.end",
    "interval.closing",
    "interval.closed",
    "block.encoding",
    "block.encoded",
    "rows.filling",
    "rows.half_filled",
    "rows.filled",
    "block.appending",
    "block.half_written",
    "block.appended",
    "block.releasing",
    "block.released",
    "block.taking_back",
    "block.taken_back",
    "sync.begin",
    "sync.end",
    // A chunk, a file.
    "chunk.beginning",
    "chunk.begun",
    "chunk.finishing",
    "chunk.finished",
    "rotation.opened",
    "rotation.turning",
    "rotation.turned",
    "copy.renaming",
    "copy.renamed",
    // The end.
    "stop.requested",
    "end.finishing",
    "end.finished",
    "ring.closing",
    "name.removing",
    "name.removed",
});

// Of this thread, so far.
inline thread_local uint64_t samples_committed = 0;

// An environment variable of the long forms.
inline uint64_t NumberIn(const char* name, uint64_t otherwise) {
  const char* const value = getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

// Called with each NativePointRecord once it has been committed, inside malloc. Null: no call.
inline void (*native_point_committed)(const void* record) = nullptr;

// The process dies at the `passing`-th (from 1) passing of `point`, which is one of kPoints, or of the native
// points that native_kill_test names. `fired` (may be null) is
// set just before: in shared memory it tells those who are left.
void Arm(std::string_view point, uint64_t passing, std::atomic<uint32_t>* fired);
bool IsArmed(std::string_view point);
void Pass(std::string_view point);

// Passes two points, whatever happens between them.
class Around {
 public:
  Around(std::string_view before, std::string_view after) : after_(after) { Pass(before); }
  ~Around() { Pass(after_); }
  Around(const Around&) = delete;
  Around& operator=(const Around&) = delete;

 private:
  const std::string_view after_;
};

}  // namespace heaprec::crash
