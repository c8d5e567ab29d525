// Pairs of free and malloc at random places among live blocks, in a library: a program's own calls are not sampled
// where the hooks are its own.
#include <stdint.h>
#include <stdlib.h>

void run_pairs(void** blocks, long count, long pairs) {
  uint32_t random = 1;
  for (long i = 0; i < pairs; ++i) {
    random = random * 1664525U + 1013904223U;
    void** const block = &blocks[(random >> 8) % (unsigned long)count];
    free(*block);
    *block = malloc(16 + random % 200);
  }
}
