// A program, or a library, whose malloc family is its own, and whose blocks no other family can take.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALLOCATES __attribute__((visibility("default")))

// LARGE: with room for a recorder, whose threads allocate meanwhile, and which may free what libc made.
#ifdef LARGE
enum { kBytes = 1 << 28, kIsStrict = 0 };
#else
enum { kBytes = 1 << 20, kIsStrict = 1 };
#endif
static _Alignas(16) char memory[kBytes];
static _Atomic size_t used = 16;

static int is_own(const void* block) { return (const char*)block > memory && (const char*)block < memory + used; }

ALLOCATES void* malloc(size_t size) {
  const size_t at = atomic_fetch_add(&used, (size + 31) / 16 * 16);
  if (at + size + 32 > sizeof memory) abort();
  char* const block = memory + at + 16;
  *(size_t*)(block - 16) = size;
  // The same bytes as heaprec's header of a block of 1 byte (block_header.h).
  *(uint64_t*)(block - 8) = (uint64_t)block << 32 ^ (UINT64_C(0x68724e56) << 32 | 1);
  return block;
}
ALLOCATES void free(void* block) {
  if (block != NULL && !is_own(block) && kIsStrict) abort();
}
ALLOCATES void* calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
ALLOCATES void* realloc(void* block, size_t size) {
  void* const moved = malloc(size);
  if (block == NULL) return moved;
  if (!is_own(block)) abort();
  const size_t before = *(size_t*)((char*)block - 16);
  memcpy(moved, block, before < size ? before : size);
  return moved;
}

#ifndef IS_LIBRARY
int main(void) {
  for (int i = 0; i < 100; ++i) {
    free(strdup("a text"));
    free(strndup("a text", 3));
    free(reallocarray(NULL, 3, 7));
    free(realloc(strdup("a text"), 100));
  }
  return 7;
}
#endif
