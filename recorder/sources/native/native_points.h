// Sample points of native memory on their way from the allocating thread to the drain, which resolves names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/ring/ring_records.h"
#include "recorder/native_sample/malloc_hooks.h"

namespace heaprec::sources {

// A thread builds one on its stack and writes it to a lane (format::NativePointRecord).
struct NativePoint {
  static constexpr size_t kMaxNative = 48, kMaxJava = 96, kMaxNameBytes = format::kThreadNameBytes;

  uint64_t time_ns = 0, id = 0, size = 0;
  double weight = 0;
  uint32_t window = 0, os_tid = 0;
  uint16_t tracking_index = 0;  // in native::SampledBlocks; 0: it is not tracked
  native::Function function = native::Function::kMalloc;
  char thread_name[kMaxNameBytes] = {};
  size_t native_frames = 0, java_frames = 0;
  // Innermost first: return addresses, and the Java frames that called them.
  std::array<uintptr_t, kMaxNative> native;
  std::array<format::RingFrame, kMaxJava> java;
  bool java_is_cut = false;
};

}  // namespace heaprec::sources
