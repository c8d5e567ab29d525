// Exact counts of a program's native allocations by call site. The table is in shared memory and complete at any
// moment, even if the program is killed; it can be copied to a file.
//
// Header, sites, modules, shards. A shard has the sums of one thread for kNativeShardSites consecutive sites. One
// thread at a time adds to it, without locked instructions. The counts of a site are its sums over all shards.
// Little endian.
//
// written field            threads                                  reader (while the process runs, or later)
//   NativeSite.depth       release, once, after all other fields    acquire; 0: not complete
//   Native*Used            fetch_add after what it counts           acquire
//   NativeSiteCounters     relaxed store by the shard's thread      relaxed; current sums, give or take a call
//
// Format: docs/format/native-table.md
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heaprec::format {

inline constexpr uint64_t kNativeMagic = 0x56544e4345525248;  // "HRRECNTV" read as little endian
inline constexpr uint32_t kNativeVersion = 1;
inline constexpr size_t kNativeHeaderBytes = 4096;
inline constexpr uint32_t kMaxNativeSites = 8192;  // site 0: no site, because the table was full
inline constexpr uint32_t kMaxNativeModules = 512;
inline constexpr uint32_t kMaxNativeShards = 8192;
inline constexpr uint32_t kNativeShardSites = 2048;
inline constexpr uint32_t kMaxNativeFrames = 29;

enum class NativeState : uint32_t { kRunning = 0, kEnded = 1 };

struct NativeHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint8_t recording_id[16];
  uint32_t pid;
  std::atomic<uint32_t> state;  // NativeState
  uint64_t start_epoch_ns;
  uint64_t start_monotonic_ns;
  std::atomic<uint64_t> end_monotonic_ns;
  uint32_t depth;  // number of frames that distinguish sites
  uint32_t reserved;
  std::atomic<uint32_t> sites_used, modules_used, chunks_used;
  std::atomic<uint32_t> replaced;  // number of modules that were replaced by another one at the same addresses
  // Allocations before the table existed: neither they nor their frees are counted.
  std::atomic<uint64_t> early_blocks, early_bytes;
  std::atomic<uint64_t> foreign_frees;  // frees of blocks that were allocated elsewhere
  std::atomic<uint64_t> without_shard;  // calls not counted: no memory for the thread's shard
  char program[512];                    // path of the program, truncated, zero-terminated
  // Blocks that were overwritten past their end, if `checks`.
  std::atomic<uint64_t> overruns;
  std::atomic<uint32_t> overrun_site;  // site of the first overwritten block, + 1
  uint32_t checks;                     // 1: frees check for overwritten blocks
};

// Numbered from 1. Two sites with the same key are one site.
struct NativeSite {
  uint64_t key;                 // a hash of the frames that identify it
  std::atomic<uint32_t> depth;  // number of pcs; 0: being written
  // index of the first frame that identifies it; earlier ones allocate for their caller (strdup)
  uint32_t first;
  uint64_t pcs[kMaxNativeFrames];  // return addresses of the first call, innermost first
  uint32_t replaced;               // NativeHeader.replaced at that time: tells which modules its pcs refer to
  uint32_t reserved;
};

struct NativeModule {
  uint64_t begin, end, bias;  // bias: address minus address in the file
  uint8_t build_id[20];
  uint32_t build_id_bytes;
  char path[456];
  uint32_t from;                // NativeHeader.replaced when it was added
  std::atomic<uint32_t> until;  // NativeHeader.replaced when it was replaced itself; 0: it was not
};

// The sites of a shard. They have a table of their own so that shards are whole pages.
struct NativeShard {
  std::atomic<uint32_t> first_site;  // + 1; 0: not complete
  uint32_t thread;                   // os thread id of the first thread that used it
};

struct NativeSiteCounters {
  std::atomic<uint64_t> allocated_bytes, allocated_blocks;
  std::atomic<uint64_t> freed_bytes, freed_blocks;  // of blocks allocated by any thread
};

inline constexpr size_t kNativeSitesAt = kNativeHeaderBytes;
inline constexpr size_t kNativeModulesAt = kNativeSitesAt + kMaxNativeSites * sizeof(NativeSite);
inline constexpr size_t kNativeChunksAt = kNativeModulesAt + kMaxNativeModules * sizeof(NativeModule);
inline constexpr size_t kNativeRowsAt = kNativeChunksAt + kMaxNativeShards * sizeof(NativeShard);
inline constexpr size_t kNativeChunkBytes = kNativeShardSites * sizeof(NativeSiteCounters);

static_assert(sizeof(NativeHeader) <= kNativeHeaderBytes);
static_assert(sizeof(NativeSite) == 256 && sizeof(NativeModule) == 512);
static_assert(sizeof(NativeShard) == 8 && sizeof(NativeSiteCounters) == 32);
static_assert(kNativeRowsAt % 4096 == 0 && kNativeChunkBytes % 4096 == 0);
static_assert(offsetof(NativeHeader, program) == 120 && offsetof(NativeHeader, overruns) == 632);

}  // namespace heaprec::format
