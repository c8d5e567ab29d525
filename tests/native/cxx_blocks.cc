// Allocates through operator new and delete in all their forms, and through malloc found by dlsym, in functions of
// known sums. Linked against the shared libstdc++, so that an allocator's operators take the place of its own.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#define FUNCTION extern "C" __attribute__((noinline))

namespace {
char* volatile sink;
constexpr std::align_val_t kAligned{64};
constexpr int kTimes = 20'000, kVectors = 200'000;

template <typename Block>
void Use(Block* block) {
  sink = reinterpret_cast<char*>(block);
  *sink = 1;
}
}  // namespace

FUNCTION void leak_new() { Use(::operator new(1000)); }
FUNCTION void leak_malloc() { Use(malloc(1000)); }
FUNCTION void churn_vector() {
  const std::vector<int> numbers(250);
  sink = reinterpret_cast<char*>(const_cast<int*>(numbers.data()));
}

// Fourteen blocks of 1,024 bytes, a multiple of the alignment, to which libstdc++ rounds up, each by another pair of
// forms, and an empty one.
FUNCTION void all_forms() {
  constexpr std::size_t size = 1024;
  const auto churn = [](void* block, auto release) {
    if (reinterpret_cast<std::size_t>(block) % 16 != 0) abort();
    Use(static_cast<char*>(block));
    release(block);
  };
  churn(::operator new(size), [](void* it) { ::operator delete(it); });
  churn(::operator new[](size), [](void* it) { ::operator delete[](it); });
  churn(::operator new(size), [](void* it) { ::operator delete(it, size); });
  churn(::operator new[](size), [](void* it) { ::operator delete[](it, size); });
  churn(::operator new(size, std::nothrow), [](void* it) { ::operator delete(it, std::nothrow); });
  churn(::operator new[](size, std::nothrow), [](void* it) { ::operator delete[](it, std::nothrow); });
  churn(::operator new(size, std::nothrow), [](void* it) { ::operator delete(it); });
  churn(::operator new[](size, std::nothrow), [](void* it) { ::operator delete[](it); });
  churn(::operator new(size, kAligned), [](void* it) { ::operator delete(it, kAligned); });
  churn(::operator new[](size, kAligned), [](void* it) { ::operator delete[](it, kAligned); });
  churn(::operator new(size, kAligned), [](void* it) { ::operator delete(it, size, kAligned); });
  churn(::operator new[](size, kAligned), [](void* it) { ::operator delete[](it, size, kAligned); });
  churn(::operator new(size, kAligned, std::nothrow), [](void* it) { ::operator delete(it, kAligned, std::nothrow); });
  churn(::operator new[](size, kAligned, std::nothrow),
        [](void* it) { ::operator delete[](it, kAligned, std::nothrow); });
  ::operator delete(::operator new(0));
  ::operator delete(nullptr);
}

// Undefined, but all allocators take it.
FUNCTION void mixes() {
  ::operator delete(malloc(1000));
  free(::operator new(1000));
}

FUNCTION void through_default() {
  static const auto allocate = reinterpret_cast<void* (*)(std::size_t)>(dlsym(RTLD_DEFAULT, "malloc"));
  Use(static_cast<char*>(allocate(1000)));
}
FUNCTION void through_next() {
  static const auto allocate = reinterpret_cast<void* (*)(std::size_t)>(dlsym(RTLD_NEXT, "malloc"));
  Use(static_cast<char*>(allocate(1000)));
}
FUNCTION void through_handle() {
  static const auto allocate = reinterpret_cast<void* (*)(std::size_t)>(dlsym(dlopen(nullptr, RTLD_LAZY), "malloc"));
  Use(static_cast<char*>(allocate(1000)));
}

// With an argument it also asks for more than there is: mimalloc built without C++ ends the program then.
int main(int count, char**) {
  for (int i = 0; i < kTimes; ++i) {
    leak_new();
    leak_malloc();
    all_forms();
    mixes();
    through_default();
    through_next();
    through_handle();
  }
  for (int i = 0; i < kVectors; ++i) churn_vector();
  bool has_thrown = count == 1, is_null = count == 1;
  if (count > 1) {
    try {
      sink = static_cast<char*>(::operator new (~std::size_t{0} / 4));
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    is_null = ::operator new (~std::size_t{0} / 4, std::nothrow) == nullptr;
  }
  std::puts(has_thrown && is_null ? "done" : "wrong");
  return 0;
}
