// A program, or a library, whose malloc family is its own, and whose blocks no other family can take.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALLOCATES __attribute__((visibility("default")))

static _Alignas(16) char memory[1 << 20];
static size_t used = 16;

static int is_own(const void* block) { return (const char*)block > memory && (const char*)block < memory + used; }

ALLOCATES void* malloc(size_t size) {
  char* const block = memory + used + 16;
  used += (size + 31) / 16 * 16;
  if (used > sizeof memory) abort();
  *(size_t*)(block - 16) = size;
  // The same bytes as heaprec's header of a block of 1 byte (block_header.h).
  *(uint64_t*)(block - 8) = (uint64_t)block << 32 ^ (UINT64_C(0x68724e56) << 32 | 1);
  return block;
}
ALLOCATES void free(void* block) {
  if (block != NULL && !is_own(block)) abort();
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
