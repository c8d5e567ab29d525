// A library that is loaded later and unloaded again.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

void* plugin_allocates(size_t bytes) {
  void* block = malloc(bytes);
  return block;
}

// Frees what libc allocated.
int plugin_prints(void) {
  char* text = NULL;
  const int length = asprintf(&text, "%d bytes of text that libc allocates", 40);
  free(text);
  return length;
}
