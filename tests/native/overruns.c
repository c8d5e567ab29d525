// Writes a byte past the end of two of its blocks: one is freed then, one grows.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) char* makes(size_t size) {
  char* block = malloc(size);
  memset(block, 1, size);
  return block;
}

int main(void) {
  for (size_t i = 0; i < 1000; ++i) {
    char* block = makes(100 + i);
    if (i == 7 || i == 21) block[100 + i] = 2;
    if (i % 3 == 0) block = realloc(block, 200 + 2 * i);
    free(block);
    // What malloc_usable_size says may be written.
    block = memalign(64, i);
    memset(block, 1, malloc_usable_size(block));
    free(block);
  }
  puts("done");
  return 0;
}
