// A native frame in the ring by its return address; the drain names it. A stack of such frames has no other record, so
// each sample contains it.
//
// Format:   docs/format/ring.md
#pragma once

#include <cstdint>
#include <span>

#include "format/ring/ring_records.h"

namespace heaprec::format {

inline constexpr int32_t kAddressLine = -3;

constexpr RingFrame AddressFrame(uint64_t return_address) {
  return {return_address, -1, kAddressLine, FrameType::kNative};
}

constexpr bool AreAddresses(std::span<const RingFrame> frames) {
  return !frames.empty() && frames.front().line == kAddressLine;
}

}  // namespace heaprec::format
