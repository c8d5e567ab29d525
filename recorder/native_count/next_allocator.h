// Where the library gets memory: from libc, or from another allocator that was preloaded after it.
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
// operator new or delete of the next library that had one at the start; null: none had.
struct NextOperator {
  void* function = nullptr;
  // It is the next allocator's own: what we get from that allocator's malloc is the same. All others (libstdc++'s, a
  // program's own) call malloc and free, or have blocks of their own.
  bool is_allocators = false;
};
NextOperator FindNextOperator(const char* mangled);
bool IsInModuleOf(const void* function, const void* other);

// libc's own until FindNextAllocator; blocks from before are early ones.
extern NextAllocator next_allocator __attribute__((visibility("hidden")));

// All functions are libc's: each block from it has its length before it.
extern bool is_libc_real __attribute__((visibility("hidden")));

// The program, or a library before this one, has a malloc of its own: the program does not call ours.
extern bool is_preempted __attribute__((visibility("hidden")));

// An address within libc.
const void* InLibc();

// False: an allocator lacks a function; then libc is used throughout.
bool FindNextAllocator();
void FreeEarly(void* base);

struct EarlyBlocks {
  std::atomic<uint64_t> count{0}, bytes{0};
};
extern EarlyBlocks early_blocks;
// Counts an early block. False: FindNextAllocator has already succeeded.
bool NoteEarly(size_t size);

// The function of this name that the library exports in the place of libc's, whatever the program binds the name to;
// null: it has none. Context: any.
void* OwnFunction(const char* name);

}  // namespace heaprec::native
