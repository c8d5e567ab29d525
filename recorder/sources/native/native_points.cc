#include "recorder/sources/native/native_points.h"

#include <array>

namespace heaprec::sources {

void WalkedJavaFrames::Take(NativePoint* point) {
  const void* const java_thread = current_();
  if (java_thread == nullptr || !walker_.IsInNativeMethod(java_thread)) return;
  std::array<hotspot::MethodFrame, NativePoint::kMaxJava> room;
  const std::span<hotspot::MethodFrame> frames = walker_.ExpandLeafSide(java_thread, room);
  point->java_frames = capture_.Describe(frames, point->os_tid, point->java);
  point->java_is_cut = point->java_frames == room.size();
}

}  // namespace heaprec::sources
