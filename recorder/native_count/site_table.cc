#include "recorder/native_count/site_table.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/descriptors.h"
#include "base/elf_file.h"
#include "base/locked_file.h"
#include "base/memory.h"
#include "base/time.h"
#include "base/writes.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::native {
namespace {

using format::NativeHeader;
using format::NativeModule;
using format::NativeShard;
using format::NativeSite;
using format::NativeSiteCounters;

constexpr size_t kAllBytes = format::kNativeRowsAt + format::kMaxNativeShards * format::kNativeChunkBytes;
// The first shards, in site order, are reserved for threads without a shard of their own.
constexpr uint32_t kCommonChunks = format::kMaxNativeSites / format::kNativeShardSites;
constexpr size_t kReservedBytes = format::kNativeRowsAt + kCommonChunks * format::kNativeChunkBytes;
constexpr uint32_t kMaxProbes = 64;
constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
// The key of a slot whose site belongs to an unloaded module.
constexpr uint64_t kGone = 1;

int OpenNew(const char* path) {
  const int descriptor = CreateLocked(path);
  if (descriptor >= 0 || errno != EEXIST) return descriptor;
  // Left by a dead process with the same pid, or by this process before exec: no process holds the lock.
  if (RemoveAbandoned(AT_FDCWD, path)) return CreateLocked(path);
  errno = EEXIST;
  return -1;
}

void CopyName(std::span<char> into, const char* name) {
  const size_t bytes = std::min(std::strlen(name), into.size() - 1);
  std::memcpy(into.data(), name, bytes);
  into[bytes] = 0;
}

// Writes `end` last; it is 0 until then.
void Describe(const dl_phdr_info& info, const char* program, NativeModule* module) {
  const AddressRange range = MappedRange(info);
  const std::span<const char> build_id = BuildIdOf(info);
  CopyName(module->path, info.dlpi_name != nullptr && *info.dlpi_name != 0 ? info.dlpi_name : program);
  module->build_id_bytes = static_cast<uint32_t>(std::min(build_id.size(), sizeof module->build_id));
  std::copy_n(build_id.begin(), module->build_id_bytes, module->build_id);
  module->bias = info.dlpi_addr;
  module->begin = range.begin;
  std::atomic_ref(module->end).store(range.end, std::memory_order_release);
}

constexpr size_t kMaxThreads = 4096;

std::atomic<ThreadRows*> all[kMaxThreads];
std::atomic<ThreadRows*> common{nullptr};

}  // namespace

uint64_t KeyOf(std::span<const uintptr_t> pcs) {
  uint64_t key = 1;
  for (const uintptr_t pc : pcs) {
    key = (key ^ pc) * kMix;
    key ^= key >> 29;
  }
  return key > kGone ? key : kGone + 1;
}

SiteTable::SiteTable(std::byte* base, int descriptor, const char* path) : base_(base), descriptor_(descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  device_ = status.st_dev;
  file_ = status.st_ino;
  CopyName(path_, path);
}

SiteTable* SiteTable::Create(const char* path, uint32_t depth, const char** why) {
  const WriteSignals blocked;
  const int descriptor = MovedUp(OpenNew(path));
  if (descriptor < 0) {
    // gosu, for example, runs as root and executes this program as another user.
    static constexpr char kOther[] =
        "exists and cannot be replaced; if a program of another user executed this one, choose one of them with "
        "only=NAME";
    *why = errno == EEXIST ? kOther : std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): setup
    return nullptr;
  }
  // Stores to a sparse file on a full tmpfs would raise SIGBUS.
  const int full = posix_fallocate(descriptor, 0, static_cast<off_t>(kReservedBytes));
  void* const memory =
      full != 0 ? MAP_FAILED
                : mmap(nullptr, kAllBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) {
    *why = std::strerror(full != 0 ? full : errno);  // NOLINT(concurrency-mt-unsafe): setup
    RemoveLocked(AT_FDCWD, path, descriptor);
    close(descriptor);
    return nullptr;
  }
  alignas(SiteTable) static std::byte storage[sizeof(SiteTable)];
  auto* const table = new (storage) SiteTable(static_cast<std::byte*>(memory), descriptor, path);
  NativeHeader& header = table->header();
  header.version = format::kNativeVersion;
  header.header_bytes = format::kNativeHeaderBytes;
  if (getrandom(header.recording_id, sizeof header.recording_id, GRND_NONBLOCK) < 0) header.recording_id[0] = 1;
  header.pid = static_cast<uint32_t>(getpid());
  header.start_epoch_ns = EpochNs();
  header.start_monotonic_ns = MonotonicNs();
  header.depth = depth;
  header.chunks_used.store(kCommonChunks, std::memory_order_relaxed);
  const ssize_t length = readlink("/proc/self/exe", header.program, sizeof header.program - 1);
  header.program[std::max<ssize_t>(length, 0)] = 0;
  std::atomic_ref(header.magic).store(format::kNativeMagic, std::memory_order_release);
  return table;
}

