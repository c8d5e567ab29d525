// LD_PRELOAD: of the system calls that libheaprec.so itself makes, every HEAPREC_FAULT_EVERY-th fails, with the errors
// in turn. The JVM's and the application's are let through. At the end of the process HEAPREC_FAULT_LOG gets the number
// of those that failed. A file whose path contains HEAPREC_SLOW_FILE is opened only after HEAPREC_SLOW_SECONDS;
// FILE.slow is created before that.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kShort = -1;
constexpr int kErrors[] = {EIO, ENOSPC, EINTR, EDQUOT, kShort, EACCES, ENOMEM};

std::atomic<unsigned long> calls{0}, failed{0};

unsigned long Every() {
  static const unsigned long every = [] {
    const char* const text = getenv("HEAPREC_FAULT_EVERY");  // NOLINT(concurrency-mt-unsafe): only read
    return text != nullptr ? strtoul(text, nullptr, 10) : 0;
  }();
  return every;
}

bool IsOurs(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr && strstr(info.dli_fname, "libheaprec") != nullptr;
}

// The error with which this call is to fail; 0: it is not.
int Fault(const void* caller) {
  if (Every() == 0 || !IsOurs(caller)) return 0;
  if ((calls.fetch_add(1) + 1) % Every() != 0) return 0;
  return kErrors[failed.fetch_add(1) % (sizeof(kErrors) / sizeof(kErrors[0]))];
}

bool Fails(const void* caller) {
  const int fault = Fault(caller);
  if (fault <= 0) return false;
  errno = fault;
  return true;
}

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// The agent's alone, too. Environment: only read.
void Delay(const char* path, const void* caller) {
  static const char* const slow = getenv("HEAPREC_SLOW_FILE");        // NOLINT(concurrency-mt-unsafe)
  static const char* const seconds = getenv("HEAPREC_SLOW_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  if (slow == nullptr || seconds == nullptr || strstr(path, slow) == nullptr || !IsOurs(caller)) return;
  const std::string sign = std::string(path) + ".slow";
  close(creat(sign.c_str(), 0600));
  for (unsigned left = strtoul(seconds, nullptr, 10); left > 0;) left = sleep(left);
}

struct AtEnd {
  ~AtEnd() {
    const char* const path = getenv("HEAPREC_FAULT_LOG");  // NOLINT(concurrency-mt-unsafe): only read
    if (path == nullptr) return;
    const int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char text[24];
    int size = 0;
    for (unsigned long left = failed.load(); left > 0 || size == 0; left /= 10) text[size++] = "0123456789"[left % 10];
    for (int i = size; i > 0; --i) [[maybe_unused]] const ssize_t done = write(log, &text[i - 1], 1);
    close(log);
  }
} at_end;

}  // namespace

#define CALLER __builtin_return_address(0)
#define FAULTY(type, name, parameters, arguments)           \
  type name parameters {                                    \
    if (Fails(CALLER)) return (type)-1;                     \
    static auto* const real = Real<type parameters>(#name); \
    return real arguments;                                  \
  }

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (Fails(CALLER)) return -1;
  Delay(path, CALLER);
  static auto* const real = Real<int(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  const int fault = Fault(CALLER);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  static auto* const real = Real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return real(descriptor, bytes, fault == kShort ? (size + 1) / 2 : size, offset);
}

int posix_fallocate(int descriptor, off_t offset, off_t size) {
  const int fault = Fault(CALLER);
  if (fault > 0) return fault;
  static auto* const real = Real<int(int, off_t, off_t)>("posix_fallocate");
  return real(descriptor, offset, size);
}

FAULTY(ssize_t, pread, (int descriptor, void* bytes, size_t size, off_t offset), (descriptor, bytes, size, offset))
FAULTY(ssize_t, read, (int descriptor, void* bytes, size_t size), (descriptor, bytes, size))
FAULTY(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
FAULTY(int, fdatasync, (int descriptor), (descriptor))
FAULTY(int, fsync, (int descriptor), (descriptor))
FAULTY(int, rename, (const char* from, const char* to), (from, to))
FAULTY(int, unlink, (const char* path), (path))
FAULTY(int, flock, (int descriptor, int operation), (descriptor, operation))
FAULTY(int, dup3, (int from, int to, int flags), (from, to, flags))
FAULTY(int, fstat, (int descriptor, struct stat* status), (descriptor, status))
FAULTY(int, stat, (const char* path, struct stat* status), (path, status))
FAULTY(int, mprotect, (void* memory, size_t size, int protection), (memory, size, protection))
FAULTY(int, madvise, (void* memory, size_t size, int advice), (memory, size, advice))
FAULTY(void*, mmap, (void* memory, size_t size, int protection, int flags, int descriptor, off_t offset),
       (memory, size, protection, flags, descriptor, offset))

}  // extern "C"
