// libheaprec-native.so, for LD_PRELOAD: counts every malloc and free of the program by call site. The whole family is
// replaced from the start, so each block can have a header.
//
//   HEAPREC_NATIVE_EXACT=file=native-%p.hnt,depth=1,only=NAME,check
//
// Context:  everything here runs inside malloc: in threads that may hold the loader's lock or any other, in
// constructors,
//           after fork. The library has no heap of its own.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/descriptors.h"
#include "base/memory.h"
#include "base/time.h"
#include "recorder/native_count/block_header.h"
#include "recorder/native_count/next_allocator.h"
#include "recorder/native_count/preload_options.h"
#include "recorder/native_count/site_counters.h"
#include "recorder/native_count/site_table.h"
#include "recorder/native_count/stale_tables.h"

// clang-format off
#define HEAPREC_FOR_EACH_OPERATOR(DO) \
  DO(_Znwm) DO(_Znam) DO(_ZnwmRKSt9nothrow_t) DO(_ZnamRKSt9nothrow_t) \
  DO(_ZnwmSt11align_val_t) DO(_ZnamSt11align_val_t) \
  DO(_ZnwmSt11align_val_tRKSt9nothrow_t) DO(_ZnamSt11align_val_tRKSt9nothrow_t) \
  DO(_ZdlPv) DO(_ZdaPv) DO(_ZdlPvm) DO(_ZdaPvm) DO(_ZdlPvRKSt9nothrow_t) DO(_ZdaPvRKSt9nothrow_t) \
  DO(_ZdlPvSt11align_val_t) DO(_ZdaPvSt11align_val_t) DO(_ZdlPvmSt11align_val_t) DO(_ZdaPvmSt11align_val_t) \
  DO(_ZdlPvSt11align_val_tRKSt9nothrow_t) DO(_ZdaPvSt11align_val_tRKSt9nothrow_t)
// clang-format on

