// Maps what the test knows, each in a function of its own.
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>

void* reserve(void* at, size_t bytes, int flags) {
  void* const range = mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return range;
}

void* commit(void* at, size_t bytes, int flags) {
  void* const range = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return range;
}

void* share(void* at, size_t bytes, int flags) {
  void* const range = mmap64(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | flags, -1, 0);
  return range;
}

void* map_file(void* at, size_t bytes, int flags, int file) {
  void* const range = mmap(at, bytes, PROT_READ, MAP_PRIVATE | flags, file, 0);
  return range;
}

int give_back(void* at, size_t bytes) {
  const int result = munmap(at, bytes);
  return result;
}

void* move(void* at, size_t old_bytes, size_t bytes, int flags, void* to) {
  void* const range = mremap(at, old_bytes, bytes, flags, to);
  return range;
}
