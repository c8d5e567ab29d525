#include "recorder/native_sample/sampled_blocks.h"

namespace heaprec::native {
namespace {

constexpr uint8_t kMaxInByte = 255;

}  // namespace

uint16_t SampledBlocks::Put(const void* block, uint64_t sample) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  const uint64_t hash = Hash(address);
  std::atomic<uint8_t>& count = filter_[ByteOf(address)];
  if (count.fetch_add(1, std::memory_order_relaxed) == kMaxInByte) {
    count.fetch_sub(1, std::memory_order_relaxed);
    return 0;
  }
  for (const int choice : {0, 1}) {
    const uint32_t first = BucketOf(hash, choice);
    for (uint32_t index = first; index < first + kWays; ++index) {
      uintptr_t expected = kFree;
      if (words_[index].load(std::memory_order_relaxed) != kFree ||
          !words_[index].compare_exchange_strong(expected, kTaken, std::memory_order_acquire)) {
        continue;
      }
      places_[index].sample.store(sample, std::memory_order_relaxed);
      // Release: a thread that finds the block also finds its sample.
      words_[index].store(WordOf(address, sample), std::memory_order_release);
      return static_cast<uint16_t>(index + 1);
    }
  }
  count.fetch_sub(1, std::memory_order_relaxed);
  return 0;
}

uint16_t SampledBlocks::Take(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (address == kFree) return 0;
  const uint64_t hash = Hash(address);
  for (const int choice : {0, 1}) {
    const uint32_t first = BucketOf(hash, choice);
    for (uint32_t index = first; index < first + kWays; ++index) {
      uintptr_t word = words_[index].load(std::memory_order_relaxed);
      if ((word & kAddressMask) == address &&
          words_[index].compare_exchange_strong(word, kTaken, std::memory_order_acquire)) {
        return static_cast<uint16_t>(index + 1);
      }
    }
  }
  return 0;
}

void SampledBlocks::Restore(uint16_t place, const void* block) {
  const uint64_t sample = places_[place - 1].sample.load(std::memory_order_relaxed);
  words_[place - 1].store(WordOf(reinterpret_cast<uintptr_t>(block), sample), std::memory_order_release);
}

uint32_t SampledBlocks::NewDeath() {
  if (const uint32_t index = death_links_.Pop(&free_deaths_); index != death_links_.kNone) return index;
  uint32_t used = used_deaths_.load(std::memory_order_relaxed);
  do {
    if (used >= kDeaths) return death_links_.kNone;
  } while (!used_deaths_.compare_exchange_weak(used, used + 1, std::memory_order_relaxed));
  return used;
}

void SampledBlocks::MarkDead(uint16_t place, const void* block, uint64_t now_ns) {
  Forget(reinterpret_cast<uintptr_t>(block));
  const uint32_t index = place - 1, death = NewDeath();
  if (death == death_links_.kNone) {
    places_[index].freed_ns.store(now_ns, std::memory_order_relaxed);
    return links_.Push(&dead_, index);
  }
  deaths_[death].sample.store(places_[index].sample.load(std::memory_order_relaxed), std::memory_order_relaxed);
  deaths_[death].freed_ns.store(now_ns, std::memory_order_relaxed);
  death_links_.Push(&told_, death);
  words_[index].store(kFree, std::memory_order_release);
}

void SampledBlocks::Drop(uint16_t place, uint64_t sample) {
  const uint32_t index = place - 1;
  uintptr_t word = words_[index].load(std::memory_order_acquire);
  const uintptr_t block = word & kAddressMask;
  if (block == kFree || block == kTaken || word != WordOf(block, sample) ||
      places_[index].sample.load(std::memory_order_relaxed) != sample) {
    return;
  }
  if (!words_[index].compare_exchange_strong(word, kTaken, std::memory_order_acquire)) return;
  Forget(block);
  words_[index].store(kFree, std::memory_order_release);
}

void SampledBlocks::Clear() {
  TakeDead([](uint64_t, uint64_t) {});
  for (std::atomic<uintptr_t>& word : words_) word.store(kFree, std::memory_order_relaxed);
  for (std::atomic<uint8_t>& count : filter_) count.store(0, std::memory_order_relaxed);
}

}  // namespace heaprec::native