uint32_t SiteTable::ChunksUsed() const {
  return std::min(At<NativeHeader>(0)->chunks_used.load(std::memory_order_acquire), format::kMaxNativeShards);
}

bool SiteTable::HasRows(uint32_t chunk) const {
  return At<NativeShard>(format::kNativeChunksAt)[chunk].first_site.load(std::memory_order_acquire) != 0;
}

bool SiteTable::CopyTo(int descriptor) const {
  const WriteSignals blocked;
  const auto& header = *At<NativeHeader>(0);
  const size_t sites = std::min(header.sites_used.load(std::memory_order_acquire), format::kMaxNativeSites - 1) + 1;
  const uint32_t chunks = ChunksUsed();
  const auto copy = [&](size_t offset, size_t bytes) { return WriteAt(descriptor, {base_ + offset, bytes}, offset); };
  // Unused parts stay holes, because most programs have few sites and end soon.
  if (ftruncate(descriptor, static_cast<off_t>(format::kNativeRowsAt)) != 0 || !copy(0, format::kNativeHeaderBytes) ||
      !copy(format::kNativeSitesAt, sites * sizeof(NativeSite)) ||
      !copy(format::kNativeModulesAt, Modules().size_bytes()) ||
      !copy(format::kNativeChunksAt, chunks * sizeof(NativeShard))) {
    return false;
  }
  for (uint32_t i = 0; i < chunks; ++i) {
    if (!HasRows(i)) continue;
    const size_t offset = format::kNativeRowsAt + i * format::kNativeChunkBytes;
    if (!copy(offset, format::kNativeChunkBytes)) return false;
  }
  return true;
}

uint32_t SiteTable::SiteOf(uint64_t key, std::span<const uintptr_t> pcs, size_t first) {
  if (is_any_gone_.load(std::memory_order_acquire)) Settle(pcs);
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe) {
    Slot& slot = slots_[(key + probe) % kSlots];
    uint64_t found = slot.key.load(std::memory_order_acquire);
    if (found == 0 && slot.key.compare_exchange_strong(found, key, std::memory_order_acq_rel)) found = key;
    if (found != key) continue;
    const uint32_t number = slot.number.load(std::memory_order_acquire);
    if (number != kNoSite) return number;
    const uint32_t made = NewSite(key, pcs, first);
    slot.number.store(made, std::memory_order_release);
    return made;
  }
  return kNoSite;
}

// Threads that see a site for the first time together create one each; readers add up sites with the same key.
uint32_t SiteTable::NewSite(uint64_t key, std::span<const uintptr_t> pcs, size_t first) {
  const uint32_t number = header().sites_used.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number >= format::kMaxNativeSites) {
    header().sites_used.fetch_sub(1, std::memory_order_relaxed);
    return kNoSite;
  }
  NativeSite& site = At<NativeSite>(format::kNativeSitesAt)[number];
  const size_t depth = std::min<size_t>(pcs.size(), format::kMaxNativeFrames);
  NoteModules(pcs.first(depth));
  std::copy_n(pcs.begin(), depth, site.pcs);
  // Stored after the modules, so it is within the lifetime of each of them.
  site.replaced = header().replaced.load(std::memory_order_acquire);
  const uintptr_t of_time[] = {key, site.replaced};
  site.key = site.replaced == 0 ? key : KeyOf(of_time);
  site.first = static_cast<uint32_t>(std::min(first, depth));
  site.depth.store(static_cast<uint32_t>(depth), std::memory_order_release);
  return number;
}

bool SiteTable::LeadsToFile(int descriptor) const {
  struct stat status {};
  return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == device_ && status.st_ino == file_;
}

