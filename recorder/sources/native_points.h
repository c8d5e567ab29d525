// Sample points of native memory on their way from the thread that allocates to the drain, which knows names: memory
// for a number of them, which no thread waits for.
//
// Context:  Take, Give, GiveUp: alloc, inside malloc's family. TakeAll: drain.
// Threads:  any; one drain.
// Failure:  Take is null when all are on their way.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/ring_layout.h"
#include "recorder/native/index_lists.h"
#include "recorder/native/sampled_hooks.h"
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

class NativePoints {
 public:
  static constexpr uint32_t kMost = 1 << 15;

  // At most `count` <= kMost are on their way.
  explicit NativePoints(uint32_t count);
  ~NativePoints();
  NativePoints(const NativePoints&) = delete;
  NativePoints& operator=(const NativePoints&) = delete;

  NativePoint* Take();
  void Give(NativePoint* point) { links_.Push(&given_, NumberOf(point)); }
  void GiveUp(NativePoint* point) { links_.Push(&free_, NumberOf(point)); }

  // In the order in which they were given; each is free again when it has been visited.
  template <typename Visit>
  void TakeAll(const Visit& visit) {
    order_.clear();
    links_.TakeAll(&given_, [this](uint32_t number) { order_.push_back(number); });
    for (auto number = order_.rbegin(); number != order_.rend(); ++number) {
      visit(points_[*number]);
      links_.Push(&free_, *number);
    }
  }

 private:
  using Links = native::IndexLinks<kMost>;

  uint32_t NumberOf(const NativePoint* point) const { return static_cast<uint32_t>(point - points_); }

  const uint32_t count_;
  Links links_;
  Links::Free free_;
  Links::Done given_;
  std::atomic<uint32_t> used_{0};  // beyond are those that were never taken
  std::vector<uint32_t> order_;
  NativePoint* const points_;  // zero pages, each until it is taken
};

}  // namespace heaprec::sources
