#include "recorder/sources/native/java_frames.h"

#include <array>

namespace heaprec::sources {

void WalkedJavaFrames::Take(NativePoint* point) {
  JNIEnv* jni = nullptr;
  // A look at the thread's own words: no lock, no transition. Threads of the JVM that run no Java have no environment.
  if (vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_1_6) != JNI_OK || jni == nullptr) return;
  const void* const java_thread = thread_of_(jni);
  if (!walker_.IsInNativeMethod(java_thread)) return;
  std::array<hotspot::MethodFrame, NativePoint::kMaxJava> room;
  const std::span<hotspot::MethodFrame> frames = walker_.ExpandLeafSide(java_thread, room);
  point->java_frames = capture_.Describe(frames, point->os_tid, point->java);
  point->java_is_cut = point->java_frames == room.size();
}

}  // namespace heaprec::sources
