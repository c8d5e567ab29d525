/* Labels the samples of a thread from C; heaprec.Heaprec is the same for Java.
 *
 * Link with -ldl where dlopen is not in libc. Everything here does nothing in a process without the agent.
 */
#ifndef HEAPREC_H_
#define HEAPREC_H_

#include <dlfcn.h>
#include <stddef.h>

typedef void (*heaprec_label_function)(const char* key, const char* value);

/* NULL without the agent. Worth keeping: it is looked up by name. */
static inline heaprec_label_function heaprec_find_label(void) {
  union {
    void* symbol;
    heaprec_label_function function;
  } label = {NULL};
  void* agent = dlopen("libheaprec.so", RTLD_LAZY | RTLD_NOLOAD);
  if (agent != NULL) label.symbol = dlsym(agent, "heaprec_label");
  return label.function;
}

/* Labels what the current thread allocates from now on; a value of NULL takes the label away. A key holds no '='. A
 * thread has room for 255 bytes of labels; one that does not fit is not set. */
static inline void heaprec_label_thread(const char* key, const char* value) {
  const heaprec_label_function label = heaprec_find_label();
  if (label != NULL) label(key, value);
}

#endif /* HEAPREC_H_ */
