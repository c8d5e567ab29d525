// The keys of what a record names: hashes of its contents, computed the same way by agent and salvager.
//
// Context:  alloc. Nothing is allocated.
// Format:   docs/format/ring.md
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "format/ring/ring_records.h"

namespace heaprec::format {

uint64_t ClassKey(std::string_view name);
uint64_t MethodKey(std::string_view class_name, std::string_view name, std::string_view descriptor);
StackKey KeyOfStack(std::span<const RingFrame> leaf_first, bool truncated);
uint64_t ThreadKey(uint64_t java_tid, uint32_t os_tid, bool is_virtual, std::string_view name);

// A sample's call path as one word (SampleRecord.call_path). The second stage sorts by it, so that each site keeps its
// share of samples. It has four 16-bit hashes of the nearest methods, the leaf's in the top bits, so that stacks with
// the same innermost frames are neighbours. The hashes are bits of the methods' keys; bcis are ignored. The hash of a
// gap frame is 0.
uint64_t CallPathKey(std::span<const RingFrame> leaf_first);

}  // namespace heaprec::format
