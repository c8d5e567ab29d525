// The native code that allocates through JNI on a thread without Java frames. Its addresses are read where it
// allocates, and named by the drain.
//
// Context:  Take: alloc: no heap, no lock. NameOf: drain: it allocates and reads files.
// Threads:  Take: any number. NameOf: one.
// Failure:  Take returns nothing if the JVM allocates for itself, or there was no memory. A location without a module:
//           in no library.
#pragma once

#include <jni.h>

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
  static constexpr size_t kMost = 64;  // with the frames of the agent and of the JVM, which are left out
  using Room = std::array<format::RingFrame, kMost>;

  NativeCallers();

  // Innermost first.
  std::span<format::RingFrame> Take(const JNIEnv* jni, Room* room) const;
  const format::CodeLocation& NameOf(uint64_t return_address);

 private:
  const std::unique_ptr<native::CfiCache, void (*)(native::CfiCache*)> rules_;
  native::Symbolizer places_;
  uint64_t refreshed_ns_ = 0;
};

}  // namespace heaprec::sources
