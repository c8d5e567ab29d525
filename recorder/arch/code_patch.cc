#include "recorder/arch/code_patch.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "recorder/arch/near_memory.h"

namespace heaprec::arch {
namespace {

bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

CodePatch::CodePatch(uintptr_t site, size_t size, int protection) : site_(site), size_(size), protection_(protection) {}

CodePatch::CodePatch(CodePatch&& other) noexcept
    : site_(other.site_),
      size_(other.size_),
      protection_(other.protection_),
      open_(std::exchange(other.open_, false)) {}

CodePatch::~CodePatch() {
  if (open_) End();
}

bool CodePatch::Protect(int protection) const {
  const uintptr_t begin = site_ & ~(PageSize() - 1);
  const uintptr_t end = (site_ + size_ + PageSize() - 1) & ~(PageSize() - 1);
  return mprotect(reinterpret_cast<void*>(begin), end - begin, protection) == 0;  // NOLINT(performance-no-int-to-ptr)
}

format::Result<CodePatch> CodePatch::Begin(uintptr_t site, size_t size, int protection) {
  if (!Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) ||
      !Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
    return format::Error{std::string("membarrier is refused: ") + strerror(errno)};
  CodePatch patch(site, size, protection);
  if (!patch.Protect(protection | PROT_WRITE)) {
    patch.open_ = false;
    return format::Error{std::string("mprotect of code is refused: ") + strerror(errno)};
  }
  return patch;
}

void CodePatch::WriteByte(size_t index, uint8_t byte) {
  auto* const to = reinterpret_cast<uint8_t*>(site_ + index);  // NOLINT(performance-no-int-to-ptr)
  __atomic_store_n(to, byte, __ATOMIC_SEQ_CST);
}

void CodePatch::WriteWord(size_t index, uint32_t word) {
  auto* const to = reinterpret_cast<uint32_t*>(site_ + index);  // NOLINT(performance-no-int-to-ptr)
  __atomic_store_n(to, word, __ATOMIC_SEQ_CST);
}

void CodePatch::Publish() {
  // Where data and instructions have caches of their own; on x86-64 it is nothing.
  auto* const begin = reinterpret_cast<char*>(site_);  // NOLINT(performance-no-int-to-ptr)
  __builtin___clear_cache(begin, begin + size_);
  // It worked in Begin with the same arguments, and has no other way to fail.
  (void)Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

bool CodePatch::End() {
  open_ = false;
  return Protect(protection_);
}

}  // namespace heaprec::arch