namespace heaprec::native {
namespace {

ExactOptions options;
char table_path[kMaxPath], copy_path[kMaxPath];
// Bytes added to each block: its header and, with `check`, the canary after it.
constinit size_t block_overhead = kHeaderBytes;

inline bool Overflows(size_t size, size_t more) { return more > PTRDIFF_MAX || size > PTRDIFF_MAX - more; }

// As in glibc: the largest power of two.
constexpr size_t kMaxAlignment = ~(SIZE_MAX >> 1);

inline bool IsAtPageBegin(const void* block) {
  constexpr uintptr_t kPageBytes = 4096;
  return reinterpret_cast<uintptr_t>(block) % kPageBytes == 0;
}

// The header of a block at the start of a page is in the previous page. If another allocator made the block, that page
// may not be mapped; glibc always has its own header there. Otherwise the header is in the block's own page.
inline bool IsReadableAndOurs(void* block) {
  if (IsAtPageBegin(block) && !is_libc_real && !IsReadable(reinterpret_cast<uintptr_t>(WordAt(block)))) return false;
  return IsOurs(block);
}

inline void* NoMemory() {
  errno = ENOMEM;
  return nullptr;
}

__attribute__((noinline)) void* AllocateLarge(size_t size, Call call) {
  if (Overflows(size, block_overhead)) return NoMemory();
  return CountAllocationSlow(next_allocator.malloc(size + block_overhead), kHeaderBytes, size, call);
}

HEAPREC_INLINE void* Allocate(size_t size) {
  if (size >= HeaderWord::kLarge) [[unlikely]] {
    return AllocateLarge(size, HEAPREC_CALL);
  }
  void* const base = next_allocator.malloc(size + block_overhead);
  return Counted(base, size);
}

// `room`: bytes that the program may use; `size`: bytes that it requested.
HEAPREC_INLINE void* AllocateAligned(size_t alignment, size_t size, size_t room) {
  const size_t offset = std::max(alignment, kHeaderBytes);
  const size_t more = offset + block_overhead - kHeaderBytes;
  if (Overflows(room, more)) return NoMemory();
  void* const base = next_allocator.memalign(offset, room + more);
  return CountAllocationSlow(base, offset, size, HEAPREC_CALL, /*may_check=*/room == size);
}

HEAPREC_INLINE void* AllocateAligned(size_t alignment, size_t size) { return AllocateAligned(alignment, size, size); }

// The alignment need not be a power of two.
HEAPREC_INLINE void* AllocateRoundedUp(size_t alignment, size_t size) {
  if (alignment <= kMaxAlignment) return AllocateAligned(std::bit_ceil(alignment), size);
  errno = EINVAL;
  return nullptr;
}

// A copy of `size` bytes and a terminating zero.
HEAPREC_INLINE char* Duplicate(const char* text, size_t size) {
  // A program with its own malloc may pass only blocks of that malloc to its free.
  auto* const copy = static_cast<char*>(is_preempted ? malloc(size + 1) : Allocate(size + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, size);
  copy[size] = 0;
  return copy;
}

// Early blocks belong to libc, whose function may be replaced now; with `check` a canary follows the block.
size_t UsableSize(void* block, const Header& header) {
  if (header.is_early || header.is_checked || next_allocator.usable_size == nullptr) return header.size;
  return next_allocator.usable_size(static_cast<std::byte*>(block) - header.offset) - header.offset;
}

__attribute__((noinline)) void Overrun(const Header& header) {
  SiteTable* const of = TableOfProcess();
  if (of == nullptr) return;
  of->header().overruns.fetch_add(1, std::memory_order_relaxed);
  uint32_t none = 0;
  if (!of->header().overrun_site.compare_exchange_strong(none, header.site + 1)) return;
  const int error = errno;
  ReportOverrun(header.size, copy_path);
  errno = error;
}

__attribute__((noinline)) void FreeSlowly(void* block) {
  if (block == nullptr) return;
  if (!IsReadableAndOurs(block)) {
    if (SiteTable* const of = TableOfProcess()) {
      of->header().foreign_frees.fetch_add(1, std::memory_order_relaxed);
    }
    return next_allocator.free(block);
  }
  const Header header = HeaderOf(block);
  if (header.is_checked && !IsWhole(block, header)) Overrun(header);
  CountFreeSlow(header);
  Unmark(block);
  void* const base = static_cast<std::byte*>(block) - header.offset;
  return header.is_early ? FreeEarly(base) : next_allocator.free(base);
}

// Null also counts as the start of a page.
HEAPREC_INLINE void Free(void* block) {
  if (IsAtPageBegin(block) || !DiscountQuickly(block)) [[unlikely]] {
    return FreeSlowly(block);
  }
  return next_allocator.free(static_cast<std::byte*>(block) - kHeaderBytes);
}

HEAPREC_INLINE void* Reallocate(void* block, size_t size) {
  if (block == nullptr) return Allocate(size);
  if (!IsReadableAndOurs(block)) return next_allocator.realloc(block, size);
  if (size == 0) {
    FreeSlowly(block);
    return nullptr;
  }
  if (Overflows(size, block_overhead)) return NoMemory();
  const Header before = HeaderOf(block);
  if (before.offset != kHeaderBytes || before.is_early) {
    void* const moved = Allocate(size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(size, UsableSize(block, before)));
    FreeSlowly(block);
    return moved;
  }
  void* const old = static_cast<std::byte*>(block) - kHeaderBytes;
  if (before.is_checked && !IsWhole(block, before)) Overrun(before);
  Unmark(block);
  void* const base = next_allocator.realloc(old, size + block_overhead);
  if (base == nullptr) {
    Begin(old, before);
    return nullptr;
  }
  CountFreeSlow(before);
  return CountAllocationSlow(base, kHeaderBytes, size, HEAPREC_CALL);
}

// In the order of HEAPREC_FOR_EACH_OPERATOR.
enum : size_t {
#define HEAPREC_NUMBER(name) k##name,
  HEAPREC_FOR_EACH_OPERATOR(HEAPREC_NUMBER) kOperators
};
NextOperator next_operators[kOperators];

void FindNextOperators() {
  constexpr const char* kNames[] = {
#define HEAPREC_NAME(name) #name,
      HEAPREC_FOR_EACH_OPERATOR(HEAPREC_NAME)};
  for (size_t i = 0; i < kOperators; ++i) next_operators[i] = FindNextOperator(kNames[i]);
}

size_t AlignmentOf(size_t alignment) { return std::max(alignment, kHeaderBytes); }

// Calls libstdc++'s operator new, which calls the new-handler and throws. If libstdc++ was loaded by dlopen together
// with the calling library, RTLD_NEXT did not find it, so it is looked up through that library.
void* NewWithoutMemory(const NextOperator& next, size_t size, const void* caller) {
  void* function = next.function;
  Dl_info info;
  if (function == nullptr && dladdr(caller, &info) != 0) {
    void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    function = library != nullptr ? dlsym(library, "_Znwm") : nullptr;
  }
  if (function == nullptr || function == OwnFunction("_Znwm")) abort();
  return reinterpret_cast<void* (*)(size_t, size_t)>(function)(size, kHeaderBytes);
}

// `more`: alignment and std::nothrow arguments of the operator. `alignment`: 0 if it has none.
template <size_t kIndex, bool kThrows, typename... More>
HEAPREC_INLINE void* New(size_t size, size_t alignment, More... more) {
  const NextOperator& next = next_operators[kIndex];
  if (next.function != nullptr && !next.is_allocators) {
    return reinterpret_cast<void* (*)(size_t, More...)>(next.function)(size, more...);
  }
  const size_t at_least = std::max<size_t>(size, 1);
  void* const block = is_preempted     ? (alignment != 0 ? aligned_alloc(alignment, at_least) : malloc(at_least))
                      : alignment != 0 ? AllocateAligned(alignment, at_least)
                                       : Allocate(at_least);
  if (block == nullptr && kThrows) return NewWithoutMemory(next, size, __builtin_return_address(0));
  return block;
}

template <size_t kIndex, typename... More>
HEAPREC_INLINE void Delete(void* block, More... more) {
  const NextOperator& next = next_operators[kIndex];
  if (next.function != nullptr && !next.is_allocators) {
    return reinterpret_cast<void (*)(void*, More...)>(next.function)(block, more...);
  }
  return is_preempted ? free(block) : Free(block);
}

// Shared memory is lost when the machine stops, so this writes a file.
void CopyTable(SiteTable* of) {
  const int descriptor = MovedUp(open(copy_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  const bool is_whole = descriptor >= 0 && of->CopyTo(descriptor);
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  if (is_whole) {
    unlink(table_path);
    return;
  }
  if (descriptor >= 0) unlink(copy_path);                            // the disk is full
  ReportTableLocation(copy_path, std::strerror(error), table_path);  // NOLINT(concurrency-mt-unsafe): exit
}

const char* Variable(const char* name, char** environment) {
  const size_t length = std::strlen(name);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  }
  return nullptr;
}

void* (*probed_malloc)(size_t) = nullptr;
void* probed_base = nullptr;
void* NoteBase(size_t size) { return probed_base = probed_malloc(size); }

// Calls malloc as the program does, and checks whether this library has made the block. The bytes before the block do
// not show that, because another allocator may have any data there. The address from dlsym does not show it either: a
// program that is not position independent has its own entry for malloc.
bool IsPreempted() {
  probed_malloc = std::exchange(next_allocator.malloc, NoteBase);
  void* volatile allocated = malloc(1);
  next_allocator.malloc = probed_malloc;
  void* const block = allocated;
  const bool is_other =
      block != nullptr && (probed_base == nullptr || block != static_cast<std::byte*>(probed_base) + kHeaderBytes);
  free(block);
  return is_other;
}

// Runs before all other constructors, including libc's (-z initfirst), so getenv does not work yet.
__attribute__((constructor)) void Start(int, char**, char** environment) {
  const ReentrancyGuard inside;
  if (!FindNextAllocator()) return;
  is_preempted = IsPreempted();
  FindNextOperators();
  if (!ParseExactOptions(Variable("HEAPREC_NATIVE_EXACT", environment), &options) || !IsChosen(options)) return;
  if (!PrepareCounting(options.depth, options.check)) return;
  TablePath(table_path);
  ExpandPath(options.file, copy_path);
  RemoveStaleTables(kTableFolder, kStaleTablesKept);
  if (is_preempted)
    return ReportNotRecorded(table_path, "the program, or a library preloaded before heaprec, has its own malloc");
  const char* why = "";
  SiteTable* const made = SiteTable::Create(table_path, options.depth, &why);
  if (made == nullptr) return ReportNotRecorded(table_path, why);
  made->header().early_blocks = early_blocks.count.load();
  made->header().early_bytes = early_blocks.bytes.load();
  made->header().checks = options.check;
  if (options.check) block_overhead = kHeaderBytes + kCanaryBytes;
  pthread_atfork(nullptr, nullptr, StopInChild);
  table.store(made, std::memory_order_release);
}

__attribute__((destructor)) void End() {
  SiteTable* const of = TableOfProcess();
  // Before Linux 4.14, which has no MADV_WIPEONFORK, a child that was forked without fork's handlers gets its parent's
  // table: it must not end that.
  if (of == nullptr || of->header().pid != static_cast<uint32_t>(getpid())) return;
  of->header().end_monotonic_ns = MonotonicNs();
  of->header().state = static_cast<uint32_t>(format::NativeState::kEnded);
  CopyTable(of);
}

bool IsPower(size_t alignment) { return std::has_single_bit(alignment); }

}  // namespace
}  // namespace heaprec::native

#define HEAPREC_EXPORT extern "C" __attribute__((visibility("default"), noinline))

namespace native = heaprec::native;

HEAPREC_EXPORT void* malloc(size_t size) { return native::Allocate(size); }

HEAPREC_EXPORT void free(void* block) { native::Free(block); }

HEAPREC_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || native::Overflows(bytes, native::block_overhead)) {
    return native::NoMemory();
  }
  void* const base = native::next_allocator.calloc(1, bytes + native::block_overhead);
  return bytes < native::HeaderWord::kLarge
             ? native::Counted(base, bytes)
             : native::CountAllocationSlow(base, native::kHeaderBytes, bytes, HEAPREC_CALL);
}

