// The names of the frames of sampled stacks, copied: names outlive their classes.
//
// Bound:    kMaxFrames, kMaxMethods and kTextBytes; beyond these nothing is kept until Retain has made room.
// Context:  setup: allocates all the heap that it will ever need. Has, Add: alloc. Find, Retain: setup.
// Threads:  one at a time.
// Failure:  none: a frame that is not kept has no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "include/heaprec_sampling.h"

namespace heaprec::sources {

class FrameNames {
 public:
  // is_needed false: nothing is kept, and no heap is used.
  explicit FrameNames(bool is_needed);

  struct Method {
    std::string_view class_name, name, file;
  };
  bool Has(const heaprec_frame& frame) const { return frames_[FrameSlot(frame)].method != nullptr; }
  bool HasMethod(const void* method) const { return methods_[MethodSlot(method)].id != nullptr; }
  // The method of a frame; call it once, before its frames. Copies its bytes.
  void AddMethod(void* method, const Method& names);
  void Add(const heaprec_frame& frame, int32_t line);

  // Pointers are valid until Retain. class_name is null if nothing is known.
  heaprec_frame_name Find(const heaprec_frame& frame) const;

  bool IsHalfFull() const;
  // Keeps only the names of frames for which `for_each_used(visit)` calls visit(heaprec_frame).
  template <typename ForEachUsed>
  void Retain(const ForEachUsed& for_each_used) {
    FrameNames kept(true);
    for_each_used([&](const heaprec_frame& frame) { kept.CopyFrom(*this, frame); });
    *this = std::move(kept);
  }

  static constexpr size_t kMaxFrames = 1 << 15, kMaxMethods = 1 << 13, kTextBytes = 1 << 20;

 private:
  // Offsets into texts_, each of a zero-terminated text.
  struct KnownMethod {
    void* id = nullptr;
    uint32_t class_name = 0, name = 0, file = 0;
  };
  struct KnownFrame {
    void* method = nullptr;
    int64_t location = 0;
    int32_t line = 0;
  };
  // Where the frame is, or belongs.
  size_t FrameSlot(const heaprec_frame& frame) const;
  size_t MethodSlot(const void* method) const;
  uint32_t Append(std::string_view text);
  void CopyFrom(const FrameNames& other, const heaprec_frame& frame);

  // Open addressing, never full: the last slots stay free.
  std::vector<KnownMethod> methods_;
  std::vector<KnownFrame> frames_;
  std::unique_ptr<char[]> texts_;
  size_t method_count_ = 0, frame_count_ = 0, text_bytes_ = 0;
};

}  // namespace heaprec::sources
