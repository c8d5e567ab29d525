// Calls strtol, which has no other caller in the test: through its slot, and through a table of its own.
#include <stdlib.h>

typedef long (*function)(const char*, char**, int);

const function table[] = {strtol};

// A pointer that is strtol's at load, and is made to lead to a function of the library's own.
static long own(const char* text, char** end, int base) {
  (void)text, (void)end, (void)base;
  return 5;
}
function pointer = strtol;

long call(const char* text) { return strtol(text, NULL, 10); }
long call_through_table(const char* text) { return table[0](text, NULL, 10); }
long call_through_pointer(const char* text) { return pointer(text, NULL, 10); }
long choose_own(const char* text) {
  pointer = own;
  return text != NULL;
}
