// A library that needs another one with its own malloc (own_malloc.c). Opened with RTLD_DEEPBIND it is bound to that: the
// pointer to free when it is loaded, malloc and realloc at their first call.
#include <stdlib.h>

int deep_allocates(void) {
  void (*volatile release)(void*) = free;
  for (int i = 0; i < 100; ++i) {
    release(malloc(100));
    free(malloc(100));
    release(realloc(malloc(100), 200));
  }
  return 9;
}
