#include "recorder/unwind/fork_guard.h"

#include <sys/mman.h>

#include <new>

namespace heaprec::native {

constinit std::atomic<bool>* is_this_process = nullptr;

bool InitForkGuard() {
  if (is_this_process != nullptr) return true;
  void* const page = mmap(nullptr, sizeof *is_this_process, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  (void)madvise(page, sizeof *is_this_process, MADV_WIPEONFORK);  // before Linux 4.14: only fork's handlers
  is_this_process = new (page) std::atomic<bool>(true);
  return true;
}

}  // namespace heaprec::native
