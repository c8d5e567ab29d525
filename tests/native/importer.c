// Calls strtol, which has no other caller in the test: through its slot, and through a table of its own.
#include <stdlib.h>

typedef long (*function)(const char*, char**, int);

const function table[] = {strtol};

long call(const char* text) { return strtol(text, NULL, 10); }
long call_through_table(const char* text) { return table[0](text, NULL, 10); }
