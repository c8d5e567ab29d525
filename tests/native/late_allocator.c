// A library whose thread allocates 0.5 s after the library was loaded: after several ticks of the drain.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

extern atomic_int has_allocated;

__attribute__((noinline)) void allocates_late(void) {
  for (int i = 0; i < 20000; ++i) {
    void* volatile block = malloc(1000);
    free(block);
  }
}

static void* run(void* unused) {
  usleep(500000);
  allocates_late();
  has_allocated = 1;
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_detach(thread);
}