int SiteTable::Descriptor() {
  const int error = errno;
  int known = descriptor_.load(std::memory_order_acquire);
  if (!LeadsToFile(known)) {
    // System calls, because libc's functions are cancellation points: no thread may be cancelled inside malloc.
    const long opened = syscall(SYS_openat, AT_FDCWD, path_, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    const int again = MovedUp(static_cast<int>(opened));
    // If another thread has set it first, `known` is that thread's descriptor.
    if (LeadsToFile(again) && descriptor_.compare_exchange_strong(known, again, std::memory_order_acq_rel)) {
      flock(again, LOCK_EX | LOCK_NB);
      known = again;
    } else {
      if (again >= 0) syscall(SYS_close, again);
      if (!LeadsToFile(known)) known = -1;
    }
  }
  errno = error;
  return known;
}

NativeSiteCounters* SiteTable::CommonChunk(uint32_t first_site) {
  const uint32_t number = first_site / format::kNativeShardSites;
  At<NativeShard>(format::kNativeChunksAt)[number].first_site.store(first_site + 1, std::memory_order_release);
  return At<NativeSiteCounters>(format::kNativeRowsAt + number * format::kNativeChunkBytes);
}

NativeSiteCounters* SiteTable::NewChunk(uint32_t first_site, uint32_t thread) {
  const uint32_t number = header().chunks_used.fetch_add(1, std::memory_order_acq_rel);
  if (number >= format::kMaxNativeShards) {
    header().chunks_used.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  const size_t offset = format::kNativeRowsAt + number * format::kNativeChunkBytes;
  const WriteSignals blocked;
  const int descriptor = Descriptor();
  if (descriptor < 0 || posix_fallocate(descriptor, static_cast<off_t>(offset), format::kNativeChunkBytes) != 0) {
    // The next shard gets this number, unless a later one is in use.
    uint32_t next = number + 1;
    header().chunks_used.compare_exchange_strong(next, number, std::memory_order_relaxed);
    return nullptr;
  }
  NativeShard& chunk = At<NativeShard>(format::kNativeChunksAt)[number];
  chunk.thread = thread;
  chunk.first_site.store(first_site + 1, std::memory_order_release);
  return At<NativeSiteCounters>(offset);
}

std::span<NativeModule> SiteTable::Modules() const {
  const uint32_t used = At<NativeHeader>(0)->modules_used.load(std::memory_order_acquire);
  return {At<NativeModule>(format::kNativeModulesAt), std::min(used, format::kMaxNativeModules)};
}

bool SiteTable::KnowsModuleOf(uintptr_t pc) const {
  return std::ranges::any_of(Modules(), [pc](const NativeModule& module) {
    return module.begin <= pc && pc < module.end && module.until.load(std::memory_order_acquire) == 0;
  });
}

bool SiteTable::IsLoaded(const NativeModule& module, uintptr_t pc) const {
  dl_phdr_info info;
  std::array<char, sizeof module.path> name;
  if (!DescribeModuleAt(pc, &info, name) || info.dlpi_addr != module.bias) return false;
  NativeModule now{};
  Describe(info, At<NativeHeader>(0)->program, &now);
  return std::strcmp(now.path, module.path) == 0 && now.build_id_bytes == module.build_id_bytes &&
         std::memcmp(now.build_id, module.build_id, sizeof now.build_id) == 0;
}

// A library that is loaded again at the same address gets its old sites; otherwise a program that keeps loading and
// unloading one would run out of sites.
void SiteTable::ForgetUnloaded(void (*forget)(uintptr_t begin, uintptr_t end)) {
  RenewModules();
  const std::span<NativeModule> modules = Modules();
  for (size_t i = 0; i < modules.size(); ++i) {
    const NativeModule& module = modules[i];
    // A module that another thread is adding has no end yet.
    if (module.until != 0 || module.end == 0 || is_gone_[i]) continue;
    // Another thread may be unloading the library now, so its memory must not be read until it is on a thread's stack.
    ModuleUnwindInfo there;
    if (LookUpModule(module.begin, &there) && there.end == module.end) continue;
    is_gone_[i].store(true, std::memory_order_release);
    is_any_gone_.store(true, std::memory_order_release);
    forget(module.begin, module.end);
  }
}

// Several threads may do this at the same time; each of them does all the work.
void SiteTable::Settle(std::span<const uintptr_t> pcs) {
  const std::span<NativeModule> modules = Modules();
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!is_gone_[i].load(std::memory_order_acquire)) continue;
    NativeModule& module = modules[i];
    const auto pc = std::ranges::find_if(pcs, [&](uintptr_t at) { return module.begin <= at && at < module.end; });
    if (pc == pcs.end()) continue;
    if (!IsLoaded(module, *pc)) Replace(&module);
    is_gone_[i].store(false, std::memory_order_release);
  }
}

void SiteTable::Replace(NativeModule* module) {
  uint32_t until = 0;
  const uint32_t next = header().replaced.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (module->until.compare_exchange_strong(until, next, std::memory_order_acq_rel)) until = next;
  const auto is_in = [&](uint64_t pc) { return module->begin <= pc && pc < module->end; };
  for (Slot& slot : slots_) {
    const uint32_t number = slot.number.load(std::memory_order_acquire);
    if (number == kNoSite) continue;
    const NativeSite& site = At<NativeSite>(format::kNativeSitesAt)[number];
    const size_t depth = site.depth.load(std::memory_order_acquire), first = std::min<size_t>(site.first, depth);
    const std::span deciding(site.pcs + first, std::min<size_t>(header().depth, depth - first));
    if (site.replaced < until && std::ranges::any_of(deciding, is_in)) slot.key.store(kGone, std::memory_order_release);
  }
}

