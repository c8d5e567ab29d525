// Whom we ask for memory: libc, or another allocator that was preloaded behind us.
//
// Context:  FindNextAllocator: setup. NoteEarly: within malloc.
// Threads:  before FindNextAllocator there is one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heaprec::native {

struct NextAllocator {
  void* (*malloc)(size_t);
  void (*free)(void*);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*memalign)(size_t, size_t);
  // Null until they are found.
  size_t (*usable_size)(void*);
  int (*dlclose)(void*);
};
// libc's own until FindNextAllocator; blocks from before are early ones.
extern NextAllocator next_allocator __attribute__((visibility("hidden")));

// All of them are libc's: each block that anybody has from it has its length in front.
extern bool is_libc_real __attribute__((visibility("hidden")));

// False: somebody lacks a function; libc is asked to the end.
bool FindNextAllocator();
void FreeEarly(void* base);

struct EarlyBlocks {
  std::atomic<uint64_t> count{0}, bytes{0};
};
extern EarlyBlocks early_blocks;
// False: it is late.
bool NoteEarly(size_t size);

}  // namespace heaprec::native
