/* Sampling for other agents: a callback of yours gets one object of each thread every so many bytes, with its stack,
 * and says how many bytes until the next. Sampled objects can be followed until they die. Nothing is recorded, nothing
 * is written; escape analysis stays as it is.
 *
 * The JVM has one sampling mechanism: while you use it, heaprec records nothing, and the other way round.
 *
 * Link with -ldl where dlopen is not in libc. libheaprec.so need not be loaded as an agent: heaprec_load does.
 */
#ifndef HEAPREC_SAMPLING_H_
#define HEAPREC_SAMPLING_H_

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As jvmtiFrameInfo. */
typedef struct heaprec_frame {
  void* method;     /* jmethodID */
  int64_t location; /* bytecode index; -1: native */
} heaprec_frame;

/* What a frame was called when its object was sampled: known also when its class has been unloaded since. */
typedef struct heaprec_frame_name {
  const char* class_name;  /* "java/util/HashMap"; NULL: not known */
  const char* method_name; /* these as class_name */
  const char* file_name;   /* "": not known */
  int32_t line;            /* -1: not known; -2: a native method */
} heaprec_frame_name;

/* A sampled object. All pointers are valid during the call only. */
typedef struct heaprec_trace {
  size_t struct_bytes;         /* of this struct: later versions append */
  uint64_t uid;                /* from 1; never given twice in a process */
  int64_t thread_id;           /* java.lang.Thread.getId */
  const char* class_signature; /* "Ljava/lang/String;", "[B"; as JVMTI has it */
  int64_t byte_size;
  int64_t bytes;               /* that the thread has allocated since its sample before this, this object included */
  const heaprec_frame* frames; /* innermost first */
  int32_t frame_count;
  void* context;   /* what the callback has put there: NULL at first */
  int64_t born_ns; /* when it was sampled, by CLOCK_MONOTONIC */
  int64_t
      dead_ns; /* when it was found dead: some time after its collection, at the latest by heaprec_traces; 0: alive */
  const heaprec_frame_name* names; /* of the frames, from heaprec_traces; NULL in the callback, where JVMTI has them */
} heaprec_trace;

/* Where the callback stands: JNI and JVMTI may be called, as in a SampledObjectAlloc event. */
typedef struct heaprec_callback_env {
  void* jni;    /* JNIEnv* */
  void* jvmti;  /* jvmtiEnv* */
  void* object; /* jobject, a local reference */
} heaprec_callback_env;

/* Returns after how many bytes of this thread the next object is wanted; 0 or less: none of this thread any more. Runs
 * on the thread that allocates; what it allocates itself is not sampled. It may set trace->context. */
typedef int64_t (*heaprec_sampling_interval)(heaprec_trace* trace, const heaprec_callback_env* env, void* user);

typedef struct heaprec_sampling {
  size_t struct_bytes;                /* of this struct */
  heaprec_sampling_interval function; /* NULL ends the sampling */
  void* user;                         /* handed to it */
  int64_t first_interval; /* bytes of a thread before its first sample, counted from where it is first met; below 0:
                             drawn for each thread, from an exponential distribution of mean -first_interval */
  int32_t depth;          /* most frames of a stack, 1 to HEAPREC_MAX_FRAMES */
  int32_t followed;       /* most objects followed by weak references, up to HEAPREC_MAX_FOLLOWED; 0: none */
} heaprec_sampling;

enum { HEAPREC_MAX_FRAMES = 128, HEAPREC_MAX_FOLLOWED = 65536, HEAPREC_GARBAGE = 200 };

/* Answers of heaprec_sample. */
enum {
  HEAPREC_OK = 0,
  HEAPREC_INVALID = 1,     /* what was asked for cannot be */
  HEAPREC_RECORDING = 2,   /* a recording is running, or a Java program samples (heaprec.Heaprec) */
  HEAPREC_UNSUPPORTED = 3, /* this JVM cannot be sampled, now or ever: heaprec says why on stderr */
  HEAPREC_NO_LIBRARY = 4
};

/* Starts, or replaces function, user and intervals of what was started; depth and followed stay as they were. `vm` is
 * the JavaVM*; the calling thread is attached, and not inside of the callback. */
typedef int (*heaprec_sample_function)(void* vm, const heaprec_sampling* how);

enum heaprec_trace_set {
  HEAPREC_LIVE = 0,            /* followed, and not found dead so far */
  HEAPREC_RECENT_GARBAGE = 1,  /* the youngest HEAPREC_GARBAGE that were found dead, youngest first */
  HEAPREC_SAMPLED_GARBAGE = 2, /* HEAPREC_GARBAGE drawn at random of all that were found dead */
};

/* Calls visit for each and returns how many there were. visit runs on the calling thread, which is attached, and calls
 * nothing of this header. */
typedef void (*heaprec_visit)(const heaprec_trace* trace, void* user);
typedef int64_t (*heaprec_traces_function)(void* jni, int which, heaprec_visit visit, void* user);

/* Loads the library (path: NULL for what is loaded, or found, under its name); NULL: dlerror says why. */
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

/* Deprecated: the names of version 0.1, for one more release. */
#define heaprec_place heaprec_callback_env
#define heaprec_which heaprec_trace_set
#define HEAPREC_MOST_FRAMES HEAPREC_MAX_FRAMES
#define HEAPREC_MOST_FOLLOWED HEAPREC_MAX_FOLLOWED
#define HEAPREC_REFUSED HEAPREC_UNSUPPORTED

#ifdef __cplusplus
}
#endif

#endif /* HEAPREC_SAMPLING_H_ */
