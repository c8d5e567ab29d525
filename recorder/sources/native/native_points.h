// Sample points of native memory, with stacks, which the allocating thread passes to the drain. The drain resolves
// names.
//
// Context:  alloc, inside malloc's and mmap's families, on any thread in any state: no heap, no JNI, no safepoint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/memory.h"
#include "format/ring/ring_records.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/native_sample/malloc_hooks.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::sources {

// Built by a thread on its stack, and written to a lane.
struct NativePoint : format::NativePointRecord {
  static constexpr size_t kMaxNative = 48, kMaxJava = 96;

  NativePoint() : NativePointRecord{} {}

  // Innermost first: return addresses, and the Java frames that called them.
  std::array<uintptr_t, kMaxNative> native;
  std::array<format::RingFrame, kMaxJava> java;
};

// Reads the Java frames of the calling thread, in any state of the thread.
class JavaFrames {
 public:
  virtual ~JavaFrames() = default;
  // Stores the frames, innermost first, up to the maximum.
  virtual void Take(NativePoint* point) = 0;
};

// Only pages with rules are resident. Throws std::bad_alloc.
inline auto NewCfiCache() {
  auto* const cache = static_cast<native::CfiCache*>(MapSparse(sizeof(native::CfiCache)));
  if (cache == nullptr) throw std::bad_alloc();
  const auto unmap = [](native::CfiCache* it) { UnmapSparse(it, sizeof *it); };
  return std::unique_ptr<native::CfiCache, void (*)(native::CfiCache*)>(cache, unmap);
}

// Works in a native method, if its native code allocates or the JVM does so for it (Unsafe.allocateMemory). Elsewhere
// there are no Java frames.
class WalkedJavaFrames final : public JavaFrames {
 public:
  // All arguments must outlive it. `writer` describes the frames.
  WalkedJavaFrames(const hotspot::CurrentThread& current, const hotspot::StackWalker& walker, SampleWriter& writer)
      : current_(current), walker_(walker), writer_(writer) {}

  void Take(NativePoint* point) override {
    const void* const java_thread = current_();
    if (java_thread == nullptr || !walker_.IsInNativeMethod(java_thread)) return;
    std::array<hotspot::MethodFrame, NativePoint::kMaxJava> room;
    const std::span<hotspot::MethodFrame> frames = walker_.ExpandLeafSide(java_thread, room);
    point->java_frames = static_cast<uint16_t>(writer_.Describe(frames, point->os_tid, point->java));
    point->is_cut = point->java_frames == room.size() ? 1 : 0;
  }

 private:
  const hotspot::CurrentThread current_;
  const hotspot::StackWalker& walker_;
  SampleWriter& writer_;
};

}  // namespace heaprec::sources