// Two threads may add the same module. Readers use the last one that contains an address, which is also right for a
// library that was loaded where another one had been.
void SiteTable::NoteModules(std::span<const uintptr_t> pcs) {
  for (const uintptr_t pc : pcs) {
    dl_phdr_info info;
    std::array<char, sizeof NativeModule::path> name;
    if (KnowsModuleOf(pc) || !DescribeModuleAt(pc, &info, name)) continue;
    const uint32_t number = header().modules_used.fetch_add(1, std::memory_order_acq_rel);
    if (number >= format::kMaxNativeModules) return;
    NativeModule& module = At<NativeModule>(format::kNativeModulesAt)[number];
    module.from = header().replaced.load(std::memory_order_acquire);
    Describe(info, header().program, &module);
  }
}

ThreadRows* ThreadRows::New(SiteTable* table, bool is_common) {
  void* const memory = mmap(nullptr, sizeof(ThreadRows), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  (void)madvise(memory, sizeof(ThreadRows), MADV_WIPEONFORK);  // before Linux 4.14 only fork's handlers clear it
  auto* const rows = new (memory) ThreadRows;
  rows->table_ = table;
  rows->is_common_ = is_common;
  rows->is_leased_.store(true, std::memory_order_relaxed);
  return rows;
}

ThreadRows* ThreadRows::Lease(SiteTable* table) {
  for (std::atomic<ThreadRows*>& slot : all) {
    ThreadRows* rows = slot.load(std::memory_order_acquire);
    if (rows == nullptr) {
      ThreadRows* const mine = New(table, /*is_common=*/false);
      if (mine == nullptr) break;
      if (slot.compare_exchange_strong(rows, mine, std::memory_order_acq_rel)) return mine;
      munmap(mine, sizeof(ThreadRows));
    }
    // Acquire: sees the sums of the previous thread (pairs with the release in Return).
    bool is_leased = false;
    if (rows->is_leased_.compare_exchange_strong(is_leased, true, std::memory_order_acquire)) return rows;
  }
  return Common(table);
}

ThreadRows* ThreadRows::FallbackRows() const {
  ThreadRows* const rows = is_common_ ? nullptr : Common(table_);
  if (rows == nullptr) table_->header().without_shard.fetch_add(1, std::memory_order_relaxed);
  return rows;
}

ThreadRows* ThreadRows::Common(SiteTable* table) {
  ThreadRows* rows = common.load(std::memory_order_acquire);
  if (rows != nullptr) return rows;
  ThreadRows* const mine = New(table, /*is_common=*/true);
  if (mine == nullptr) return nullptr;
  if (common.compare_exchange_strong(rows, mine, std::memory_order_acq_rel)) return mine;
  munmap(mine, sizeof(ThreadRows));
  return rows;
}

// A thread may be writing another address into the same entry: that caller is then looked up again.
void ThreadRows::ForgetCallers(uintptr_t begin, uintptr_t end) {
  const auto forget = [=](ThreadRows* rows) {
    if (rows == nullptr) return;
    for (Caller& caller : rows->callers_) {
      const std::atomic_ref pc(caller.pc);
      const uintptr_t known = pc.load(std::memory_order_relaxed);
      // An AmbiguousPc entry does not show the address of its call, so it is cleared, too.
      if ((begin <= known && known < end) || known > INT64_MAX) pc.store(0, std::memory_order_relaxed);
    }
  };
  for (const std::atomic<ThreadRows*>& slot : all) forget(slot.load(std::memory_order_acquire));
  forget(common.load(std::memory_order_acquire));
}

format::NativeSiteCounters* ThreadRows::ChunkOf(uint32_t number) {
  format::NativeSiteCounters* chunk = chunks_[number].load(std::memory_order_acquire);
  if (chunk != nullptr) return chunk;
  const uint32_t first_site = number * format::kNativeShardSites;
  if (is_common_) {
    chunk = table_->CommonChunk(first_site);
  } else if (calls_left_ > 0) {
    --calls_left_;
    return nullptr;
  } else {
    chunk = table_->NewChunk(first_site, static_cast<uint32_t>(syscall(SYS_gettid)));
    calls_left_ = pause_ = chunk != nullptr ? 0 : std::clamp(2 * pause_, 1U, kMaxPause);
  }
  chunks_[number].store(chunk, std::memory_order_release);
  return chunk;
}

format::NativeSiteCounters* ThreadRows::NewRowOf(uint32_t site) {
  format::NativeSiteCounters* const chunk = ChunkOf(site / format::kNativeShardSites);
  if (chunk == nullptr) return nullptr;
  format::NativeSiteCounters* const row = chunk + site % format::kNativeShardSites;
  rows_[site].store(row, std::memory_order_release);
  return row;
}

}  // namespace heaprec::native
