// Calls of malloc's family whose bytes the tests know: a library, for the program itself is not looked at.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define SITE __attribute__((noinline))

// Allocates `bytes` in blocks of `size`, and frees each at once.
SITE void churn_small(long bytes, size_t size) {
  for (long left = bytes; left > 0; left -= (long)size) free(malloc(size));
}
SITE void churn_large(long bytes, size_t size) {
  for (long left = bytes; left > 0; left -= (long)size) free(calloc(1, size));
}
SITE void churn_aligned(long bytes, size_t size) {
  for (long left = bytes; left > 0; left -= (long)size) {
    void* block = NULL;
    if (posix_memalign(&block, 64, size) == 0) free(block);
    left -= (long)size;
    free(aligned_alloc(64, size));
    left -= (long)size;
    free(memalign(64, size));
  }
}
// Three blocks each time: of 5000 bytes, of a text's, and of its first 100.
SITE void churn_family(long times, const char* text) {
  for (long i = 0; i < times; ++i) {
    free(pvalloc(5000));
    free(strdup(text));
    free(strndup(text, 100));
  }
}
// Blocks that stay: into[0..count).
SITE void leak(void** into, long count, size_t size) {
  for (long i = 0; i < count; ++i) into[i] = malloc(size);
}
SITE void give_back(void** blocks, long count) {
  for (long i = 0; i < count; ++i) free(blocks[i]);
}
// A block that grows by `step` to `size`; the caller frees it. Answers the bytes that were asked for.
SITE long grow(void** into, size_t step, size_t size) {
  long asked = 0;
  void* block = NULL;
  for (size_t now = step; now <= size; now += step) {
    block = realloc(block, now);
    asked += (long)now;
  }
  *into = block;
  return asked;
}
