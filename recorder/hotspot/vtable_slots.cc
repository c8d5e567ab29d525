#include "recorder/hotspot/vtable_slots.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "recorder/arch/code_patch.h"

namespace heaprec::hotspot {
namespace {

uintptr_t* WordAt(uintptr_t address) {
  return reinterpret_cast<uintptr_t*>(address);
}  // NOLINT(performance-no-int-to-ptr)

uintptr_t Read(uintptr_t slot) { return __atomic_load_n(WordAt(slot), __ATOMIC_RELAXED); }

// Makes the page of a slot writable during its lifetime.
class WritablePage {
 public:
  explicit WritablePage(uintptr_t slot) : page_(slot & ~(arch::PageSize() - 1)) {
    const auto mapping = arch::RegionOf(slot);
    if (!mapping) return;
    protection_ = mapping->protection;
    writable_ =
        (protection_ & PROT_WRITE) != 0 || mprotect(WordAt(page_), arch::PageSize(), protection_ | PROT_WRITE) == 0;
  }
  WritablePage(const WritablePage&) = delete;
  WritablePage& operator=(const WritablePage&) = delete;
  ~WritablePage() {
    // If this fails, the constants stay writable, which does no harm.
    if (writable_ && (protection_ & PROT_WRITE) == 0) (void)mprotect(WordAt(page_), arch::PageSize(), protection_);
  }
  bool writable() const { return writable_; }

 private:
  uintptr_t page_;
  int protection_ = 0;
  bool writable_ = false;
};

bool Store(uintptr_t slot, uintptr_t function) {
  const WritablePage page(slot);
  // Release: a thread that calls through the slot sees the function's data.
  if (page.writable()) __atomic_store_n(WordAt(slot), function, __ATOMIC_RELEASE);
  return page.writable();
}

}  // namespace

Result<VtableSlots> VtableSlots::Find(const LibJvm& libjvm, uintptr_t function) {
  VtableSlots found;
  found.function_ = function;
  constexpr uintptr_t kWord = sizeof(uintptr_t);
  for (uintptr_t at = (libjvm.constants_begin + kWord - 1) & ~(kWord - 1); at + kWord <= libjvm.constants_end;
       at += kWord)
    if (Read(at) == function) found.slots_.push_back(at);
  if (found.slots_.empty()) return Error{"no vtable of libjvm.so holds the function"};
  return found;
}

Status VtableSlots::Point(uintptr_t function) {
  if (std::any_of(slots_.begin(), slots_.end(), [this](uintptr_t slot) { return Read(slot) != function_; }))
    return Error{"a vtable of libjvm.so was changed by other code"};
  if (!arch::FenceThreads()) return Error{"membarrier is refused: " + std::string(strerror(errno))};
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (Store(slots_[i], function)) continue;
    const std::string reason = strerror(errno);
    while (i > 0) (void)Store(slots_[--i], function_);  // cannot fail: the page was writable just before
    return Error{"mprotect of vtables is refused: " + reason};
  }
  function_ = function;
  return {};
}

}  // namespace heaprec::hotspot
