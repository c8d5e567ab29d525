// What Native.java calls.
#include <stdlib.h>

void Java_Native_keep(void* jni, void* class, long count, long size) {
  (void)jni, (void)class;
  for (long i = 0; i < count; ++i) {
    char* volatile block = malloc((size_t)size);
    if (block != NULL) block[0] = 1;
  }
}
void Java_Native_churn(void* jni, void* class, long bytes, long size) {
  (void)jni, (void)class;
  for (long left = bytes; left > 0; left -= size) free(malloc((size_t)size));
}
