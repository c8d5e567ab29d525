#include "recorder/native_sample/mmap_hooks.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "base/memory.h"

namespace heaprec::native {
namespace {

constinit std::atomic<MmapListener*> active_listener{nullptr};
constinit std::atomic<uint32_t> inside{0};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside = false;

// Sequentially consistent, like the store of null: a thread that finds a listener is counted in `inside` before
// AreMappingsQuiet reads the count.
class Visit {
 public:
  Visit() : error_(errno) {
    inside.fetch_add(1);
    listener_ = active_listener.load();
    if (listener_ != nullptr && !IsOriginalProcess()) listener_ = nullptr;
    if (listener_ == nullptr) return;
    if (is_inside) {
      listener_->OnUnknownState();
      listener_ = nullptr;
    } else {
      is_inside = true;
    }
  }
  ~Visit() {
    if (listener_ != nullptr) is_inside = false;
    inside.fetch_sub(1);
    errno = error_;
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // Sets the errno that the caller will see.
  void Failed(int error) { error_ = error; }
  MmapListener* operator->() const { return listener_; }
  explicit operator bool() const { return listener_ != nullptr; }

 private:
  int error_;
  MmapListener* listener_;
};

uintptr_t PageBytes() {
  static constinit std::atomic<uintptr_t> known{0};
  uintptr_t bytes = known.load(std::memory_order_relaxed);
  if (bytes != 0) return bytes;
  bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  known.store(bytes, std::memory_order_relaxed);
  return bytes;
}

// Rounds up, because the kernel maps whole pages.
uintptr_t EndOf(uintptr_t begin, size_t bytes) { return (begin + bytes + PageBytes() - 1) & ~(PageBytes() - 1); }

MappingType TypeOf(int protection, int flags) {
  if (protection == PROT_NONE) return MappingType::kReserve;
  const int type = flags & MAP_TYPE;
  if (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) return MappingType::kShared;
  return (flags & MAP_ANONYMOUS) != 0 ? MappingType::kPrivate : MappingType::kFile;
}

// Compiled with a frame pointer: the first word of a hook's frame is that of its caller's frame.
#define HEAPREC_CALLER                                                                                            \
  Registers {                                                                                                     \
    reinterpret_cast<uintptr_t>(__builtin_return_address(0)), reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa()), \
        *static_cast<const uintptr_t*>(__builtin_frame_address(0))                                                \
  }

void* Map(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  void* const at = mmap(address, bytes, protection, flags, file, offset);
  const bool failed = at == MAP_FAILED;
  // With MAP_FIXED the kernel may have unmapped the range before it failed.
  if (failed && (flags & MAP_FIXED) == 0) return at;
  const Visit visit;
  if (!visit) return at;
  if (failed) {
    visit->OnUnknownState();
  } else {
    const auto begin = reinterpret_cast<uintptr_t>(at);
    visit->OnMapped({begin, EndOf(begin, bytes), TypeOf(protection, flags), (flags & MAP_FIXED) != 0}, HEAPREC_CALLER);
  }
  return at;
}

int Unmap(void* address, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  // Otherwise munmap fails, and unmaps nothing.
  if (begin % PageBytes() == 0 && EndOf(begin, bytes) > begin) {
    if (const Visit visit; visit) visit->OnUnmapping(begin, EndOf(begin, bytes));
  }
  return munmap(address, bytes);
}

// Whether the old range stays mapped, and the new one is a second mapping of the same memory.
bool Duplicates(size_t old_bytes, int flags) { return old_bytes == 0 || (flags & MREMAP_DONTUNMAP) != 0; }

// Reads the last argument only if the flags say that it was passed.
void* Remap(void* old_address, size_t old_bytes, size_t bytes, int flags, void* address) {
  const auto old_begin = reinterpret_cast<uintptr_t>(old_address);
  Visit visit;
  const uintptr_t old_end = EndOf(old_begin, old_bytes);
  const bool duplicates = Duplicates(old_bytes, flags), is_told = visit && old_begin % PageBytes() == 0;
  const uint32_t moving = is_told && !duplicates ? visit->OnMoving(old_begin, old_end) : 0;
  void* const at = mremap(old_address, old_bytes, bytes, flags, address);
  const bool failed = at == MAP_FAILED;
  if (failed) visit.Failed(errno);
  if (!is_told) return at;
  const auto begin = reinterpret_cast<uintptr_t>(at);
  if (!duplicates) {
    visit->OnMoved(moving, failed ? old_begin : begin, failed ? old_end : EndOf(begin, bytes), HEAPREC_CALLER);
  } else if (!failed) {
    const MappingType sort = old_bytes == 0 ? MappingType::kShared : MappingType::kPrivate;
    visit->OnMapped({begin, EndOf(begin, bytes), sort, true}, HEAPREC_CALLER);
  }
  // The kernel unmaps the target, and the end of a shrinking range, before it checks whether it can move the rest.
  if (failed && (flags & MREMAP_FIXED) != 0) visit->OnUnknownState();
  return at;
}

Import Of(const char* name, void* original, void* replacement) {
  return {name, replacement, {original, dlsym(RTLD_DEFAULT, name)}};
}

}  // namespace

void SetMmapListener(MmapListener* listener) { active_listener.store(listener); }

bool AreMappingsQuiet() { return inside.load() == 0; }

void AbandonMmapListener() { active_listener.store(nullptr, std::memory_order_relaxed); }

std::vector<Import> MappingImports() {
  const auto map = reinterpret_cast<void*>(&Map);
  return {Of("mmap", reinterpret_cast<void*>(&mmap), map), Of("mmap64", reinterpret_cast<void*>(&mmap64), map),
          Of("munmap", reinterpret_cast<void*>(&munmap), reinterpret_cast<void*>(&Unmap)),
          Of("mremap", reinterpret_cast<void*>(&mremap), reinterpret_cast<void*>(&Remap))};
}

}  // namespace heaprec::native
