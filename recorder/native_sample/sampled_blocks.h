// The live sampled blocks by address. To free any other block, a thread reads one byte.
//
// Blocks are in buckets of a cache line; each block can be in one of two. A filter before the buckets has the number of
// tracked blocks that hash to each of its bytes.
//
//   free -> held     an allocating thread (Put), before its caller knows the block
//   held -> taken    the thread that frees the block (Take)
//   taken -> held    the same thread, if the block was not freed (Restore)
//   taken -> free    the same thread (MarkDead), which reports it to the drain
//   taken -> dead    the same thread (MarkDead), if it cannot report it; the drain then frees the entry
//   held -> free     the drain: the sample is no longer needed (Drop)
//
// A block that is allocated and freed repeatedly has the same address each time, so an entry must not wait for the
// drain.
//
// Units:    ns of CLOCK_MONOTONIC.
// Context:  MayHold, Put, Take, Restore, MarkDead: alloc, inside malloc's family. Drop, TakeDead, Clear: drain.
// Threads:  any; one drain.
// Failure:  Put returns 0 if no entry is free.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "recorder/native_sample/index_free_lists.h"

namespace heaprec::native {

class SampledBlocks {
 public:
  static constexpr uint32_t kWays = 8, kBuckets = 8191;
  static constexpr uint32_t kPlaces = kWays * kBuckets;  // numbered from 1: they fit into 16 bits
  static_assert(kPlaces < 1 << 16);

  // Returns false if the block is not tracked.
  bool MayHold(const void* block) const {
    return filter_[ByteOf(reinterpret_cast<uintptr_t>(block))].load(std::memory_order_relaxed) != 0;
  }

  uint16_t Put(const void* block, uint64_t sample);
  // Returns 0 if the block is not tracked.
  uint16_t Take(const void* block);
  void Restore(uint16_t place, const void* block);
  void MarkDead(uint16_t place, const void* block, uint64_t now_ns);

  // Does nothing if the sample is no longer tracked there.
  void Drop(uint16_t place, uint64_t sample);
  // Visits (sample, time at which the block was freed).
  template <typename Visit>
  void TakeDead(const Visit& visit) {
    const auto tell = [&](const Death& death) {
      visit(death.sample.load(std::memory_order_relaxed), death.freed_ns.load(std::memory_order_relaxed));
    };
    death_links_.TakeAll(&told_, [&](uint32_t index) {
      tell(deaths_[index]);
      death_links_.Push(&free_deaths_, index);
    });
    links_.TakeAll(&dead_, [&](uint32_t index) {
      tell(places_[index]);
      words_[index].store(kFree, std::memory_order_release);
    });
  }
  // Stops tracking all blocks. No thread may be inside any of these functions.
  void Clear();

 private:
  static constexpr uintptr_t kFree = 0, kTaken = 1;
  static constexpr uint32_t kFilterBits = 16, kDeaths = 1 << 14;
  // The top bits are the end of the sample's id, so that entries of different samples at the same address differ.
  static constexpr int kAddressBits = 48;
  static constexpr uintptr_t kAddressMask = (uintptr_t{1} << kAddressBits) - 1;

  struct Death {
    std::atomic<uint64_t> sample, freed_ns;
  };

  static uintptr_t WordOf(uintptr_t block, uint64_t sample) { return block | sample << kAddressBits; }

  static uint64_t Mix(uintptr_t block) { return block * 0x9e3779b97f4a7c15; }
  static uint64_t Hash(uintptr_t block) { return Mix(block) ^ Mix(block) >> 32; }
  // Optimized for few instructions.
  static size_t ByteOf(uintptr_t block) { return Mix(block) >> (64 - kFilterBits); }
  static uint32_t BucketOf(uint64_t hash, int choice) {
    return static_cast<uint32_t>((choice == 0 ? hash : hash >> 20) & 0xffffffff) % kBuckets * kWays;
  }
  uint32_t NewDeath();
  void Forget(uintptr_t block) { filter_[ByteOf(block)].fetch_sub(1, std::memory_order_relaxed); }

  std::array<std::atomic<uint8_t>, 1 << kFilterBits> filter_{};
  alignas(64) std::array<std::atomic<uintptr_t>, kPlaces> words_{};
  std::array<Death, kPlaces> places_{};
  IndexFreeLists<kPlaces> links_;
  IndexFreeLists<kPlaces>::Done dead_;
  std::array<Death, kDeaths> deaths_{};
  IndexFreeLists<kDeaths> death_links_;
  IndexFreeLists<kDeaths>::Free free_deaths_;
  IndexFreeLists<kDeaths>::Done told_;
  std::atomic<uint32_t> used_deaths_{0};
};

}  // namespace heaprec::native
