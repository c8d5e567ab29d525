// Sample points of native memory on their way from the thread that allocates to the drain, which knows names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "format/ring_records.h"
#include "recorder/native/sampled_hooks.h"
#include "recorder/sources/point_pool.h"
#include "recorder/sources/window_board.h"

namespace heaprec::sources {

struct NativePoint {
  static constexpr size_t kMostNative = 48, kMostJava = 96, kMostNameBytes = 16;

  uint64_t time_ns = 0, id = 0, size = 0;
  double weight = 0;
  uint32_t window = 0, os_tid = 0;
  uint16_t place = 0;  // in native::BlockTable; 0: it is not followed
  native::Function function = native::Function::kMalloc;
  std::optional<PublishedWindow> new_window;
  char thread_name[kMostNameBytes] = {};
  size_t native_frames = 0, java_frames = 0;
  // Innermost first: return addresses, and the Java frames that called them.
  std::array<uintptr_t, kMostNative> native;
  std::array<format::RingFrame, kMostJava> java;
  bool java_is_cut = false;
};

using NativePoints = PointPool<NativePoint>;

}  // namespace heaprec::sources
