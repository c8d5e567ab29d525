#include "recorder/unwind/readable.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace heaprec::native {

// The kernel looks whether a word is what it is not, or, if it is, waits for no time.
bool IsReadable(uintptr_t address) {
  const int error = errno;
  const timespec at_once{};
  constexpr unsigned kAnything = 0x5eed1e55;
  const uintptr_t word = address - address % sizeof(uint32_t);
  const bool is = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, kAnything, &at_once, nullptr, 0) == 0 ||
                  errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
  errno = error;
  return is;
}

}  // namespace heaprec::native
