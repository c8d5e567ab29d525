// In malloc's place, and does nothing but hand on: what being called at all costs. HEAPREC_MORE: bytes more for each
// block. HEAPREC_WORD: in which a word is written, and looked at when the block is freed: the least that whoever knows
// blocks by what stands in front of them has to do.
#include <cstddef>
#include <cstdint>

#ifndef HEAPREC_MORE
#define HEAPREC_MORE 0
#endif

extern "C" {
void* __libc_malloc(size_t);
void __libc_free(void*);

// Not constants: libc is asked through pointers, as those who look for the next allocator do.
__attribute__((visibility("hidden"))) void* (*forward_malloc)(size_t) = __libc_malloc;
__attribute__((visibility("hidden"))) void (*forward_free)(void*) = __libc_free;

#ifdef HEAPREC_WORD
constexpr uint64_t kMark = 0x68724e56;

__attribute__((visibility("default"))) void* malloc(size_t size) {
  auto* const base = static_cast<uint64_t*>(forward_malloc(size + HEAPREC_MORE));
  if (base == nullptr) return nullptr;
  base[1] = kMark + size;
  return base + HEAPREC_MORE / sizeof *base;
}
__attribute__((visibility("default"))) void free(void* block) {
  if (block == nullptr) return;
  uint64_t* const base = static_cast<uint64_t*>(block) - HEAPREC_MORE / sizeof(uint64_t);
  forward_free(base[1] >= kMark ? base : block);
}
#else
__attribute__((visibility("default"))) void* malloc(size_t size) { return forward_malloc(size + HEAPREC_MORE); }
__attribute__((visibility("default"))) void free(void* block) { forward_free(block); }
#endif
}
