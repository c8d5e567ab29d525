// Starts as many threads as its argument says, all at once, each of which allocates, maps, and uses a library whose
// thread-local memory is allocated when a thread first uses it (LIBRARY, loaded by dlopen). Prints "done".
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static pthread_barrier_t barrier;
static char* (*text_of_thread)(void);

static void* run(void* unused) {
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 200; ++i) {
    char* volatile block = malloc(1000 + 10 * i);
    block[0] = text_of_thread()[i % 1000];
    char* const map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) abort();
    map[0] = block[0];
    munmap(map, 4096);
    free(realloc(block, 5000));
  }
  return unused;
}

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const int threads = atoi(arguments[1]);
  void* const library = dlopen(arguments[2], RTLD_NOW);
  text_of_thread = library != NULL ? (char* (*)(void))dlsym(library, "text_of_thread") : NULL;
  pthread_t* const all = calloc((size_t)threads, sizeof *all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 128 << 10);
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  if (text_of_thread == NULL || all == NULL) return 2;
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&all[i], &small, run, NULL) != 0) return 2;
  }
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  free(all);
  puts("done");
  return 0;
}
