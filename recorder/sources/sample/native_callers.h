// The native code that allocates through JNI on a thread without Java frames. Its addresses are read where it
// allocates, and named by the drain.
//
// Context:  setup: the constructor. Take: alloc: no heap, no lock. NameOf, which allocates and reads files: drain.
// Threads:  Take: any number. NameOf: one.
// Failure:  Take returns nothing if there was no memory. A location without a module: in no library.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "format/native/native_frames.h"
#include "format/ring/address_frames.h"
#include "recorder/unwind/cfi_cache.h"
#include "recorder/unwind/symbolizer.h"

namespace heaprec::sources {

class NativeCallers {
 public:
  static constexpr size_t kMost = 64;  // with those of the agent and of the JVM
  using Room = std::array<format::RingFrame, kMost>;

  NativeCallers();

  // Innermost first, as format::AddressFrame has them.
  std::span<format::RingFrame> Take(Room* room) const;
  const format::CodeLocation& NameOf(uint64_t return_address);

 private:
  const std::unique_ptr<native::CfiCache, void (*)(native::CfiCache*)> rules_;
  native::Symbolizer places_;
  uint64_t refreshed_ns_ = 0;
};

}  // namespace heaprec::sources
