// What a program has allocated in native memory, exactly, by call site: a table in shared memory that is complete at
// any moment, whatever ends the program, and its copy in a file.
//
// Header, sites, modules, chunks. A chunk is the sums of one thread for kNativeShardSites sites in a row: one thread at
// a time adds to it, without locked instructions; those of a site in all chunks together are what is told of it. Little
// endian.
//
// who writes what             threads                                reader (beside it, or when the process is dead)
//   NativeSite.depth          release, once, behind all else         acquire; 0: not there yet
//   Native*Used               fetch_add behind what it counts        acquire
//   NativeSiteCounters                 relaxed store by the chunk's thread    relaxed; sums of a moment, give or take a
//   call
//
// Format: docs/format/native-table.md
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heaprec::format {

inline constexpr uint64_t kNativeMagic = 0x56544e4345525248;  // "HRRECNTV" read as little endian
inline constexpr uint32_t kNativeVersion = 2;
inline constexpr size_t kNativeHeaderBytes = 4096;
inline constexpr uint32_t kMaxNativeSites = 8192;  // site 0: no site, because there was no room for another
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
  uint32_t depth;  // frames that tell two sites apart
  uint32_t reserved;
  std::atomic<uint32_t> sites_used, modules_used, chunks_used;
  std::atomic<uint32_t> replaced;  // modules in whose place there is another one now
  // What was allocated before the table was there: not in it, and neither is what becomes of it.
  std::atomic<uint64_t> early_blocks, early_bytes;
  std::atomic<uint64_t> foreign_frees;  // of blocks that came from elsewhere
  std::atomic<uint64_t> without_shard;  // calls whose thread could get no memory to count them
  char program[512];                    // its path, cut off and ended by a zero
  // Blocks that were found to have been written past their end, if that is looked for.
  std::atomic<uint64_t> overruns;
  std::atomic<uint32_t> overrun_site;  // + 1: of the first
  uint32_t checks;                     // 1: it is looked for
};

// From number 1 on. Two of one key are one site.
struct NativeSite {
  uint64_t key;                    // a hash of the frames that tell it apart
  std::atomic<uint32_t> depth;     // of pcs; 0: being written
  uint32_t first;                  // of those that tell it apart: what is before it allocates for its caller (strdup)
  uint64_t pcs[kMaxNativeFrames];  // return addresses of the first call, the innermost first
  uint32_t replaced;               // modules, by then: which ones its pcs are in
  uint32_t reserved;
};

struct NativeModule {
  uint64_t begin, end, bias;  // bias: address less that in the file
  uint8_t build_id[20];
  uint32_t build_id_bytes;
  char path[456];
  uint32_t from;                // modules that had been replaced when it was noted
  std::atomic<uint32_t> until;  // as it was itself; 0: it has not been
};

// Which sites a chunk has, in a table of its own so that chunks are whole pages.
struct NativeShard {
  std::atomic<uint32_t> first_site;  // + 1; 0: not there yet
  uint32_t thread;                   // os thread id of the first thread that used it
};

struct NativeSiteCounters {
  std::atomic<uint64_t> allocated_bytes, allocated_blocks;
  std::atomic<uint64_t> freed_bytes, freed_blocks;  // of what any thread has allocated
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
