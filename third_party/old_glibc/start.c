// For a program, with --wrap=__libc_start_main. crt1.o of glibc 2.34 and later passes no function that runs the
// program's constructors, because libc finds them by itself; an earlier libc would run none.
#include <stddef.h>

typedef void Constructor(int, char**, char**);
typedef int Program(int, char**, char**);
extern Constructor* __preinit_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __preinit_array_end[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
int __real___libc_start_main(Program*, int, char**, Constructor*, void (*)(void), void (*)(void), void*);

static void Construct(int argc, char** argv, char** environment) {
  for (Constructor** at = __preinit_array_start; at != __preinit_array_end; ++at) (*at)(argc, argv, environment);
  for (Constructor** at = __init_array_start; at != __init_array_end; ++at) (*at)(argc, argv, environment);
}

__attribute__((visibility("hidden"))) int __wrap___libc_start_main(Program* program, int argc, char** argv,
                                                                   Constructor* none, void (*destroy)(void),
                                                                   void (*end_of_loader)(void), void* stack) {
  (void)none;
  return __real___libc_start_main(program, argc, argv, Construct, destroy, end_of_loader, stack);
}
