// What groups had in each of a few parts of a recording that are equally long in allocated bytes, not in seconds: so
// that the parts of two runs of the same work belong together, however fast each ran.
//
//   ProgressBlocks blocks;
//   for (sample) blocks.Add(key, sample.time_ns, weight);
//   blocks.Of(key)                                   // parts of its mean, kBlocks of them
//
// Memory:   kSlots numbers for each group.
// Threads:  one.
// Maths:    docs/estimates.md#several-runs
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace heaprec::tools {

class ProgressBlocks {
 public:
  static constexpr size_t kBlocks = 10;
  using Blocks = std::array<double, kBlocks>;

  void Add(uint32_t key, uint64_t time_ns, double weight);
  // Zeros for a group that had nothing. Where fewer than kBlocks slots have anything, as with rows of a short
  // recording, blocks of one slot vary together: their deviations are larger by what VarianceOverTime then lacks.
  Blocks Of(uint32_t key) const;

 private:
  // Slots of equal length in time, which doubles when there are too few.
  static constexpr size_t kSlots = 128;
  using Slots = std::array<float, kSlots>;
  static void Halve(Slots* slots);

  std::unordered_map<uint32_t, Slots> groups_;
  Slots all_{};
  uint64_t slot_ns_ = 50'000'000;
};

}  // namespace heaprec::tools
