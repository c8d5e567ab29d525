#include "recorder/native_count/next_allocator.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <cstring>

#include "recorder/arch/loader_jumps.h"

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

// dlsym and dlopen of libheaprec-native.so. With libc's functions a program could find libc's free, which would treat
// our block as corrupt and end the program.
void* (*heaprec_real_dlsym)(void*, const char*) = nullptr;
void* (*heaprec_real_dlopen)(const char*, int) = nullptr;

namespace heaprec::native {

NextAllocator next_allocator __attribute__((visibility("hidden"))){
    __libc_malloc, __libc_free, __libc_calloc, __libc_realloc, __libc_memalign, nullptr, nullptr, nullptr};
bool is_libc_real __attribute__((visibility("hidden"))) = true;
bool is_preempted __attribute__((visibility("hidden"))) = false;
EarlyBlocks early_blocks;

namespace {

std::atomic<bool> knows_real{false};

template <typename Function>
bool Find(const char* name, Function** into) {
  *into = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return *into != nullptr;
}

// Compared by address, because tcmalloc also defines __libc_malloc.
template <typename Function>
bool IsLibcs(Function* function) {
  return IsInModuleOf(reinterpret_cast<const void*>(function), InLibc());
}

void* FindNothing(void*, const char*) { return nullptr; }
void* OpenNothing(const char*, int) { return nullptr; }

// The one in libc; or the one in libdl before glibc 2.34, whose symbol version later releases still have.
template <typename Function>
void FindReal(const char* name, Function* otherwise, Function** into) {
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    *into = reinterpret_cast<Function*>(dlvsym(RTLD_NEXT, name, version));
    if (*into != nullptr) return;
  }
  *into = otherwise;
}

}  // namespace

bool FindNextAllocator() {
  NextAllocator found{};
  const bool has_all = Find("malloc", &found.malloc) && Find("free", &found.free) && Find("calloc", &found.calloc) &&
                       Find("realloc", &found.realloc) && Find("memalign", &found.memalign) &&
                       Find("aligned_alloc", &found.aligned_alloc) && Find("malloc_usable_size", &found.usable_size) &&
                       Find("dlclose", &found.dlclose);
  if (!has_all) return false;
  next_allocator = found;
  is_libc_real = IsLibcs(found.malloc) && IsLibcs(found.calloc) && IsLibcs(found.realloc) && IsLibcs(found.memalign);
  knows_real.store(true, std::memory_order_release);
  return true;
}

NextOperator FindNextOperator(const char* mangled) {
  void* const found = dlsym(RTLD_NEXT, mangled);
  const bool is_allocators = found != nullptr && !is_libc_real && !is_preempted &&
                             IsInModuleOf(found, reinterpret_cast<const void*>(next_allocator.malloc));
  return {found, is_allocators};
}

bool IsInModuleOf(const void* function, const void* other) {
  Dl_info one, another;
  return dladdr(function, &one) != 0 && dladdr(other, &another) != 0 && one.dli_fbase == another.dli_fbase;
}

const void* InLibc() { return reinterpret_cast<const void*>(gnu_get_libc_version); }

void FreeEarly(void* base) { __libc_free(base); }

bool NoteEarly(size_t size) {
  if (knows_real.load(std::memory_order_acquire)) return false;
  early_blocks.count.fetch_add(1, std::memory_order_relaxed);
  early_blocks.bytes.fetch_add(size, std::memory_order_relaxed);
  return true;
}

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
