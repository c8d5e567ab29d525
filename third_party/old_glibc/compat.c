// What headers and static archives of Debian 12 and 13 take for granted and glibc 2.17 does not have. Hidden: nobody
// but the product that links it sees it. Each function says in which glibc it is new. Where the JVM's own glibc has a
// function whose replacement is worse, that one is called.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef int FindObject(void*, struct dl_find_object*);
typedef int ClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
typedef int ClockLock(pthread_mutex_t*, clockid_t, const struct timespec*);
static FindObject* real_find_object;
static ClockWait* real_clock_wait;
static ClockLock* real_clock_lock;

// When the product is loaded: dlsym takes the loader's lock.
__attribute__((constructor(101))) static void Prepare(void) {
  real_find_object = (FindObject*)dlsym(RTLD_DEFAULT, "_dl_find_object");
  real_clock_wait = (ClockWait*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  real_clock_lock = (ClockLock*)dlsym(RTLD_DEFAULT, "pthread_mutex_clocklock");
}

// 2.32. 0: there may be other threads, and shared pointers count atomically.
HIDDEN char __libc_single_threaded = 0;

// 2.38, whose headers have these names for strtol and its sisters, with 0b for binary numbers: not before.
#define ISO_C23(TYPE, NAME)                                 \
  TYPE Old_##NAME(const char*, char**, int) __asm__(#NAME); \
  HIDDEN TYPE __isoc23_##NAME(const char* text, char** end, int base) { return Old_##NAME(text, end, base); }
ISO_C23(long, strtol)
ISO_C23(long long, strtoll)
ISO_C23(unsigned long, strtoul)
ISO_C23(unsigned long long, strtoull)

// 2.26, for std::from_chars and std::to_chars of _Float128, which nothing here calls.
HIDDEN _Float128 strtof128(const char* text, char** end) {
  (void)text, (void)end;
  abort();
}
HIDDEN int strfromf128(char* to, size_t bytes, const char* format, _Float128 value) {
  (void)to, (void)bytes, (void)format, (void)value;
  abort();
}

// 2.25; Linux 3.17. /dev/urandom is as good once the machine has started.
HIDDEN ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
  const long got = syscall(SYS_getrandom, to, bytes, flags);
  if (got >= 0 || errno != ENOSYS) return got;
  const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t had = read(file, to, bytes);
  close(file);
  return had;
}

// 2.25.
HIDDEN int getentropy(void* to, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = getrandom((char*)to + at, bytes - at, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    at += (size_t)got;
  }
  return 0;
}

// 2.36, for std::random_device, which asks for this one only if its caller names it: it has no way to fail.
HIDDEN uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getentropy(&value, sizeof value) == 0) return value;
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)getpid();
}

// 2.27; Linux 3.17.
HIDDEN int memfd_create(const char* name, unsigned flags) { return (int)syscall(SYS_memfd_create, name, flags); }

// 2.28; Linux 3.15.
HIDDEN int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

// 2.28.
HIDDEN int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(file, command, argument);
}

// 2.33. Before, libc_nonshared.a had them, over these, which take the version of the structure.
#if defined(__x86_64__)
enum { kStatVersion = 1, kNodeVersion = 0 };
#else  // aarch64
enum { kStatVersion = 0, kNodeVersion = 0 };
#endif
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __xmknod(int, const char*, mode_t, dev_t*);
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one structure on 64-bit machines");
HIDDEN int stat(const char* path, struct stat* out) { return __xstat(kStatVersion, path, out); }
HIDDEN int lstat(const char* path, struct stat* out) { return __lxstat(kStatVersion, path, out); }
HIDDEN int fstat(int file, struct stat* out) { return __fxstat(kStatVersion, file, out); }
HIDDEN int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return __fxstatat(kStatVersion, folder, path, out, flags);
}
HIDDEN int stat64(const char* path, struct stat64* out) { return __xstat(kStatVersion, path, (struct stat*)out); }
HIDDEN int lstat64(const char* path, struct stat64* out) { return __lxstat(kStatVersion, path, (struct stat*)out); }
HIDDEN int fstat64(int file, struct stat64* out) { return __fxstat(kStatVersion, file, (struct stat*)out); }
HIDDEN int fstatat64(int folder, const char* path, struct stat64* out, int flags) {
  return __fxstatat(kStatVersion, folder, path, (struct stat*)out, flags);
}
HIDDEN int mknod(const char* path, mode_t mode, dev_t device) { return __xmknod(kNodeVersion, path, mode, &device); }

// A moment of another clock, as CLOCK_REALTIME has it now. A step of the wall clock stretches or cuts such a wait;
// libstdc++ looks at its own clock again and waits on.
static struct timespec OnRealtime(clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return *until;
  const long second = 1000000000;
  struct timespec now = {0, 0}, wall = {0, 0};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  struct timespec result = {until->tv_sec - now.tv_sec + wall.tv_sec, until->tv_nsec - now.tv_nsec + wall.tv_nsec};
  for (; result.tv_nsec < 0; result.tv_nsec += second) --result.tv_sec;
  for (; result.tv_nsec >= second; result.tv_nsec -= second) ++result.tv_sec;
  return result;
}

// 2.30.
HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  const struct timespec* until) {
  if (real_clock_wait != NULL) return real_clock_wait(condition, mutex, clock, until);
  const struct timespec moment = OnRealtime(clock, until);
  return pthread_cond_timedwait(condition, mutex, &moment);
}

// 2.30.
HIDDEN int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  if (real_clock_lock != NULL) return real_clock_lock(mutex, clock, until);
  const struct timespec moment = OnRealtime(clock, until);
  return pthread_mutex_timedlock(mutex, &moment);
}

struct Search {
  uintptr_t pc;
  struct dl_find_object* out;
};

static int Look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  const struct Search* const search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0, frames = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
    if (segment->p_type == PT_GNU_EH_FRAME) frames = from;
    if (segment->p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (to > end) end = to;
  }
  if (search->pc < begin || search->pc >= end) return 0;
  memset(search->out, 0, sizeof *search->out);
  search->out->dlfo_map_start = (void*)begin;
  search->out->dlfo_map_end = (void*)end;
  search->out->dlfo_eh_frame = (void*)frames;
  return frames != 0 ? 1 : -1;
}

// 2.35, for libgcc_eh.a: C++ exceptions. As libgcc did before: under the loader's lock. Never asked within malloc,
// where recorder/unwind/module_lookup.h answers. dlfo_link_map is not set.
HIDDEN int _dl_find_object(void* pc, struct dl_find_object* out) {
  if (real_find_object != NULL) return real_find_object(pc, out);
  struct Search search = {(uintptr_t)pc, out};
  return dl_iterate_phdr(Look, &search) == 1 ? 0 : -1;
}
