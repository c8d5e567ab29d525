// A library whose constructor ends the process, when it has been in the loader's hands for some ticks of the drain.
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void) {
  usleep(500000);
  exit(6);
}
