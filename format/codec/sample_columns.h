// The columns of the samples' section, by number.
//
// Format:   docs/format/recording.md#samples
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace heaprec::format {

enum SampleColumn : size_t {
  kTime = 0,
  kId = 1,
  kStack = 2,
  kLeaf = 3,
  kThread = 4,
  kClass = 5,
  kSize = 6,
  kTlab = 7,
  kKind = 8,
  kWindow = 9,
  kRule = 10,
  kRaisedBy = 11,
  kExplicitWeight = 12,
};
inline constexpr size_t kSampleColumns = 13;

// HotSpot's sizes are multiples of 8: rotating moves the three zero bits to where a varint does not store them.
constexpr uint64_t Rotated(uint64_t size) { return std::rotr(size, 3); }
constexpr uint64_t Unrotated(uint64_t rotated) { return std::rotl(rotated, 3); }

}  // namespace heaprec::format
