// A library that is loaded later and unloaded again.
#include <stdlib.h>

void* plugin_allocates(size_t bytes) {
  void* block = malloc(bytes);
  return block;
}
