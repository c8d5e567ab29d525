// A library that is a while in the loader's hands with one of its slots done: strtol's. The next one is that of a
// function which is chosen at load. Bound at load, both are read only then.
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

static long chosen(void) { return 3; }

static long (*choose(void))(void) {
  struct timespec rest = {0, 300000000};
  long result = 0;
  // Who chooses may have no slot of his own yet.
  do {
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(SYS_nanosleep), "D"(&rest), "S"(&rest)
                     : "rcx", "r11", "memory");
  } while (result != 0);
  return chosen;
}

__attribute__((visibility("hidden"))) long chooses(void) __attribute__((ifunc("choose")));

long call(const char* text) { return strtol(text, NULL, 10) + chooses(); }

// The loader changes the code itself here.
__asm__(R"(
  .text
  .globl call_from_code
  .type call_from_code, @function
call_from_code:
  movabsq $strtol, %rax
  xorl %esi, %esi
  movl $10, %edx
  jmp *%rax
  .size call_from_code, . - call_from_code
)");
