// A program that does to its process what a recorder inside it has to bear. Its functions allocate what the test knows.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define SITE __attribute__((noinline))

// In a program that is not position independent their addresses are those of entries of its own.
void* (*volatile allocate)(size_t) = malloc;
void (*volatile give_back)(void*) = free;

SITE void through_pointers(void) {
  for (int i = 0; i < 20000; ++i) give_back(allocate(1000));
}
SITE void directly(void) {
  for (int i = 0; i < 20000; ++i) {
    void* volatile block = malloc(1000);
    free(block);
  }
}
static void work(void) {
  through_pointers();
  directly();
}

static void* of_thread(void* seconds) {
  if (seconds != NULL) sleep(*(const unsigned*)seconds);
  usleep(300000);
  work();
  return NULL;
}

// All descriptors are closed, and their numbers are those of files of the program's own.
static int closes(const char* path) {
  closefrom(3);
  int wrong = 0;
  for (int i = 0; i < 64; ++i) wrong += open(path, O_RDWR | O_CREAT, 0600) < 0;
  pthread_t thread;
  pthread_create(&thread, NULL, of_thread, NULL);
  pthread_join(thread, NULL);
  for (int i = 0; i < 29; ++i) {
    work();
    usleep(100000);
  }
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return wrong + status + (lseek(3, 0, SEEK_END) != 0);
}

// fork without its handlers: the kernel's own.
static int forks(void) {
  work();
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    for (int i = 0; i < 20; ++i) work();
    for (int i = 0; i < 40000; ++i) {
      void* const memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      munmap(memory, 4096);
    }
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

// Blocks of an allocator behind ours (page_allocator.c), which stand at a page's begin.
static int frees_pages(void) {
  void* (*page_block)(void) = (void* (*)(void))dlsym(RTLD_DEFAULT, "page_block");
  if (page_block == NULL) return 1;
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    char* const block = page_block();
    block[0] = (char)i;
    wrong += malloc_usable_size(block) != 4096;
    char* const moved = realloc(block, 100);
    wrong += moved[0] != (char)i;
    free(moved);
    free(page_block());
  }
  return wrong;
}

// A library allocates whose first page cannot be read.
static int hides(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  void* (*allocates)(size_t) = library != NULL ? (void* (*)(size_t))dlsym(library, "plugin_allocates") : NULL;
  Dl_info info;
  if (allocates == NULL || dladdr((void*)allocates, &info) == 0) return 1;
  if (mprotect(info.dli_fbase, 4096, PROT_NONE) != 0) return 1;
  for (int i = 0; i < 10; ++i) free(allocates(1000));
  return mprotect(info.dli_fbase, 4096, PROT_READ | PROT_EXEC);
}

// Functions of libc's own, and of a library that prefers them, meet blocks of the program's.
static int mixes(const char* path) {
  void* const libc = dlopen("libc.so.6", RTLD_NOW);
  char* (*copy)(const char*) = (char* (*)(const char*))dlsym(libc, "strdup");
  void (*release)(void*) = (void (*)(void*))dlsym(libc, "free");
  void* (*grow)(void*, size_t) = (void* (*)(void*, size_t))dlsym(libc, "realloc");
  if (copy == NULL || release == NULL || grow == NULL) return 1;
  for (int i = 0; i < 100; ++i) {
    release(copy("copied by a function of libc's own"));
    release(strdup("copied by the program"));
    release(grow(malloc(100), 100000));
    free(copy("freed by the program"));
  }
  void* const library = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
  int (*prints)(void) = library != NULL ? (int (*)(void))dlsym(library, "plugin_prints") : NULL;
  if (prints == NULL || dlsym(RTLD_NEXT, "no_such_function") != NULL) return 1;
  for (int i = 0; i < 100; ++i) {
    if (prints() <= 0) return 1;
  }
  return 0;
}

// The program's own file has the number of standard error if the program was started without one.
static int owns_two(const char* path) {
  static const char text[] = "the program's own\n";
  const int own = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (write(own, text, sizeof text - 1) != sizeof text - 1) return 1;
  work();
  return own == STDERR_FILENO ? 3 : 2;
}

// A library with a malloc of its own in its scope (deep_importer.c) is called after a recorder has had time to change
// its slots.
static int binds_deeply(const char* path) {
  void* const library = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND);
  usleep(500000);
  int (*allocates)(void) = library != NULL ? (int (*)(void))dlsym(library, "deep_allocates") : NULL;
  return allocates != NULL ? allocates() : 1;
}

// These replace libc's functions in every library.
static volatile int listings = 0;
DIR* opendir(const char* path) {
  (void)path;
  ++listings;
  return NULL;
}
struct dirent* readdir(DIR* folder) {
  (void)folder;
  ++listings;
  return NULL;
}
struct dirent64* readdir64(DIR* folder) {
  (void)folder;
  ++listings;
  return NULL;
}
// heaprec looks for rings of killed processes at the start, and for threads of a collector after a second.
static int lists(void) {
  usleep(1500000);
  return listings;
}