HEAPREC_EXPORT void* realloc(void* block, size_t size) { return native::Reallocate(block, size); }

HEAPREC_EXPORT void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return native::NoMemory();
  if (native::is_preempted) return realloc(block, bytes);
  return native::Reallocate(block, bytes);
}

HEAPREC_EXPORT void* memalign(size_t alignment, size_t size) { return native::AllocateRoundedUp(alignment, size); }

HEAPREC_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  // glibc refuses other alignments since 2.38.
  if (!native::IsPower(alignment) && native::is_libc_real && native::next_allocator.aligned_alloc != nullptr) {
    void* const probe = native::next_allocator.aligned_alloc(alignment, 1);
    if (probe == nullptr) return nullptr;
    native::next_allocator.free(probe);
  }
  return native::AllocateRoundedUp(alignment, size);
}

HEAPREC_EXPORT int posix_memalign(void** into, size_t alignment, size_t size) {
  if (!native::IsPower(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int error = errno;
  void* const block = native::AllocateAligned(alignment, size);
  errno = error;
  if (block == nullptr) return ENOMEM;
  *into = block;
  return 0;
}

HEAPREC_EXPORT void* valloc(size_t size) {
  return native::AllocateAligned(static_cast<size_t>(sysconf(_SC_PAGESIZE)), size);
}

HEAPREC_EXPORT void* pvalloc(size_t size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (native::Overflows(size, page)) return native::NoMemory();
  return native::AllocateAligned(page, size, (size + page - 1) / page * page);
}

HEAPREC_EXPORT char* strdup(const char* text) { return native::Duplicate(text, std::strlen(text)); }

HEAPREC_EXPORT char* strndup(const char* text, size_t most) { return native::Duplicate(text, strnlen(text, most)); }

// Inline functions in libc's headers have called these.
HEAPREC_EXPORT char* __strdup(const char* text) { return native::Duplicate(text, std::strlen(text)); }

HEAPREC_EXPORT char* __strndup(const char* text, size_t most) { return native::Duplicate(text, strnlen(text, most)); }

// For programs built before glibc 2.26, and C23's functions: libc's own would treat our block as one of its own.
HEAPREC_EXPORT void cfree(void* block) { native::Free(block); }

HEAPREC_EXPORT void free_sized(void* block, size_t) { native::Free(block); }

HEAPREC_EXPORT void free_aligned_sized(void* block, size_t, size_t) { native::Free(block); }

HEAPREC_EXPORT size_t malloc_usable_size(void* block) {
  if (block == nullptr) return 0;
  const bool is_ours = native::IsReadableAndOurs(block);
  return native::UsableSize(block, is_ours ? native::HeaderOf(block) : native::Header{.offset = 0});
}

// operator new and delete in all forms. They are extern "C" because the compiler knows the C++ functions and makes
// assumptions about their results.
HEAPREC_EXPORT void* _Znwm(size_t size) { return native::New<native::k_Znwm, true>(size, 0); }
HEAPREC_EXPORT void* _Znam(size_t size) { return native::New<native::k_Znam, true>(size, 0); }
HEAPREC_EXPORT void* _ZnwmRKSt9nothrow_t(size_t size, const void* nothrow) {
  return native::New<native::k_ZnwmRKSt9nothrow_t, false>(size, 0, nothrow);
}
HEAPREC_EXPORT void* _ZnamRKSt9nothrow_t(size_t size, const void* nothrow) {
  return native::New<native::k_ZnamRKSt9nothrow_t, false>(size, 0, nothrow);
}
HEAPREC_EXPORT void* _ZnwmSt11align_val_t(size_t size, size_t alignment) {
  return native::New<native::k_ZnwmSt11align_val_t, true>(size, native::AlignmentOf(alignment),
                                                          native::AlignmentOf(alignment));
}
HEAPREC_EXPORT void* _ZnamSt11align_val_t(size_t size, size_t alignment) {
  return native::New<native::k_ZnamSt11align_val_t, true>(size, native::AlignmentOf(alignment),
                                                          native::AlignmentOf(alignment));
}
HEAPREC_EXPORT void* _ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void* nothrow) {
  return native::New<native::k_ZnwmSt11align_val_tRKSt9nothrow_t, false>(size, native::AlignmentOf(alignment),
                                                                         native::AlignmentOf(alignment), nothrow);
}
HEAPREC_EXPORT void* _ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, const void* nothrow) {
  return native::New<native::k_ZnamSt11align_val_tRKSt9nothrow_t, false>(size, native::AlignmentOf(alignment),
                                                                         native::AlignmentOf(alignment), nothrow);
}
#define HEAPREC_DELETE(suffix, parameters, ...)                                                           \
  HEAPREC_EXPORT void _ZdlPv##suffix parameters { native::Delete<native::k_ZdlPv##suffix>(__VA_ARGS__); } \
  HEAPREC_EXPORT void _ZdaPv##suffix parameters { native::Delete<native::k_ZdaPv##suffix>(__VA_ARGS__); }
