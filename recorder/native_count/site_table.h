// Writes the table of native memory by call site (format/native/native_table.h). Insert only: a site, a module or a
// chunk that is there stays.
//
// Context:  Create: setup. The rest: within malloc: no heap; a system call where something is seen for the first time.
// Threads:  any number; nobody waits for anybody.
// Failure:  Create is null and says why. A site that has no room is kNoSite, a chunk that has none is null.
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
  // A new file at `path`, in memory that is shared with whoever reads it; it never runs out of room under a store.
  static SiteTable* Create(const char* path, uint32_t depth, const char** why);

  format::NativeHeader& header() { return *At<format::NativeHeader>(0); }
  // Writes what is in use to a new file. False: errno says why. A chunk that found no room in memory is a hole,
  // or behind the end: reading its place in the table would raise SIGBUS.
  bool CopyTo(int descriptor) const;

  // `key`: of the frames that tell the site apart, from `first` on; `pcs`: all frames, noted if it is new.
  uint32_t SiteOf(uint64_t key, std::span<const uintptr_t> pcs, size_t first);
  // Rows of the sites from a multiple of kNativeShardSites on.
  format::NativeSiteCounters* NewChunk(uint32_t first_site, uint32_t thread);

  // Libraries have been unloaded: `forget(begin, end)` is told where those were. If they are not there when somebody
  // calls from there again, what their sites have stays, and the caller's are others.
  void ForgetUnloaded(void (*forget)(uintptr_t begin, uintptr_t end));

  // A child of fork: what it stores is no longer its parent's.
  void UnshareInChild();

 private:
  SiteTable(std::byte* base, int descriptor, const char* path);
  template <typename T>
  T* At(size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  uint32_t ChunksUsed() const;
  // False: its memory may not be there.
  bool HasRows(uint32_t chunk) const;
  // Of the table's file, again if the program has closed it, or taken its number; -1: it is not to be had.
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

  // Where a site is, by its key: ours alone.
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
  // Of modules: gone, as far as is known.
  std::atomic<bool> is_gone_[format::kMaxNativeModules] = {};
  std::atomic<bool> is_any_gone_{false};
};

// Never 0 or 1.
uint64_t KeyOf(std::span<const uintptr_t> pcs);

}  // namespace heaprec::native
