#include "base/sparse_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace heaprec {

void* MapSparse(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  KeepSparse(memory, bytes);
  return memory;
}

void UnmapSparse(void* memory, size_t bytes) { munmap(memory, bytes); }

void KeepSparse(void* memory, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  const int error = errno;
  // Fails where there are no huge pages.
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_NOHUGEPAGE);
  errno = error;
}

}  // namespace heaprec