HEAPREC_DELETE(, (void* block), block)
HEAPREC_DELETE(m, (void* block, size_t size), block, size)
HEAPREC_DELETE(RKSt9nothrow_t, (void* block, const void* nothrow), block, nothrow)
HEAPREC_DELETE(St11align_val_t, (void* block, size_t alignment), block, alignment)
HEAPREC_DELETE(mSt11align_val_t, (void* block, size_t size, size_t alignment), block, size, alignment)
HEAPREC_DELETE(St11align_val_tRKSt9nothrow_t, (void* block, size_t alignment, const void* nothrow), block, alignment,
               nothrow)

// Another library may be loaded at the address of the unloaded one. If that happens before ForgetUnloaded, its calls
// are counted for the old one.
HEAPREC_EXPORT int dlclose(void* library) {
  if (native::next_allocator.dlclose == nullptr && !native::FindNextAllocator()) return -1;
  const int result = native::next_allocator.dlclose(library);
  native::ForgetUnloaded();
  return result;
}

namespace heaprec::native {

// clang-format off
#define HEAPREC_FOR_EACH_FUNCTION(DO) HEAPREC_FOR_EACH_OPERATOR(DO) \
  DO(malloc) DO(free) DO(calloc) DO(realloc) DO(reallocarray) DO(memalign) DO(aligned_alloc) DO(posix_memalign) \
  DO(valloc) DO(pvalloc) DO(strdup) DO(strndup) DO(__strdup) DO(__strndup) DO(cfree) DO(free_sized) \
  DO(free_aligned_sized) DO(malloc_usable_size)
// clang-format on

// Each name refers to the function to which the program has bound it. The aliases always refer to those in this file.
#define HEAPREC_ALIAS(name) \
  extern "C" __attribute__((visibility("hidden"), alias(#name), copy(::name))) decltype(::name) heaprec_own_##name;
HEAPREC_FOR_EACH_FUNCTION(HEAPREC_ALIAS)

void* OwnFunction(const char* name) {
#define HEAPREC_RETURN_IF_NAMED(own) \
  if (std::strcmp(name, #own) == 0) return reinterpret_cast<void*>(&heaprec_own_##own);
  HEAPREC_FOR_EACH_FUNCTION(HEAPREC_RETURN_IF_NAMED)
  return nullptr;
}

}  // namespace heaprec::native