// Does what setpriv does as root. Another thread would lose its capabilities, and its setgroups would fail.
extern int capset(void* header, const void* data);
static int changes_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
  if (syscall(SYS_capget, &header, capabilities) != 0) return 1;
  if (capset(&header, capabilities) != 0 || prctl(PR_SET_KEEPCAPS, 1) != 0) return 2;
  if (setresuid(65534, 65534, 65534) != 0) return 3;
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; ++i) capabilities[i].effective = capabilities[i].permitted;
  if (capset(&header, capabilities) != 0) return 4;
  return setgroups(0, NULL) == 0 ? 5 : 6;
}

// The kernel refuses these calls in a process with two threads.
static int enters_user_namespace(void) { return unshare(CLONE_NEWUSER) == 0 ? 5 : 6; }
// Fails with and without other threads.
static int enters_no_namespace(void) { return setns(open("/dev/null", O_RDONLY), CLONE_NEWNET) == 0 ? 5 : 6; }
static void* waits(void* unused) { return pause(), unused; }
static int enters_user_namespace_with_a_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, waits, NULL) != 0) return 7;
  return enters_user_namespace();
}
static int enters_mount_namespace(void) { return setns(open("/proc/self/ns/mnt", O_RDONLY), 0) == 0 ? 5 : 6; }

// Whether there is a block of that alignment.
static int aligns(size_t alignment) {
  void* const block = aligned_alloc(alignment, 96);
  free(block);
  return block != NULL;
}

// The environment is always being changed, as far as another thread can know: who reads it would not survive.
static void hides_environment(void) {
  setlocale(LC_ALL, "C.UTF-8");
  environ = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// Signals that no thread of the program lets through are for whoever waits for them.
static int waits_for_signals(void) {
  const int signals[] = {SIGTRAP, SIGFPE, SIGILL, SIGTERM};
  const struct timespec at_once = {0, 0};
  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int wrong = 0;
  for (int i = 0; i < 4; ++i) {
    kill(getpid(), signals[i]);
    usleep(100000);
    wrong += sigtimedwait(&set, NULL, &at_once) != signals[i];
  }
  return wrong;
}

// What an exit handler may count on.
static void at_exit(void) {
  volatile char deep[2 << 20];
  for (size_t i = 0; i < sizeof deep; i += 1024) deep[i] = 1;
  printf("at exit %ls, blocked", L"\u00fc");
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  for (int i = 1; i < SIGRTMAX; ++i) {
    if (sigismember(&blocked, i) == 1) printf(" %d", i);
  }
  printf("\n");
}
static void expects_at_exit(void) {
  setlocale(LC_ALL, "C.UTF-8");
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  atexit(at_exit);
}

// No thread can be started any more, not even on the stack of one that has ended.
static void* sleeps(void* unused) { return sleep(1), unused; }
static void fills_memory(void) {
  dlopen("libgcc_s.so.1", RTLD_NOW);  // which pthread_exit calls
  usleep(200000);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 512 << 10);
  pthread_t thread;
  for (int i = 0; i < 8; ++i) pthread_create(&thread, &small, sleeps, NULL);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1 << 20;
  setrlimit(RLIMIT_AS, &limit);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "owns 2") == 0) return owns_two(argv[2]);
  const int first = open("/dev/null", O_RDONLY | O_CLOEXEC);
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  printf("descriptor %d, blocked %d\n", first, !sigisemptyset(&blocked));
  fflush(stdout);
  if (strcmp(how, "hides environment") == 0) hides_environment();
  work();
  if (strcmp(how, "closes") == 0) return closes(argv[2]);
  if (strcmp(how, "forks") == 0) return forks();
  if (strcmp(how, "frees pages") == 0) return frees_pages();
  if (strcmp(how, "mixes") == 0) return mixes(argv[2]);
  if (strcmp(how, "binds deeply") == 0) return binds_deeply(argv[2]);
  if (strcmp(how, "aligns") == 0) return 100 + aligns(24) + 2 * aligns(48) + 4 * aligns(0) + 8 * aligns(64);
  if (strcmp(how, "hides") == 0) return hides(argv[2]);
  if (strcmp(how, "lists") == 0) return lists();
  if (strcmp(how, "capset") == 0) return changes_capabilities();
  if (strcmp(how, "unshare") == 0) return enters_user_namespace();
  if (strcmp(how, "setns fails") == 0) return enters_no_namespace();
  if (strcmp(how, "unshare fails") == 0) return enters_user_namespace_with_a_thread();
  if (strcmp(how, "setns") == 0) return enters_mount_namespace();
  if (strcmp(how, "waits for signals") == 0) return waits_for_signals();
  if (strcmp(how, "loads") == 0) dlopen(argv[3], RTLD_NOW);
  if (strcmp(how, "_exit") == 0) _exit(5);
  if (strcmp(how, "abort") == 0) abort();
  if (strncmp(how, "main ends", strlen("main ends")) == 0) {
    static unsigned seconds = 2;
    pthread_t thread;
    if (strcmp(how, "main ends with handler") == 0) expects_at_exit();
    pthread_create(&thread, NULL, of_thread, strcmp(how, "main ends early") == 0 ? &seconds : NULL);
    pthread_detach(thread);
    if (strcmp(how, "main ends without memory") == 0) fills_memory();
    pthread_exit(NULL);
  }
  return 4;
}
