// What Native.java calls.
#include <jni.h>
#include <pthread.h>
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

static JavaVM* vm;
static long arrays;

__attribute__((noinline)) void make_array(JNIEnv* jni) {
  (*jni)->DeleteLocalRef(jni, (*jni)->NewByteArray(jni, 1000));
}

static void* attached(void* none) {
  JNIEnv* jni = NULL;
  (*vm)->AttachCurrentThread(vm, (void**)&jni, NULL);
  for (long i = 0; i < arrays; ++i) make_array(jni);
  (*vm)->DetachCurrentThread(vm);
  return none;
}

// A thread without Java frames makes so many arrays.
void Java_Native_attach(JNIEnv* jni, void* class, long count) {
  (void)class;
  (*jni)->GetJavaVM(jni, &vm);
  arrays = count;
  pthread_t thread;
  pthread_create(&thread, NULL, attached, NULL);
  pthread_join(thread, NULL);
}
