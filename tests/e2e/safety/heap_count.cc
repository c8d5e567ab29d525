// Linked into the counted agent: adds up the heap that the agent uses. The linker's --wrap puts these functions between
// the agent's own code (its static libstdc++ included) and libc. Mappings are not counted: the ring, a few pages of
// code, and the table of threads, of which the pages of threads that live are touched.
//
// HEAPREC_HEAP_FILE names a file whose first eight bytes become the most that was ever in use, in bytes.
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int64_t> in_use{0};

std::atomic<int64_t>* MostInUse() {
  static std::atomic<int64_t> nowhere{0};
  const char* const path = getenv("HEAPREC_HEAP_FILE");  // NOLINT(concurrency-mt-unsafe): the JVM does not change it
  if (path == nullptr) return &nowhere;
  const int descriptor = open(path, O_RDWR | O_CREAT, 0600);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(nowhere)) != 0) return &nowhere;
  void* const memory = mmap(nullptr, sizeof(nowhere), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return memory == MAP_FAILED ? &nowhere : static_cast<std::atomic<int64_t>*>(memory);
}

std::atomic<int64_t>* const most_in_use = MostInUse();

void Count(int64_t bytes) {
  const int64_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t most = most_in_use->load(std::memory_order_relaxed);
  while (now > most && !most_in_use->compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

template <typename T>
T* Counted(T* memory) {
  Count(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker chooses these names.
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void** memory, size_t alignment, size_t size);
void __real_free(void* memory);
char* __real_strdup(const char* text);

void* __wrap_malloc(size_t size) { return Counted(__real_malloc(size)); }
void* __wrap_calloc(size_t count, size_t size) { return Counted(__real_calloc(count, size)); }
void* __wrap_aligned_alloc(size_t alignment, size_t size) { return Counted(__real_aligned_alloc(alignment, size)); }
char* __wrap_strdup(const char* text) { return Counted(__real_strdup(text)); }

int __wrap_posix_memalign(void** memory, size_t alignment, size_t size) {
  const int error = __real_posix_memalign(memory, alignment, size);
  if (error == 0) Counted(*memory);
  return error;
}

void* __wrap_realloc(void* memory, size_t size) {
  const auto before = static_cast<int64_t>(malloc_usable_size(memory));
  void* const moved = __real_realloc(memory, size);
  if (moved != nullptr) Count(static_cast<int64_t>(malloc_usable_size(moved)) - before);
  return moved;
}

void __wrap_free(void* memory) {
  Count(-static_cast<int64_t>(malloc_usable_size(memory)));
  __real_free(memory);
}
// NOLINTEND(bugprone-reserved-identifier)
}
