// An allocator to preload behind ours. It hands on to libc, and has blocks of its own at the begin of a page with
// nothing readable in front of them, as other allocators have: page_block, for free and realloc.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void* __libc_malloc(size_t);
void __libc_free(void*);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

enum { kPageBytes = 4096, kMost = 256 };
static void* pages[kMost];
static int count = 0;

static int is_page(void* block) {
  for (int i = 0; i < count; ++i) {
    if (pages[i] == block && block != NULL) return 1;
  }
  return 0;
}

void* page_block(void) {
  char* const memory = mmap(NULL, 2 * kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + kPageBytes, kPageBytes, PROT_READ | PROT_WRITE);
  return pages[count++ % kMost] = memory + kPageBytes;
}

void* malloc(size_t size) { return __libc_malloc(size); }
void* calloc(size_t number, size_t size) { return __libc_calloc(number, size); }
void* memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }
static void give_back(void* block) {
  if (!is_page(block)) return __libc_free(block);
  for (int i = 0; i < count; ++i) pages[i] = pages[i] == block ? NULL : pages[i];
  munmap((char*)block - kPageBytes, 2 * kPageBytes);
}
void free(void* block) { give_back(block); }
void* realloc(void* block, size_t size) {
  if (!is_page(block)) return __libc_realloc(block, size);
  void* const moved = __libc_malloc(size);
  memcpy(moved, block, size < kPageBytes ? size : kPageBytes);
  give_back(block);
  return moved;
}
// Of page blocks alone: what libc says of its own nobody asks here.
size_t malloc_usable_size(void* block) { return is_page(block) ? kPageBytes : 0; }
