#include "recorder/native_sample/malloc_hooks.h"

#include <dlfcn.h>
#include <malloc.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/time.h"
#include "format/ring/ring_records.h"
#include "recorder/arch/dlsym_jump.h"
#include "recorder/arch/machine.h"

namespace heaprec::native {
namespace {

using arch::Call;

// The replaced functions, called by address, because their names may refer to patched slots.
struct Originals {
  decltype(&::malloc) malloc = &::malloc;
  decltype(&::calloc) calloc = &::calloc;
  decltype(&::free) free = &::free;
  decltype(&::realloc) realloc = &::realloc;
  decltype(&::reallocarray) reallocarray = &::reallocarray;
  decltype(&::posix_memalign) posix_memalign = &::posix_memalign;
  decltype(&::aligned_alloc) aligned_alloc = &::aligned_alloc;
  decltype(&::memalign) memalign = &::memalign;
  decltype(&::valloc) valloc = &::valloc;
  decltype(&::pvalloc) pvalloc = &::pvalloc;
  decltype(&::strdup) strdup = &::strdup;
  decltype(&::strndup) strndup = &::strndup;
  // Null in some versions of libc.
  void (*cfree)(void*) = nullptr;
  void (*free_sized)(void*, size_t) = nullptr;
  void (*free_aligned_sized)(void*, size_t, size_t) = nullptr;
};
Originals real;

constinit std::atomic<AllocationListener*> active_listener{nullptr};
// Guards the next two variables and the patcher. Its holder may hold the lock of the loader's list.
std::timed_mutex patching;
bool are_installed = false;            // MallocHooks has installed the hooks
GotPatcher::Changes seen_changes = 0;  // at the last call of TakeLibraryChanges
SampledBlocks blocks;
std::atomic<uint32_t> unseen_allocators{0};
std::atomic<bool> has_found_other{false};  // dlsym has found another malloc

AllocationListener* Active() {
  AllocationListener* const listener = active_listener.load();
  return listener != nullptr && IsOriginalProcess() ? listener : nullptr;
}

// Sequentially consistent, like the stores of active_listener and the stores of 0 in WakeAll. If a thread finds no
// listener, either its second look finds the next one, or its store of UINT64_MAX precedes the 0 of WakeAll.
__attribute__((noinline)) void* Due(void* block, size_t size, Function function, Call call) {
  ThreadClock* const clock = ThreadClocks::Own();
  if (clock->is_in_hook) return block;
  clock->is_in_hook = true;
  const int error = errno;
  clock->is_inside.store(true);
  for (;;) {
    if (AllocationListener* const listener = Active()) {
      listener->OnDue(clock, {block, size, function, {call.pc(), call.cfa, call.frame}});
      break;
    }
    clock->due.store(UINT64_MAX);
    if (Active() == nullptr) break;
  }
  clock->is_inside.store(false);
  errno = error;
  clock->is_in_hook = false;
  return block;
}

// Handles the first call of a thread, which has no clock yet, so the call has not been counted.
__attribute__((noinline)) void* DueOrFirst(void* block, size_t size, Function function, Call call) {
  if (ThreadClocks::HasOwn()) return Due(block, size, function, call);
  ThreadClock* const clock = ThreadClocks::Own();
  // No clock was available: this one is shared by several threads.
  if (clock->due.load(std::memory_order_relaxed) == UINT64_MAX) return block;
  clock->bytes.store(clock->bytes.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
  clock->calls.store(clock->calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return Due(block, size, function, call);
}

HEAPREC_INLINE void* Counted(void* block, size_t size, Function function) {
  if (block == nullptr) [[unlikely]] {
    return block;
  }
  ThreadClock* const clock = ThreadClocks::OwnOrShared();
  const uint64_t bytes = clock->bytes.load(std::memory_order_relaxed) + size;
  clock->bytes.store(bytes, std::memory_order_relaxed);
  clock->calls.store(clock->calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (bytes >= clock->due.load(std::memory_order_relaxed)) [[unlikely]] {
    return DueOrFirst(block, size, function, HEAPREC_CALL);
  }
  return block;
}

GotPatcher& Patcher();

// Marks that the thread reads tracked blocks; sequentially consistent, as in Due.
class Looking {
 public:
  Looking() : clock_(ThreadClocks::Own()), was_inside_(clock_->is_inside.exchange(true)), is_on_(Active() != nullptr) {}
  ~Looking() { clock_->is_inside.store(was_inside_); }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;

  uint16_t Take(void* block) const { return is_on_ ? blocks.Take(block) : uint16_t{0}; }

 private:
  ThreadClock* const clock_;
  const bool was_inside_, is_on_;
};

__attribute__((noinline)) void FreeTracked(void* block) {
  const Looking looking;
  if (const uint16_t place = looking.Take(block)) blocks.MarkDead(place, block, MonotonicNs());
}

HEAPREC_INLINE void Freed(void* block) {
  if (blocks.MayHold(block)) [[unlikely]] {
    FreeTracked(block);
  }
}

void* Malloc(size_t size) { return Counted(real.malloc(size), size, Function::kMalloc); }

void* Calloc(size_t count, size_t each) { return Counted(real.calloc(count, each), count * each, Function::kCalloc); }

void Free(void* block) {
  Freed(block);
  real.free(block);
}

// Takes the entry before another thread can get the block.
__attribute__((noinline)) void* ReallocateTracked(void* block, size_t size) {
  const Looking looking;
  const uint16_t place = looking.Take(block);
  void* const moved = real.realloc(block, size);
  if (place == 0) return moved;
  if (moved == nullptr && size != 0) {
    blocks.Restore(place, block);
  } else {
    blocks.MarkDead(place, block, MonotonicNs());
  }
  return moved;
}

HEAPREC_INLINE void* Reallocated(void* block, size_t size) {
  void* const moved = blocks.MayHold(block) ? ReallocateTracked(block, size) : real.realloc(block, size);
  return Counted(moved, size, Function::kRealloc);
}

void* Realloc(void* block, size_t size) { return Reallocated(block, size); }

void* ReallocArray(void* block, size_t count, size_t each) {
  size_t size = 0;
  if (__builtin_mul_overflow(count, each, &size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Reallocated(block, size);
}

int PosixMemalign(void** into, size_t alignment, size_t size) {
  const int result = real.posix_memalign(into, alignment, size);
  if (result == 0) (void)Counted(*into, size, Function::kMemalign);
  return result;
}

void* AlignedAlloc(size_t alignment, size_t size) {
  return Counted(real.aligned_alloc(alignment, size), size, Function::kMemalign);
}

void* Memalign(size_t alignment, size_t size) {
  return Counted(real.memalign(alignment, size), size, Function::kMemalign);
}

void* Valloc(size_t size) { return Counted(real.valloc(size), size, Function::kMemalign); }

void* Pvalloc(size_t size) { return Counted(real.pvalloc(size), size, Function::kMemalign); }

// Counts the block here, because libc's own call of malloc does not reach the hooks: libc's slots are not changed.
HEAPREC_INLINE char* Duplicated(char* copy) {
  return static_cast<char*>(Counted(copy, copy != nullptr ? strlen(copy) + 1 : 0, Function::kStrdup));
}

char* Strdup(const char* text) { return Duplicated(real.strdup(text)); }

char* Strndup(const char* text, size_t most) { return Duplicated(real.strndup(text, most)); }

void Cfree(void* block) {
  Freed(block);
  real.cfree(block);
}

void FreeSized(void* block, size_t size) {
  Freed(block);
  real.free_sized(block, size);
}

void FreeAlignedSized(void* block, size_t alignment, size_t size) {
  Freed(block);
  real.free_aligned_sized(block, alignment, size);
}

// operator new and delete in all their forms, with the sizes, alignments and std::nothrow that follow the first
// argument. They are replaced if an allocator defines them; libstdc++'s call malloc and free, which are replaced.
std::array<void*, 20> operators{};

template <size_t kIndex, typename... More>
void* New(size_t size, More... more) {
  const auto real_new = reinterpret_cast<void* (*)(size_t, More...)>(operators[kIndex]);
  return Counted(real_new(size, more...), size, Function::kNew);
}

template <size_t kIndex, typename... More>
void Delete(void* block, More... more) {
  Freed(block);
  reinterpret_cast<void (*)(void*, More...)>(operators[kIndex])(block, more...);
}

struct Operator {
  const char* name;
  void* replacement;
};

template <size_t kIndex, typename... More>
Operator NewNamed(const char* name) {
  return {name, reinterpret_cast<void*>(&New<kIndex, More...>)};
}
template <size_t kIndex, typename... More>
Operator DeleteNamed(const char* name) {
  return {name, reinterpret_cast<void*>(&Delete<kIndex, More...>)};
}

std::vector<Import> OperatorImports() {
  using Word = size_t;
  const std::array all{NewNamed<0>("_Znwm"),
                       NewNamed<1>("_Znam"),
                       NewNamed<2, Word>("_ZnwmRKSt9nothrow_t"),
                       NewNamed<3, Word>("_ZnamRKSt9nothrow_t"),
                       NewNamed<4, Word>("_ZnwmSt11align_val_t"),
                       NewNamed<5, Word>("_ZnamSt11align_val_t"),
                       NewNamed<6, Word, Word>("_ZnwmSt11align_val_tRKSt9nothrow_t"),
                       NewNamed<7, Word, Word>("_ZnamSt11align_val_tRKSt9nothrow_t"),
                       DeleteNamed<8>("_ZdlPv"),
                       DeleteNamed<9>("_ZdaPv"),
                       DeleteNamed<10, Word>("_ZdlPvm"),
                       DeleteNamed<11, Word>("_ZdaPvm"),
                       DeleteNamed<12, Word>("_ZdlPvRKSt9nothrow_t"),
                       DeleteNamed<13, Word>("_ZdaPvRKSt9nothrow_t"),
                       DeleteNamed<14, Word>("_ZdlPvSt11align_val_t"),
                       DeleteNamed<15, Word>("_ZdaPvSt11align_val_t"),
                       DeleteNamed<16, Word, Word>("_ZdlPvmSt11align_val_t"),
                       DeleteNamed<17, Word, Word>("_ZdaPvmSt11align_val_t"),
                       DeleteNamed<18, Word, Word>("_ZdlPvSt11align_val_tRKSt9nothrow_t"),
                       DeleteNamed<19, Word, Word>("_ZdaPvSt11align_val_tRKSt9nothrow_t")};
  static_assert(all.size() == operators.size());
  std::vector<Import> imports;
  for (size_t i = 0; i < all.size(); ++i) {
    operators[i] = ResolveSymbol(all[i].name);
    if (operators[i] == nullptr || !IsDefinedBeside(operators[i], "malloc")) continue;
    imports.push_back({all[i].name, all[i].replacement, {operators[i], dlsym(RTLD_DEFAULT, all[i].name)}});
  }
  return imports;
}

template <typename Original, typename Replacement>
Import Of(const char* name, Original* original, Replacement* replacement) {
  void* const meant = reinterpret_cast<void*>(*original);
  if (void* const defined = ResolveSymbol(name)) *original = reinterpret_cast<Original>(defined);
  return {name, reinterpret_cast<void*>(replacement), {reinterpret_cast<void*>(*original), meant}};
}

// Programs compiled with older headers of libc call `name` instead of the function in `of`.
Import AliasOf(const char* name, Import of) {
  of.name = name;
  return of;
}

// Returns the imports that libc has. cfree is only for programs linked before glibc 2.26, so only dlvsym finds it.
std::vector<Import> OptionalImports() {
  real.cfree = reinterpret_cast<decltype(real.cfree)>(dlvsym(RTLD_DEFAULT, "cfree", "GLIBC_2.2.5"));
  std::vector<Import> all{Of("cfree", &real.cfree, &Cfree), Of("free_sized", &real.free_sized, &FreeSized),
                          Of("free_aligned_sized", &real.free_aligned_sized, &FreeAlignedSized)};
  std::erase_if(all, [](const Import& import) { return import.originals[0] == nullptr; });
  return all;
}

std::vector<Import> AllImports() {
  std::vector<Import> all{Of("malloc", &real.malloc, &Malloc),
                          Of("calloc", &real.calloc, &Calloc),
                          Of("free", &real.free, &Free),
                          Of("realloc", &real.realloc, &Realloc),
                          Of("reallocarray", &real.reallocarray, &ReallocArray),
                          Of("posix_memalign", &real.posix_memalign, &PosixMemalign),
                          Of("aligned_alloc", &real.aligned_alloc, &AlignedAlloc),
                          Of("memalign", &real.memalign, &Memalign),
                          Of("valloc", &real.valloc, &Valloc),
                          Of("pvalloc", &real.pvalloc, &Pvalloc),
                          Of("strdup", &real.strdup, &Strdup),
                          Of("strndup", &real.strndup, &Strndup),
                          Of("dlsym", &heaprec_real_dlsym, &heaprec_dlsym)};
  const auto find = [&all](std::string_view name) { return *std::ranges::find(all, name, &Import::name); };
  all.push_back(AliasOf("__strdup", find("strdup")));
  all.push_back(AliasOf("__strndup", find("strndup")));
  for (const std::vector<Import>& more : {OptionalImports(), OperatorImports(), MappingImports()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

GotPatcher& Patcher() {
  // Never destroyed: patched slots may be used until the process ends.
  static GotPatcher* const patcher = new GotPatcher(AllImports(), reinterpret_cast<const void*>(&blocks));
  return *patcher;
}

void NoteUnseen(const GotPatcher::Outcome& outcome) {
  unseen_allocators.fetch_add(static_cast<uint32_t>(outcome.unseen.size()), std::memory_order_relaxed);
}

// Returns the replacement that dlsym must return; null: dlsym's own result.
void* Replaced(void* handle, const char* name, const void* caller) {
  const Import* const import = Patcher().ImportNamed(name);
  if (import == nullptr) return nullptr;
  void* const found = handle == RTLD_NEXT ? ResolveNext(name, caller) : heaprec_real_dlsym(handle, name);
  if (found == nullptr || found == import->replacement) return found;
  if (std::ranges::find(import->originals, found) != import->originals.end()) return import->replacement;
  const bool is_other = std::string_view(name) == "malloc" && IsDefinedBeside(found, name);
  if (is_other && !has_found_other.exchange(true)) unseen_allocators.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

// A thread that has just loaded a library looks up its functions with dlsym. So this patches the library before any of
// its functions run, except for its constructors. dlopen cannot be replaced, because it examines its caller. dlsym
// itself waits for loading threads; this function must not wait for anything else.
void PatchLoaded() {
  const auto try_to = [](const auto& act) {
    const std::unique_lock lock(patching, std::try_to_lock);
    // After the end of MallocHooks nothing may be replaced.
    if (lock.owns_lock() && Active() != nullptr) act();
  };
  try {
    std::optional<GotPatcher::Listed> loaded;
    try_to([&] {
      if (Patcher().LibrariesChanged()) loaded = GotPatcher::Loaded();
    });
    if (!loaded) return;
    GotPatcher::AwaitLoaders();
    try_to([&] {
      if (const auto outcome = Patcher().Patch(*loaded)) NoteUnseen(*outcome);
    });
  } catch (...) {  // out of memory: the next tick tries again
  }
}

// Does nothing if it runs in a signal handler that has interrupted it.
void* BeforeDlsym(void* handle, const char* name, const void* caller) {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool is_inside = false;
  if (Active() == nullptr || std::exchange(is_inside, true)) return nullptr;
  PatchLoaded();
  void* const instead = name != nullptr ? Replaced(handle, name, caller) : nullptr;
  is_inside = false;
  return instead;
}

}  // namespace

const char* FunctionName(Function function) { return format::kNativeFunctions[static_cast<size_t>(function)]; }

Result<std::unique_ptr<MallocHooks>> MallocHooks::Install() {
  std::unique_ptr<MallocHooks> hooks(new MallocHooks);
  {
    const std::lock_guard lock(patching);
    if (are_installed) return Error{"another recording of this process already samples it"};
    hooks->is_installed_ = are_installed = true;
  }
  if (!InitForkGuard() || !ThreadClocks::Prepare()) return Error{"no memory for the threads' clocks"};
  constexpr timespec kPause{0, 1'000'000};
  constexpr int kMaxPauses = 200;
  for (int i = 0; !IsQuiet() && i < kMaxPauses; ++i) nanosleep(&kPause, nullptr);
  if (!IsQuiet()) return Error{"a thread is still in the hooks of the previous recording"};
  // Two megabytes, which a short program does not use.
  KeepSparse(&blocks, sizeof blocks);
  static bool have_blocks_been_used = false;
  if (std::exchange(have_blocks_been_used, true)) blocks.Clear();
  const GotPatcher::Outcome outcome = PatchLibraries();
  hooks->missing_ = outcome.Refusal() + (outcome.refused > 0 && !outcome.unseen.empty() ? "; " : "") + outcome.Unseen();
  // A program that imports none of these functions may later load a library that does.
  if (outcome.changed > 0 || outcome.refused == 0) return hooks;
  return Error{"no library's malloc can be replaced; " + hooks->missing_};
}

void MallocHooks::Activate(AllocationListener* listener, MmapListener* mmap_listener) {
  active_listener.store(listener);
  SetMmapListener(mmap_listener);
  ThreadClocks::WakeAll();
}

// Does not hold the lock while it waits for a loading thread, because that thread may wait for this one.
GotPatcher::Outcome PatchLibraries() {
  constexpr int kMaxTries = 8;
  for (int i = 0; i < kMaxTries; ++i) {
    const GotPatcher::Listed loaded = [] {
      const std::lock_guard lock(patching);
      return GotPatcher::Loaded();
    }();
    GotPatcher::AwaitLoaders();
    const std::lock_guard lock(patching);
    if (!are_installed) break;
    if (const auto outcome = Patcher().Patch(loaded)) return NoteUnseen(*outcome), *outcome;
  }
  return {};
}

LibraryChanges TakeLibraryChanges() {
  const std::lock_guard lock(patching);
  const GotPatcher::Changes patched = Patcher().changes();
  return {Patcher().LibrariesChanged(), std::exchange(seen_changes, patched) != patched};
}

MallocHooks::~MallocHooks() {
  if (!is_installed_) return;
  active_listener.store(nullptr);
  SetMmapListener(nullptr);
  const std::lock_guard lock(patching);
  (void)Patcher().UndoAll();
  are_installed = false;
  unseen_allocators.store(0, std::memory_order_relaxed);
  has_found_other.store(false);
}

bool IsQuiet() { return !ThreadClocks::IsAnybodyInside() && AreMappingsQuiet(); }

bool HoldPatching(std::chrono::milliseconds patience) { return patching.try_lock_for(patience); }

void ReleasePatching() { patching.unlock(); }

void AbandonHooks() {
  active_listener.store(nullptr, std::memory_order_relaxed);
  AbandonMmapListener();
}

uint32_t UnseenAllocators() { return unseen_allocators.load(std::memory_order_relaxed); }

SampledBlocks& Blocks() { return blocks; }

}  // namespace heaprec::native

void* heaprec_before_dlsym(void* handle, const char* name, const void* caller) {
  return heaprec::native::BeforeDlsym(handle, name, caller);
}
