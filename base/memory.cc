#include "base/memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/descriptors.h"

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
  const KeptErrno kept;
  // Fails on kernels without huge pages.
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_NOHUGEPAGE);
}

// The kernel reads the word: EAGAIN if it differs from kAnything, else ETIMEDOUT at once; EFAULT if it cannot be read.
bool IsReadable(uintptr_t address) {
  const KeptErrno kept;
  const timespec at_once{};
  constexpr unsigned kAnything = 0x5eed1e55;
  const uintptr_t word = address - address % sizeof(uint32_t);
  return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, kAnything, &at_once, nullptr, 0) == 0 || errno == EAGAIN ||
         errno == ETIMEDOUT || errno == EINTR;
}

constinit std::atomic<bool>* is_this_process = nullptr;

bool InitForkGuard() {
  if (is_this_process != nullptr) return true;
  void* const page = mmap(nullptr, sizeof *is_this_process, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  (void)madvise(page, sizeof *is_this_process, MADV_WIPEONFORK);  // before Linux 4.14: only fork's handlers
  is_this_process = new (page) std::atomic<bool>(true);
  return true;
}

}  // namespace heaprec
