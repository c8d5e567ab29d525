// In malloc's place, and does nothing but hand on: what being called at all costs. HEAPREC_MORE: bytes more for each
// block.
#include <cstddef>

#ifndef HEAPREC_MORE
#define HEAPREC_MORE 0
#endif

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);

// Not constants: libc is asked through pointers, as those who look for the next allocator do.
__attribute__((visibility("hidden"))) void* (*forward_malloc)(size_t) = __libc_malloc;
__attribute__((visibility("hidden"))) void (*forward_free)(void*) = __libc_free;

__attribute__((visibility("default"))) void* malloc(size_t size) { return forward_malloc(size + HEAPREC_MORE); }
__attribute__((visibility("default"))) void free(void* block) { forward_free(block); }
}
