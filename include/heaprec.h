/* Labels the samples of a thread from C; heaprec.Heaprec is the same for Java.
 *
 * Link with -ldl where dlopen is not in libc. In a process without the agent these functions do nothing.
 */
#ifndef HEAPREC_H_
#define HEAPREC_H_

#include <dlfcn.h>
#include <stddef.h>

typedef void (*heaprec_label_function)(const char* key, const char* value);

/* Looks the function up by name, so keep the result. NULL without the agent. */
static inline heaprec_label_function heaprec_find_label(void) {
  union {
    void* symbol;
    heaprec_label_function function;
  } label = {NULL};
  void* agent = dlopen("libheaprec.so", RTLD_LAZY | RTLD_NOLOAD);
  if (agent != NULL) label.symbol = dlsym(agent, "heaprec_label");
  return label.function;
}

/* Labels the samples of the current thread from now on; a value of NULL removes the label. A key contains no '='. A
 * thread has room for 255 bytes of labels: each takes "key=value" and one byte more. A label that does not fit is not
 * set. */
static inline void heaprec_label_thread(const char* key, const char* value) {
  const heaprec_label_function label = heaprec_find_label();
  if (label != NULL) label(key, value);
}

#endif /* HEAPREC_H_ */
