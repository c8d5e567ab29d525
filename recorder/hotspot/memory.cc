#include "recorder/hotspot/memory.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace heaprec::hotspot {
namespace {

std::optional<uint64_t> ByProcessVm(const void* address) {
  uint64_t word = 0;
  const iovec to{&word, sizeof(word)};
  const iovec from{const_cast<void*>(address), sizeof(word)};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof(word)) return std::nullopt;
  return word;
}

// write() copies the word into the kernel, or fails with EFAULT. A new pipe is used for each word: a program may close
// descriptors that are not its own, and a word must not go into a file that it opens under the same number.
std::optional<uint64_t> ByPipe(const void* address) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  uint64_t word = 0;
  const bool is_read = write(ends[1], address, sizeof(word)) == ssize_t{sizeof(word)} &&
                       read(ends[0], &word, sizeof(word)) == ssize_t{sizeof(word)};
  close(ends[0]);
  close(ends[1]);
  return is_read ? std::optional(word) : std::nullopt;
}

}  // namespace

SafeReader SafeReader::Probe() {
  constexpr uint64_t kWord = 0x5eed'0f'7ab1e;
  const volatile uint64_t word = kWord;
  const void* const address = const_cast<const uint64_t*>(&word);
  SafeReader reader;
  if (ByProcessVm(address) == kWord) {
    reader.way_ = Way::kProcessVm;
    return reader;
  }
  reader.error_ = errno;
  if (ByPipe(address) == kWord) reader.way_ = Way::kPipe;
  return reader;
}

std::string SafeReader::Description() const {
  const std::string why = std::string("process_vm_readv: ") + strerror(error_);  // NOLINT(concurrency-mt-unsafe): setup
  switch (way_) {
    case Way::kProcessVm:
      return "process_vm_readv";
    case Way::kPipe:
      return "a pipe (" + why + ")";
    case Way::kNone:
      break;
  }
  return "nothing (" + why + "; no pipe)";
}

std::optional<uint64_t> SafeReader::Word(const void* address) const {
  switch (way_) {
    case Way::kProcessVm:
      return ByProcessVm(address);
    case Way::kPipe:
      return ByPipe(address);
    case Way::kNone:
      break;
  }
  return std::nullopt;
}

// The kernel reads the new set before it checks the operation's number.
bool SafeReader::IsReadable(const void* address) {
  constexpr long kNoOperation = ~0L;  // NOLINT(google-runtime-int): as syscall() has it
  const int error = errno;
  const bool is = syscall(SYS_rt_sigprocmask, kNoOperation, address, nullptr, sizeof(uint64_t)) != 0 && errno == EINVAL;
  errno = error;
  return is;
}

}  // namespace heaprec::hotspot
