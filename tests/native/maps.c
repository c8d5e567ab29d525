// Maps what the test knows to the byte: 16 pieces of 4 MB, of which four and a half go again, and 8 MB in a reserve of
// 1 GB.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#define MB (1UL << 20)

__attribute__((noinline)) char* piece(void) {
  return mmap(NULL, 4 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
__attribute__((noinline)) char* reserves(void) {
  return mmap(NULL, 1024 * MB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
__attribute__((noinline)) char* commits(char* at) {
  return mmap(at, 8 * MB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(void) {
  char* pieces[16];
  for (int i = 0; i < 16; ++i) pieces[i] = piece();
  for (int i = 0; i < 4; ++i) munmap(pieces[i], 4 * MB);
  munmap(pieces[7] + MB, 2 * MB);
  char* const reserve = reserves();
  commits(reserve + 16 * MB);
  puts("mapped");
  return 0;
}
