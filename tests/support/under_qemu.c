// Stands in the place of a program for aarch64 and runs it: NAME runs NAME.aarch64 with qemu-user, whose libraries are in
// NAME.tree. Linked statically, so that LD_PRELOAD, which is the program's, is not for this one.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char program[PATH_MAX + 16], tree[PATH_MAX + 16], preload[1 << 16];
  const ssize_t length = readlink("/proc/self/exe", program, PATH_MAX);
  char** const command = calloc((size_t)argc + 8, sizeof *command);
  if (length <= 0 || command == NULL) return 126;
  memcpy(tree, program, (size_t)length);
  strcpy(tree + length, ".tree");
  strcpy(program + length, ".aarch64");
  int at = 0;
  command[at++] = "qemu-aarch64";
  command[at++] = "-L";
  command[at++] = tree;
  if (getenv("LD_PRELOAD") != NULL) {
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    unsetenv("LD_PRELOAD");
    command[at++] = "-E";
    command[at++] = preload;
  }
  command[at++] = program;
  memcpy(command + at, argv + 1, (size_t)argc * sizeof *argv);  // with the null at the end
  execvp(command[0], command);
  fprintf(stderr, "qemu-aarch64: %s\n", strerror(errno));
  return 126;
}
