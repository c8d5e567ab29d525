// Linked into the guarded agent: aborts the JVM when one of the allocation entries of recorder/sources/java/entry.h
// uses the heap, a lock or I/O. The linker's --wrap puts these functions between the agent's own code (its static
// libstdc++ included) and libc; what HotSpot does below a JVMTI call of ours is HotSpot's.
//
// HEAPREC_GUARD_BITES=1 makes the entries themselves break the rule: the proof that the guard would notice.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace heaprec::sources {
struct Delivered;
struct ExceptionEvent;
}  // namespace heaprec::sources

namespace {

// initial-exec: a block of the dynamic model would be allocated at its first touch, inside the hook.
[[gnu::tls_model("initial-exec")]] thread_local int entries = 0;

const bool bites = [] {
  const char* const value = getenv("HEAPREC_GUARD_BITES");  // NOLINT(concurrency-mt-unsafe): at load, one thread
  return value != nullptr && *value == '1';
}();

}  // namespace

extern "C" {

ssize_t __real_write(int descriptor, const void* bytes, size_t size);
void* __real_malloc(size_t size);
void __wrap_free(void* memory);
void* __wrap_malloc(size_t size);

}  // extern "C"

namespace {

void Check(const char* name) {
  if (entries == 0) [[likely]]
    return;
  constexpr char kMessage[] = "alloc_guard: called by an allocation entry: ";
  [[maybe_unused]] ssize_t said = __real_write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  said = __real_write(STDERR_FILENO, name, strlen(name));
  said = __real_write(STDERR_FILENO, "\n", 1);
  signal(SIGABRT, SIG_DFL);  // no hs_err file
  abort();
}

struct Inside {
  Inside() {
    ++entries;
    if (bites) __wrap_free(__wrap_malloc(1));
  }
  ~Inside() { --entries; }
};

}  // namespace

// The entries. NOLINTBEGIN(bugprone-reserved-identifier): the linker chooses these names.
#define GUARD_ENTRY(name, parameters, arguments) \
  void __real_##name parameters;                 \
  void __wrap_##name parameters {                \
    const Inside inside;                         \
    __real_##name arguments;                     \
  }

// What they must not call.
#define GUARD(type, name, parameters, arguments) \
  type __real_##name parameters;                 \
  type __wrap_##name parameters {                \
    Check(#name);                                \
    return __real_##name arguments;              \
  }

extern "C" {

GUARD_ENTRY(heaprec_on_refill, (void* thread, size_t bytes), (thread, bytes))
GUARD_ENTRY(heaprec_on_outside, (void* thread, size_t bytes), (thread, bytes))
GUARD_ENTRY(heaprec_on_delivered, (const heaprec::sources::Delivered* object), (object))
GUARD_ENTRY(heaprec_on_stack_chunk, (bool begins), (begins))
GUARD_ENTRY(heaprec_on_exception, (const heaprec::sources::ExceptionEvent* thrown), (thrown))

GUARD(void*, malloc, (size_t size), (size))
GUARD(void*, calloc, (size_t count, size_t size), (count, size))
GUARD(void*, realloc, (void* memory, size_t size), (memory, size))
GUARD(void*, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
GUARD(int, posix_memalign, (void** memory, size_t alignment, size_t size), (memory, alignment, size))
GUARD(void, free, (void* memory), (memory))
GUARD(char*, strdup, (const char* text), (text))
GUARD(void*, mmap, (void* at, size_t size, int protection, int flags, int descriptor, off_t offset),
      (at, size, protection, flags, descriptor, offset))
GUARD(int, munmap, (void* at, size_t size), (at, size))
GUARD(int, mprotect, (void* at, size_t size, int protection), (at, size, protection))
GUARD(int, madvise, (void* at, size_t size, int advice), (at, size, advice))

GUARD(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
GUARD(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
GUARD(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
GUARD(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex))
GUARD(int, pthread_cond_signal, (pthread_cond_t * condition), (condition))
GUARD(int, pthread_cond_broadcast, (pthread_cond_t * condition), (condition))
GUARD(int, pthread_once, (pthread_once_t * once, void (*function)()), (once, function))
GUARD(int, sched_yield, (), ())
GUARD(int, usleep, (useconds_t time), (time))
GUARD(int, nanosleep, (const timespec* time, timespec* left), (time, left))
GUARD(int, poll, (pollfd * descriptors, nfds_t count, int timeout), (descriptors, count, timeout))

GUARD(ssize_t, read, (int descriptor, void* bytes, size_t size), (descriptor, bytes, size))
GUARD(ssize_t, pread, (int descriptor, void* bytes, size_t size, off_t offset), (descriptor, bytes, size, offset))
GUARD(ssize_t, write, (int descriptor, const void* bytes, size_t size), (descriptor, bytes, size))
GUARD(ssize_t, pwrite, (int descriptor, const void* bytes, size_t size, off_t offset),
      (descriptor, bytes, size, offset))
GUARD(ssize_t, writev, (int descriptor, const iovec* parts, int count), (descriptor, parts, count))
GUARD(int, fdatasync, (int descriptor), (descriptor))
GUARD(int, ftruncate, (int descriptor, off_t size), (descriptor, size))
GUARD(int, close, (int descriptor), (descriptor))

int __real_open(const char* path, int flags, mode_t mode);
int __wrap_open(const char* path, int flags, ...) {
  Check("open");
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>((flags & O_CREAT) != 0 ? va_arg(rest, int) : 0);
  va_end(rest);
  return __real_open(path, flags, mode);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
