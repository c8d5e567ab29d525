// Changes code that other threads execute.
//
// Context:  setup and drain; serialised by the caller.
// Failure:  Begin returns an Error if the kernel or a security module refuses; then nothing is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"

namespace heaprec::arch {

// While a CodePatch exists, the code at [site, site + size) is writable. After Publish all threads see the
// written bytes.
class CodePatch {
 public:
  static Result<CodePatch> Begin(uintptr_t site, size_t size, int protection);
  CodePatch(CodePatch&& other) noexcept;
  CodePatch(const CodePatch&) = delete;
  CodePatch& operator=(const CodePatch&) = delete;
  CodePatch& operator=(CodePatch&&) = delete;
  ~CodePatch();

  void WriteByte(size_t index, uint8_t byte);
  // The word's address is a multiple of four: a thread that fetches it meanwhile gets the old word or the new one.
  void WriteWord(size_t index, uint32_t word);
  // Makes the bytes visible to instruction fetches. When it returns, every thread of the process has drained its
  // pipeline: none executes bytes that it fetched before.
  void Publish();
  // Restores the old protection. False if the kernel refuses; the code then stays writable.
  bool End();

 private:
  CodePatch(uintptr_t site, size_t size, int protection);
  bool Protect(int protection) const;

  uintptr_t site_;
  size_t size_;
  int protection_;
  bool open_ = true;
};

// Memory close enough to code for a direct jump.
//
// Units:    addresses and bytes of this process.
// Context:  setup.
// Threads:  any; two callers never get the same page.
// Failure:  nullopt or an Error; nothing stays mapped then.
struct MemoryRegion {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = 0;  // PROT_* bits
};

// Returns the mappings of this process, ascending; empty if /proc is not mounted.
std::vector<MemoryRegion> MemoryRegions();

// Returns the mapping that contains `address`.
std::optional<MemoryRegion> RegionOf(uintptr_t address);

// One writable page that begins at most `reach` away from `code`.
Result<uint8_t*> MapPageNear(uintptr_t code, uintptr_t reach);

// The kernel's page size: 4096 on x86-64, up to 65536 on aarch64.
size_t PageSize();

// Before a function is stored into a slot, makes earlier stores visible to those who will call through the slot.
//
// A caller loads the slot, jumps, and loads what the function needs. On aarch64 the last load may be performed first,
// although the slot was stored with release. So all threads execute a fence before the first slot is stored.
//
// Context:  setup and drain.
// Failure:  false if the kernel refuses. On x86-64, where loads are in order, no system call is needed.
//
// True: every other thread of the process has executed a full memory fence since the call began.
bool FenceThreads();

}  // namespace heaprec::arch
