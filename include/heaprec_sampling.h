/* Sampling for other agents. Your callback gets one object of each thread per N bytes, with its stack, and returns the
 * number of bytes until the next. heaprec can track the sampled objects until they die. It records and writes nothing;
 * escape analysis does not change.
 *
 *   heaprec_sampling how = {sizeof how, on_sample, NULL, 512 * 1024, 64, 1000};
 *   int result = heaprec_sample(heaprec_load("/path/to/libheaprec.so"), vm, &how);
 *
 * The JVM has one sampling mechanism: while you sample, heaprec cannot record, and while it records you cannot sample.
 *
 * Link with -ldl where dlopen is not in libc. heaprec_load loads libheaprec.so; it need not be loaded as an agent.
 */
#ifndef HEAPREC_SAMPLING_H_
#define HEAPREC_SAMPLING_H_

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Like jvmtiFrameInfo. */
typedef struct heaprec_frame {
  void* method;     /* jmethodID */
  int64_t location; /* bytecode index; -1: native */
} heaprec_frame;

/* The names of a frame when its object was sampled. They stay valid after its class has been unloaded. */
typedef struct heaprec_frame_name {
  const char* class_name;  /* "java/util/HashMap"; NULL: unknown */
  const char* method_name; /* NULL: unknown */
  const char* file_name;   /* "": unknown */
  int32_t line;            /* -1: unknown; -2: a native method */
} heaprec_frame_name;

/* What ran the innermost frame when it allocated. A method that was inlined runs in the code of its caller. */
enum heaprec_code {
  HEAPREC_CODE_UNKNOWN = 0, /* a JDK whose stacks heaprec cannot walk */
  HEAPREC_CODE_INTERPRETER = 1,
  HEAPREC_CODE_C1 = 2,
  HEAPREC_CODE_C2 = 3,     /* or the compiler that replaces it */
  HEAPREC_CODE_NATIVE = 4, /* a native method */
};

/* A sampled object. All pointers are valid only during the call. */
typedef struct heaprec_trace {
  size_t struct_bytes;         /* of this struct; later versions append fields */
  uint64_t uid;                /* from 1, unique in the process */
  int64_t thread_id;           /* java.lang.Thread.getId */
  const char* class_signature; /* JVMTI's: "Ljava/lang/String;", "[B" */
  int64_t byte_size;           /* of the object */
  int64_t bytes;               /* allocated by the thread since its previous sample, including this object */
  const heaprec_frame* frames; /* innermost first */
  int32_t frame_count;
  void* context;   /* set by the callback; NULL at first */
  int64_t born_ns; /* when it was sampled, CLOCK_MONOTONIC */
  int64_t dead_ns; /* when it was found dead, after its collection, at the latest by heaprec_traces; 0: live */
  const heaprec_frame_name* names; /* of the frames, in heaprec_traces; NULL in the callback: use JVMTI there */
  int32_t code;                    /* enum heaprec_code */
} heaprec_trace;

/* The environment of the callback, which may call JNI and JVMTI as in a SampledObjectAlloc event. */
typedef struct heaprec_callback_env {
  void* jni;    /* JNIEnv* */
  void* jvmti;  /* jvmtiEnv* */
  void* object; /* jobject, a local reference */
} heaprec_callback_env;

/* Runs on the allocating thread; its own allocations are not sampled. It may set trace->context. Returns the number of
 * bytes of this thread until its next sample; 0 or less: no more samples of this thread. */
typedef int64_t (*heaprec_sampling_interval)(heaprec_trace* trace, const heaprec_callback_env* env, void* user);

typedef struct heaprec_sampling {
  size_t struct_bytes;                /* of this struct */
  heaprec_sampling_interval function; /* NULL ends the sampling */
  void* user;                         /* passed to the function */
  int64_t first_interval;             /* bytes of a thread before its first sample, from the first time heaprec sees it;
                                         below 0: random for each thread, exponential with mean -first_interval */
  int32_t depth;                      /* maximum frames of a stack, 1 to HEAPREC_MAX_FRAMES */
  int32_t tracked;                    /* maximum objects with a weak reference, up to HEAPREC_MAX_TRACKED; 0: none */
} heaprec_sampling;

enum { HEAPREC_MAX_FRAMES = 128, HEAPREC_MAX_TRACKED = 65536, HEAPREC_GARBAGE = 200 };

/* Results of heaprec_sample. */
enum {
  HEAPREC_OK = 0,
  HEAPREC_INVALID = 1,     /* an invalid argument */
  HEAPREC_RECORDING = 2,   /* a recording is running, or a Java program samples (heaprec.Heaprec) */
  HEAPREC_UNSUPPORTED = 3, /* this JVM cannot be sampled; stderr has the reason */
  HEAPREC_NO_LIBRARY = 4   /* the library is not loaded */
};

/* Starts sampling. If it has been started already, replaces function, user and first_interval, and keeps depth and
 * tracked; if first_interval is below 0, each thread draws its next sample anew. `vm` is the JavaVM*. Call it from an
 * attached thread, outside of the callback. */
typedef int (*heaprec_sample_function)(void* vm, const heaprec_sampling* how);

enum heaprec_trace_set {
  HEAPREC_LIVE = 0,            /* tracked, and not found dead so far */
  HEAPREC_RECENT_GARBAGE = 1,  /* the HEAPREC_GARBAGE objects found dead last, latest first */
  HEAPREC_SAMPLED_GARBAGE = 2, /* HEAPREC_GARBAGE objects, random, of all that were found dead */
};

/* Calls visit for each object of the set and returns their number. visit runs on the calling thread, which must be
 * attached, and must not call functions of this header. */
typedef void (*heaprec_visit)(const heaprec_trace* trace, void* user);
typedef int64_t (*heaprec_traces_function)(void* jni, int which, heaprec_visit visit, void* user);

/* Loads the library; path NULL: the one that is loaded, or that dlopen finds by its name. NULL on error: see dlerror.
 */
static inline void* heaprec_load(const char* path) { return dlopen(path != NULL ? path : "libheaprec.so", RTLD_NOW); }

static inline int heaprec_sample(void* library, void* vm, const heaprec_sampling* how) {
  union {
    void* symbol;
    heaprec_sample_function function;
  } found = {library != NULL ? dlsym(library, "heaprec_sample_allocations") : NULL};
  return found.symbol != NULL ? found.function(vm, how) : HEAPREC_NO_LIBRARY;
}

static inline int64_t heaprec_traces(void* library, void* jni, int which, heaprec_visit visit, void* user) {
  union {
    void* symbol;
    heaprec_traces_function function;
  } found = {library != NULL ? dlsym(library, "heaprec_visit_traces") : NULL};
  return found.symbol != NULL ? found.function(jni, which, visit, user) : 0;
}

#ifdef __cplusplus
}
#endif

#endif /* HEAPREC_SAMPLING_H_ */
