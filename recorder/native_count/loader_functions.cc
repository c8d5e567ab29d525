// dlsym and dlopen of libheaprec-native.so. Through libc's dlsym and dlopen a program could reach libc's free, which
// takes a block of ours for one that was overwritten, and ends the program.
#include <dlfcn.h>

#include "recorder/arch/loader_jumps.h"
#include "recorder/native_count/next_allocator.h"

void* (*heaprec_real_dlsym)(void*, const char*) = nullptr;
void* (*heaprec_real_dlopen)(const char*, int) = nullptr;

namespace heaprec::native {
namespace {

void* FindNothing(void*, const char*) { return nullptr; }
void* OpenNothing(const char*, int) { return nullptr; }

// libc's own; libdl's before glibc 2.34, whose version the later ones still have.
template <typename Function>
void FindReal(const char* name, Function* otherwise, Function** into) {
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    *into = reinterpret_cast<Function*>(dlvsym(RTLD_NEXT, name, version));
    if (*into != nullptr) return;
  }
  *into = otherwise;
}

}  // namespace
}  // namespace heaprec::native

void heaprec_find_loader() {
  using namespace heaprec::native;
  FindReal("dlsym", FindNothing, &heaprec_real_dlsym);
  FindReal("dlopen", OpenNothing, &heaprec_real_dlopen);
}

void* heaprec_dlsym_in(void* handle, const char* name) {
  using namespace heaprec::native;
  void* const found = heaprec_real_dlsym(handle, name);
  if (found == nullptr || is_preempted) return found;
  void* const own = OwnFunction(name);
  if (own == nullptr) return found;
  const bool is_replaced =
      IsInModuleOf(found, InLibc()) || IsInModuleOf(found, reinterpret_cast<const void*>(next_allocator.malloc));
  return is_replaced ? own : found;
}
