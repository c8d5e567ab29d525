#include "recorder/hotspot/threads/current_thread.h"

#include <dlfcn.h>
#include <limits.h>

#include <optional>

#include "recorder/hotspot/libjvm/libjvm.h"

namespace heaprec::hotspot {
namespace {

// libjvm exports its classes' tables for the serviceability agent. The first two words are the compiler's.
uintptr_t FunctionsOfJavaThread() {
  const auto libjvm = LibJvm::Locate();
  void* const handle = libjvm.ok() ? dlopen(libjvm->path.c_str(), RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (handle == nullptr) return 0;
  const auto table = reinterpret_cast<uintptr_t>(dlsym(handle, "_ZTV10JavaThread"));
  dlclose(handle);
  return table != 0 ? table + 2 * sizeof(void*) : 0;
}

}  // namespace

format::Result<CurrentThread> CurrentThread::Resolve(const void* java_thread) {
  const uintptr_t functions = FunctionsOfJavaThread();
  if (functions == 0) return format::Error{"libjvm does not export the functions of JavaThread"};
  std::optional<pthread_key_t> key;
  for (pthread_key_t candidate = 0; candidate < PTHREAD_KEYS_MAX; ++candidate) {
    if (pthread_getspecific(candidate) != java_thread) continue;
    if (key) return format::Error{"several keys have the JavaThread"};
    key = candidate;
  }
  if (!key) return format::Error{"no key has the JavaThread"};
  return CurrentThread(*key, functions);
}

}  // namespace heaprec::hotspot
