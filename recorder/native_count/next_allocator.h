// The allocator from which the library gets memory: libc's, or another one that was preloaded after it.
//
// Context:  FindNextAllocator: setup. NoteEarly: within malloc.
// Threads:  only one before FindNextAllocator.
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
  void* (*aligned_alloc)(size_t, size_t);
  size_t (*usable_size)(void*);
  int (*dlclose)(void*);
};
// operator new or delete of the next library that had one at the start; null: none.
struct NextOperator {
  void* function = nullptr;
  // Whether it belongs to the next allocator: then memory from it and from that allocator's malloc are interchangeable.
  // All others (libstdc++'s, a program's own) call malloc and free, or have their own blocks.
  bool is_allocators = false;
};
NextOperator FindNextOperator(const char* mangled);
bool IsInModuleOf(const void* function, const void* other);

// libc's until FindNextAllocator; blocks from that time are early ones.
extern NextAllocator next_allocator __attribute__((visibility("hidden")));

// Whether all functions are libc's, so that each block is preceded by its length.
extern bool is_libc_real __attribute__((visibility("hidden")));

// Whether the program, or a library before this one, has its own malloc, so that the program does not call ours.
extern bool is_preempted __attribute__((visibility("hidden")));

// An address within libc.
const void* InLibc();

// Returns false if an allocator lacks a function; libc is then used for all.
bool FindNextAllocator();
void FreeEarly(void* base);

struct EarlyBlocks {
  std::atomic<uint64_t> count{0}, bytes{0};
};
extern EarlyBlocks early_blocks;
// Counts an early block. Returns false if FindNextAllocator has already succeeded.
bool NoteEarly(size_t size);

// Returns the library's replacement of this function of libc, even if the program binds the name to another one; null:
// none. Context: any.
void* OwnFunction(const char* name);

}  // namespace heaprec::native
