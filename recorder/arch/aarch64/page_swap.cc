#include "recorder/arch/aarch64/page_swap.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "recorder/arch/code_patch.h"

namespace heaprec::arch {
namespace {

Status WriteInCopy(uintptr_t site, uint32_t word, int protection) {
  auto patch = CodePatch::Begin(site, sizeof word, protection);
  if (!patch) return patch.error();
  patch->WriteWord(0, word);
  patch->Publish();
  if (!patch->End()) return Error{std::string("mprotect of code is refused: ") + strerror(errno)};
  return {};
}

}  // namespace

Status ReplaceInstruction(uintptr_t site, uint32_t word, int protection) {
  const size_t size = PageSize();
  void* const page = reinterpret_cast<void*>(site & ~(size - 1));  // NOLINT(performance-no-int-to-ptr)
  void* const copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return Error{std::string("no memory for code: ") + strerror(errno)};
  std::memcpy(copy, page, size);
  Status status = WriteInCopy(reinterpret_cast<uintptr_t>(copy) + site % size, word, protection);
  // One call under the lock of the address space, for which page faults wait: at no time is there no page. It checks
  // what may fail before it unmaps the old one.
  if (status && mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED) {
    status = Error{std::string("mremap of code is refused: ") + strerror(errno)};
  }
  if (!status) munmap(copy, size);
  return status;
}

}  // namespace heaprec::arch
