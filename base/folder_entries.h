// Lists a folder by system calls only: a program may replace readdir, and heaprec must not call that.
//
// Context:  any thread. No heap; a buffer of 4 KiB on the stack.
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace heaprec {

// Calls visit(const char* name) for each entry of the open `folder`, including "." and "..", until it returns false.
// Returns false if the rest of the folder could not be read.
template <typename Visit>
bool ForEachEntry(int folder, Visit visit) {
  alignas(dirent64) std::array<char, 4096> entries;
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, entries.data(), entries.size());
    if (bytes <= 0) return bytes == 0;
    for (long at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (!visit(entry->d_name)) return true;
    }
  }
}

}  // namespace heaprec
