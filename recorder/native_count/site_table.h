// Writes the table of native memory by call site (format/native/native_table.h). Sites, modules and shards are only
// added, never removed.
//
// Context:  Create: setup. The others: within malloc: no heap; a system call for a new site, module or shard.
// Threads:  any number; no thread waits.
// Failure:  Create returns null and the reason. When the table is full, a site is kNoSite and a thread's shard is null.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/native/native_table.h"
#include "recorder/arch/machine.h"

namespace heaprec::native {

inline constexpr uint32_t kNoSite = 0;

class SiteTable {
 public:
  // Creates a file at `path` and maps it shared for readers. Its space is reserved, so that no store fails.
  static SiteTable* Create(const char* path, uint32_t depth, const char** why);

  format::NativeHeader& header() { return *At<format::NativeHeader>(0); }
  // Writes the used part to a new file. Returns false with errno. A shard without memory becomes a hole, or is beyond
  // the end: reading its memory would raise SIGBUS.
  bool CopyTo(int descriptor) const;

  // `key`: of the frames that identify the site, from `first` on. `pcs`: all frames, stored if the site is new.
  uint32_t SiteOf(uint64_t key, std::span<const uintptr_t> pcs, size_t first);
  // Returns the rows of kNativeShardSites sites from `first_site` on, a multiple of that; shared by all threads, and
  // never without memory.
  format::NativeSiteCounters* CommonChunk(uint32_t first_site);
  // The same for one thread.
  format::NativeSiteCounters* NewChunk(uint32_t first_site, uint32_t thread);

  // Call after libraries have been unloaded: calls `forget(begin, end)` for their address ranges. If another library
  // calls from the same addresses later, it gets its own sites, and the counters of the old sites stay.
  void ForgetUnloaded(void (*forget)(uintptr_t begin, uintptr_t end));

 private:
  SiteTable(std::byte* base, int descriptor, const char* path);
  template <typename T>
  T* At(size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  uint32_t ChunksUsed() const;
  // Returns false if its memory may be missing.
  bool HasRows(uint32_t chunk) const;
  // Returns the descriptor of the table's file, and reopens it if the program has closed it or reused its number; -1:
  // it cannot be opened.
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
  // Whether a module is known to be unloaded.
  std::atomic<bool> is_gone_[format::kMaxNativeModules] = {};
  std::atomic<bool> is_any_gone_{false};
};

// Never 0 or 1.
uint64_t KeyOf(std::span<const uintptr_t> pcs);

// The counters of one thread, and the call sites that it has used.
//
// Context:  within malloc and free: no heap; mmap if a thread or a site is new.
// Threads:  a lease belongs to its thread; when a thread ends, the next one gets its rows with their counts. Any thread
//           may use the rows of Common(), with locked instructions. In a forked child all of this is zeros, so that a
//           lookup finds neither a row nor a caller.
// Failure:  Lease returns Common() if there are no more. A thread without memory for a shard uses the rows of Common(),
//           which are reserved, and requests the shard again after 1, 2, 4, ..., kMaxPause calls.
class ThreadRows {
 public:
  static constexpr uint32_t kMaxPause = 1 << 16;

  static ThreadRows* Lease(SiteTable* table);
  // Invalidates the call sites between these addresses for all threads.
  static void ForgetCallers(uintptr_t begin, uintptr_t end);
  // Used for nested calls, for threads that end, and if there are no other rows. Null: no memory.
  static ThreadRows* Common(SiteTable* table);
  void Return() { is_leased_.store(is_common_, std::memory_order_release); }

  void Allocated(uint32_t site, uint64_t bytes) {
    if (auto* const row = RowOf(site)) return Add(&row->allocated_bytes, &row->allocated_blocks, bytes);
    if (ThreadRows* const rows = FallbackRows()) rows->Allocated(site, bytes);
  }
  void Freed(uint32_t site, uint64_t bytes) {
    if (auto* const row = RowOf(site)) return Add(&row->freed_bytes, &row->freed_blocks, bytes);
    if (ThreadRows* const rows = FallbackRows()) rows->Freed(site, bytes);
  }

  // What the return address of a malloc call determines.
  struct alignas(32) Caller {
    // AmbiguousPc of the address: it does not determine the site (a helper that allocates for its caller).
    uintptr_t pc = 0;
    format::NativeSiteCounters* row = nullptr;
    uint64_t seal = 0;  // HeaderWord::SitePrefix(site)
    uint32_t site = kNoSite;
  };
  // Marks a return address that several sites share. The highest bit is set, so it is never an address of code.
  static uint64_t AmbiguousPc(uint64_t pc) { return ~(pc & INT64_MAX); }
  Caller& CallerAt(uintptr_t pc) { return callers_[pc % kCallers]; }
  // Null: no memory for this thread's own row.
  format::NativeSiteCounters* RowOf(uint32_t site) {
    format::NativeSiteCounters* const row = rows_[site].load(std::memory_order_acquire);
    return row != nullptr ? row : NewRowOf(site);
  }
  // Null: RowOf must find or create it.
  format::NativeSiteCounters* KnownRowOf(uint32_t site) { return rows_[site].load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kCallers = 2048;
  static constexpr uint32_t kChunks = format::kMaxNativeSites / format::kNativeShardSites;

  static ThreadRows* New(SiteTable* table, bool is_common);
  void Add(std::atomic<uint64_t>* of_bytes, std::atomic<uint64_t>* of_blocks, uint64_t bytes) const {
    if (!is_common_) return arch::AddOwn(of_bytes, of_blocks, bytes);
    of_bytes->fetch_add(bytes, std::memory_order_relaxed);
    of_blocks->fetch_add(1, std::memory_order_relaxed);
  }
  // Returns the rows to use if RowOf returns null; counts the call as uncounted if there are none.
  ThreadRows* FallbackRows() const;
  format::NativeSiteCounters* ChunkOf(uint32_t number);
  format::NativeSiteCounters* NewRowOf(uint32_t site);

  std::atomic<format::NativeSiteCounters*> rows_[format::kMaxNativeSites] =
      {};  // zeros take no memory until they are written
  std::atomic<format::NativeSiteCounters*> chunks_[kChunks] = {};
  SiteTable* table_ = nullptr;
  std::atomic<bool> is_leased_{false};
  bool is_common_ = false;
  // Calls that use Common() before the next attempt to get a shard: a system call in each malloc would dominate the
  // program's time.
  uint32_t pause_ = 0, calls_left_ = 0;
  Caller callers_[kCallers];
};

}  // namespace heaprec::native
