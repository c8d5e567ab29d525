// Loads and unloads libraries of one size in turn, each where the one before has been. They allocate what the test
// knows. Usage: reloader FIRST SECOND
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static char places[64];

static void allocates(const char* path, const char* function, size_t bytes, int times, int keeps) {
  void* library = dlopen(path, RTLD_NOW);
  void* (*allocate)(size_t) = (void* (*)(size_t))dlsym(library, function);
  snprintf(places, sizeof places, "%p", (void*)((size_t)allocate & ~(size_t)4095));
  for (int i = 0; i < times; ++i) {
    void* block = allocate(bytes);
    if (!keeps) free(block);
  }
  dlclose(library);
}

static void* reloads(void* path) {
  for (int i = 0; i < 2000; ++i) dlclose(dlopen(path, RTLD_NOW));
  return NULL;
}

// Where one is gone and the other looks, nothing may be read.
static void at_once(char** paths) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, reloads, paths[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (int i = 0; i < 3000; ++i) allocates(argv[1], "plugin_allocates", 1000, 2, i % 2);
  puts(places);
  for (int i = 0; i < 3; ++i) {
    allocates(argv[2], "second_allocates", 100, 5, 1);
    puts(places);
    allocates(argv[1], "plugin_allocates", 10, 1, 0);
  }
  puts(places);
  at_once(argv + 1);
  return 0;
}
