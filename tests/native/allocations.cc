// Allocates known amounts at known places, one function each, and says what it has seen: the same with and without us.
#include <dlfcn.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

long wrong = 0;
std::vector<void*>* kept = nullptr;

void Keep(void* block) {
  wrong += block == nullptr;
  kept->push_back(block);
}

}  // namespace

#define SITE extern "C" __attribute__((noinline))

// 64 MB stay, among 500 MB that come and go.
SITE void leaks(int i) {
  if (i % 5 != 0 || i / 5 >= 1024) return;
  void* const block = malloc(64 << 10);
  memset(block, 1, 64 << 10);
  Keep(block);
}

SITE void churns() {
  void* const block = malloc(100'000);
  static_cast<volatile char*>(block)[99'999] = 1;
  free(block);
}

SITE void grows() {
  void* block = nullptr;
  for (size_t i = 1; i <= 1000; ++i) {
    block = realloc(block, i * 100);
    static_cast<unsigned char*>(block)[i - 1] = static_cast<unsigned char>(i);
  }
  for (size_t i = 1; i <= 1000; ++i) wrong += static_cast<unsigned char*>(block)[i - 1] != (i & 0xff);
  Keep(block);
}

// Sizes on both sides of what a header's one word can say.
SITE void larges() {
  for (int i = 0; i < 3; ++i) {
    auto* block = static_cast<unsigned char*>(malloc(700'000));
    block[0] = 1, block[99] = 99, block[699'999] = 1;
    block = static_cast<unsigned char*>(realloc(block, 2'000'000));
    wrong += block[99] != 99 || block[699'999] != 1;
    block = static_cast<unsigned char*>(realloc(block, 100));
    wrong += block[99] != 99;
    free(block);
  }
  Keep(malloc(20 << 20));
  for (const size_t size : {(1U << 19) - 1, 1U << 19, (1U << 24) - 1, 1U << 24}) free(calloc(1, size));
}

SITE void copies() {
  for (int i = 0; i < 1000; ++i) {
    char* const text = strdup("hello world");
    wrong += strcmp(text, "hello world") != 0;
    if (i % 2 == 0) free(text);
  }
}

SITE void news() {
  for (int i = 0; i < 100; ++i) {
    int* const numbers = new int[250];
    static_cast<volatile int*>(numbers)[249] = i;
    delete[] numbers;
  }
}

SITE void aligns() {
  for (int i = 0; i < 10; ++i) {
    void* block = nullptr;
    wrong += posix_memalign(&block, 4096, 5000) != 0;
    wrong += reinterpret_cast<uintptr_t>(block) % 4096 != 0;
    wrong += malloc_usable_size(block) < 5000;
    memset(block, 1, malloc_usable_size(block));
    Keep(block);
  }
  for (int i = 0; i < 5; ++i) {
    void* const block = aligned_alloc(64, 128);
    wrong += reinterpret_cast<uintptr_t>(block) % 64 != 0;
    free(block);
  }
  void* const grown = realloc(memalign(256, 1000), 3000);
  wrong += grown == nullptr;
  free(grown);
  wrong += posix_memalign(kept->data(), 3, 8) == 0;
}

// All of what pvalloc rounds up to may be used, and is kept by realloc; what was asked for counts.
SITE void pages() {
  for (int i = 0; i < 10; ++i) {
    auto* block = static_cast<unsigned char*>(pvalloc(5000));
    wrong += reinterpret_cast<uintptr_t>(block) % 4096 != 0;
    memset(block, 7, 8192);
    block = static_cast<unsigned char*>(realloc(block, 9000));
    wrong += block[0] != 7 || block[8191] != 7;
    free(block);
  }
}

SITE void odd_alignments() {
  free(memalign(0, 10));
  free(memalign(48, 10));
  volatile size_t huge = SIZE_MAX / 2 + 1;
  errno = 0;
  wrong += memalign(huge, 10) != nullptr || errno != ENOMEM;
  wrong += memalign(huge + 1, 10) != nullptr || errno != EINVAL;
  void* block = nullptr;
  wrong += posix_memalign(&block, huge, 10) != ENOMEM;
}

SITE void texts() {
  for (int i = 0; i < 1000; ++i) {
    char* const text = strndup("hello world", 5);
    wrong += strcmp(text, "hello") != 0;
    if (i % 2 == 0) free(text);
  }
}

SITE void zeroes() {
  for (int i = 0; i < 20; ++i) {
    auto* const block = static_cast<unsigned char*>(calloc(10, 100));
    for (int at = 0; at < 1000; ++at) wrong += block[at] != 0;
    memset(block, 255, 1000);
    free(block);
  }
  volatile size_t huge = SIZE_MAX / 2;
  wrong += calloc(huge, 4) != nullptr;
  wrong += malloc(huge * 2 - 8) != nullptr;
}

SITE void* of_thread() { return malloc(48); }

// Half of what a thread allocates another one frees.
static void Threads() {
  constexpr int kThreads = 64, kEach = 1000;
  std::vector<std::vector<void*>> blocks(kThreads, std::vector<void*>(kEach));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&blocks, i] {
      for (void*& block : blocks[static_cast<size_t>(i)]) block = of_thread();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& of : blocks) {
    for (size_t i = 0; i < of.size(); i += 2) free(of[i]);
  }
}

SITE void in_child() {
  for (int i = 0; i < 10; ++i) memset(malloc(1 << 20), 1, 1 << 20);
}

SITE void after_fork() {
  for (int i = 0; i < 5; ++i) Keep(malloc(1000));
}

// One call of malloc, for two callers.
SITE void* shared() {
  void* const block = malloc(500);
  wrong += block == nullptr;
  return block;
}

SITE void first_caller() {
  for (int i = 0; i < 3; ++i) Keep(shared());
}

SITE void second_caller() {
  for (int i = 0; i < 4; ++i) Keep(shared());
}

static void Forks() {
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  wrong += WEXITSTATUS(status) != 7;
  after_fork();
}

static void Loads(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  wrong += library == nullptr;
  if (library == nullptr) return;
  auto* const allocate = reinterpret_cast<void* (*)(size_t)>(dlsym(library, "plugin_allocates"));
  for (int i = 0; i < 7; ++i) Keep(allocate(1234));
  dlclose(library);
}

int main(int argc, char** argv) {
  kept = new std::vector<void*>;
  kept->reserve(10'000);
  for (int i = 0; i < 5120; ++i) {
    leaks(i);
    if (i < 5000) churns();
  }
  grows();
  larges();
  copies();
  news();
  aligns();
  pages();
  odd_alignments();
  texts();
  zeroes();
  first_caller();
  second_caller();
  Threads();
  Forks();
  if (argc > 1) Loads(argv[1]);
  printf("kept %zu, wrong %ld\n", kept->size(), wrong);
  fflush(stdout);
  if (argc > 2) pause();
  return wrong == 0 ? 3 : 4;
}
