#include "recorder/arch/code_patch.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace heaprec::arch {
namespace {

bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

// Avoids the null page and its neighbourhood (vm.mmap_min_addr), and mappings that grow into gaps.
constexpr uintptr_t kLowest = uintptr_t{1} << 20;

uintptr_t Distance(uintptr_t a, uintptr_t b) { return a > b ? a - b : b - a; }

// The pages at both ends of each gap within reach, nearest first.
std::vector<uintptr_t> Candidates(uintptr_t code, uintptr_t reach) {
  std::vector<uintptr_t> pages;
  const size_t page_size = PageSize();
  uintptr_t gap = kLowest;
  for (const MemoryRegion& mapping : MemoryRegions()) {
    if (mapping.begin >= gap + page_size) {
      pages.push_back(gap);
      pages.push_back(mapping.begin - page_size);
    }
    gap = std::max(gap, mapping.end);
  }
  std::erase_if(pages, [code, reach](uintptr_t page) { return Distance(page, code) > reach; });
  std::sort(pages.begin(), pages.end(),
            [code](uintptr_t a, uintptr_t b) { return Distance(a, code) < Distance(b, code); });
  return pages;
}

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

Result<CodePatch> CodePatch::Begin(uintptr_t site, size_t size, int protection) {
  if (!Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) ||
      !Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
    return Error{std::string("membarrier is refused: ") + strerror(errno)};
  CodePatch patch(site, size, protection);
  if (!patch.Protect(protection | PROT_WRITE)) {
    patch.open_ = false;
    return Error{std::string("mprotect of code is refused: ") + strerror(errno)};
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
  // Needed on machines with separate caches for data and instructions; does nothing on x86-64.
  auto* const begin = reinterpret_cast<char*>(site_);  // NOLINT(performance-no-int-to-ptr)
  __builtin___clear_cache(begin, begin + size_);
  // Begin has made this call successfully with the same arguments; it has no other reason to fail.
  (void)Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

bool CodePatch::End() {
  open_ = false;
  return Protect(protection_);
}

size_t PageSize() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::vector<MemoryRegion> MemoryRegions() {
  std::vector<MemoryRegion> mappings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    MemoryRegion mapping;
    char bits[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &mapping.begin, &mapping.end, bits) != 3) continue;
    if (bits[0] == 'r') mapping.protection |= PROT_READ;
    if (bits[1] == 'w') mapping.protection |= PROT_WRITE;
    if (bits[2] == 'x') mapping.protection |= PROT_EXEC;
    mappings.push_back(mapping);
  }
  return mappings;
}

std::optional<MemoryRegion> RegionOf(uintptr_t address) {
  for (const MemoryRegion& mapping : MemoryRegions())
    if (address >= mapping.begin && address < mapping.end) return mapping;
  return std::nullopt;
}

Result<uint8_t*> MapPageNear(uintptr_t code, uintptr_t reach) {
  const size_t page_size = PageSize();
  int last_error = 0;
  for (const uintptr_t page : Candidates(code, reach)) {
    void* const wanted = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
    void* const got =
        mmap(wanted, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) return static_cast<uint8_t*>(got);
    if (got == MAP_FAILED)
      last_error = errno;
    else
      munmap(got, page_size);  // kernels before 4.17 treat the flag as a hint; unmaps only our own page
  }
  return Error{"no free page within " + std::to_string(reach >> 20) + " MiB of the code" +
               (last_error != 0 ? std::string(": ") + strerror(last_error) : "")};
}

bool FenceThreads() {
#if defined(__x86_64__)
  return true;
#else
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

}  // namespace heaprec::arch
