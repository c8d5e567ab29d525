// A program that imports no function of malloc's or mmap's family. With an argument it loads that library, and waits
// until the library's thread says that it has allocated.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((visibility("default"))) atomic_int has_allocated;

int main(int argc, char** argv) {
  if (argc > 1) {
    if (dlopen(argv[1], RTLD_NOW) == NULL) return 1;
    while (!has_allocated) usleep(10000);
  }
  puts("done");
  return 5;
}
