// Loads a library and asks for a function of it, and for the next malloc behind itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void* load(const char* path, const char* name) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library != NULL ? dlsym(library, name) : NULL;
}
void* next_malloc(void) { return dlsym(RTLD_NEXT, "malloc"); }
