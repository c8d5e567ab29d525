// glibc 2.26.
#include <errno.h>
#include <stdlib.h>

__attribute__((visibility("hidden"))) void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(block, bytes);
}
