// Writes the table of native memory by call site (format/native/native_table.h). Sites, modules and shards are only
// added, never removed.
//
// Context:  Create: setup. The others: within malloc: no heap; a system call when something is seen for the first time.
// Threads:  any number; no thread waits.
// Failure:  Create returns null and the reason. Without room a site is kNoSite, and a thread's shard is null.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/native/native_table.h"

namespace heaprec::native {

inline constexpr uint32_t kNoSite = 0;

class SiteTable {
 public:
  // Creates a file at `path`, mapped shared for readers. Its space is reserved, so that no store fails.
  static SiteTable* Create(const char* path, uint32_t depth, const char** why);

  format::NativeHeader& header() { return *At<format::NativeHeader>(0); }
  // Writes the used part to a new file. False: see errno. A shard without memory becomes a hole, or is after the end:
  // reading its place in the table would raise SIGBUS.
  bool CopyTo(int descriptor) const;

  // `key`: of the frames that identify the site, from `first` on; `pcs`: all frames, stored if the site is new.
  uint32_t SiteOf(uint64_t key, std::span<const uintptr_t> pcs, size_t first);
  // The rows of kNativeShardSites sites, beginning at a multiple of that: for all threads, and never without memory.
  format::NativeSiteCounters* CommonChunk(uint32_t first_site);
  // The same for one thread.
  format::NativeSiteCounters* NewChunk(uint32_t first_site, uint32_t thread);

  // Libraries have been unloaded: calls `forget(begin, end)` for their address ranges. If another library calls from
  // the same addresses later, it gets sites of its own, and the counters of the old sites stay.
  void ForgetUnloaded(void (*forget)(uintptr_t begin, uintptr_t end));

 private:
  SiteTable(std::byte* base, int descriptor, const char* path);
  template <typename T>
  T* At(size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  uint32_t ChunksUsed() const;
  // False: its memory may not be there.
  bool HasRows(uint32_t chunk) const;
  // The descriptor of the table's file, opened again if the program has closed it or reused its number; -1: it cannot
  // be.
  int Descriptor();
  bool LeadsToFile(int descriptor) const;
  uint32_t NewSite(uint64_t key, std::span<const uintptr_t> pcs, size_t first);
  void NoteModules(std::span<const uintptr_t> pcs);
  bool KnowsModuleOf(uintptr_t pc) const;
  std::span<format::NativeModule> Modules() const;
  bool IsLoaded(const format::NativeModule& module, uintptr_t pc) const;
  void Settle(std::span<const uintptr_t> pcs);
  void Replace(format::NativeModule* module);

  static constexpr size_t kMaxPathBytes = 512;

  // Index of sites by key; private memory.
  static constexpr size_t kSlots = size_t{4} * format::kMaxNativeSites;
  struct Slot {
    std::atomic<uint64_t> key{0};
    std::atomic<uint32_t> number{kNoSite};
  };

  std::byte* const base_;
  std::atomic<int> descriptor_;
  uint64_t device_ = 0, file_ = 0;
  char path_[kMaxPathBytes] = {};
  Slot slots_[kSlots];
  // Modules that are known to be unloaded.
  std::atomic<bool> is_gone_[format::kMaxNativeModules] = {};
  std::atomic<bool> is_any_gone_{false};
};

// Never 0 or 1.
uint64_t KeyOf(std::span<const uintptr_t> pcs);

}  // namespace heaprec::native
