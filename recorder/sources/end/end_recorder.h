// Records what ends the process, or foretells its end: errors, exits, signals, and the sites that start threads.
//
// Context:  Make: setup, an attached thread. OnHalt, OnThrowable, OnThreadStart: a Java thread in a native method,
//           where JNI and JVMTI are legal. OnDetach: likewise, perhaps with a pending exception. OnOutOfMemory: a Java
//           thread within the JVM: alloc, without JNI. OnSignal: any, also within a signal handler. None takes a lock
//           or uses the heap itself.
// Threads:  any number.
// Failure:  an event without room in the ring is lost, and leaves a gap in the ids.
// Format:   docs/format/recording.md#events
#pragma once

#include <jni.h>
#include <jvmti.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/stacks/throwables.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/sources/jvm/jvm.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::sources {

class EndRecorder {
 public:
  // All arguments must outlive it.
  static std::unique_ptr<EndRecorder> Make(const Jvm& jvm, JNIEnv* jni, SampleWriter& writer,
                                           HeapStateRecorder& states);

  // The JVM's exit with this code begins.
  void OnHalt(jint code);
  // An exception was made by Java code; it has no message yet.
  void OnThrowable(JNIEnv* jni, jthrowable thrown);
  // The JVM is about to throw an OutOfMemoryError, or to end for it.
  void OnOutOfMemory(const char* message);
  void OnSignal(int signal, const siginfo_t* info);
  // The calling thread leaves the JVM.
  void OnDetach(JNIEnv* jni);
  // `thread` was started by the calling thread, or could not be. JNI may be used with an exception pending only as far
  // as the specification allows; so `name` is read before.
  void OnThreadStart(bool has_started, std::string_view name);
  void ReadName(JNIEnv* jni, jobject thread, ThreadIdentity* into) const { jvm_.thread_fields.Read(jni, thread, into); }

 private:
  using Frames = std::array<format::RingFrame, SampleWriter::kMaxEventFrames>;
  // Maximum errors of one second that are recorded one by one.
  static constexpr uint64_t kErrorsPerSecond = 10;

  EndRecorder(const Jvm& jvm, SampleWriter& writer, HeapStateRecorder& states)
      : jvm_(jvm), writer_(writer), states_(states) {}

  // A Java thread in a native method.
  void CommitHere(SampleWriter::Event event);
  bool IsCalledBy(jmethodID method) const;
  bool MayRecordError();
  struct ErrorClass {
    jclass type = nullptr;  // a global reference
    const char* name = nullptr;
    std::atomic<uint64_t> count{0};  // errors of this class so far
  };

  // A site that starts threads. Its row is written again when its count has grown by an eighth, or after a second.
  struct Site {
    std::atomic<uint64_t> key{0};  // of its stack; 0: free
    std::atomic<uint64_t> started{0}, failed{0}, total{0};
    std::atomic<uint64_t> written_ns{0};
  };
  Site* SiteOf(uint64_t key);
  static bool IsDue(Site& site, uint64_t now_ns);

  const Jvm& jvm_;
  SampleWriter& writer_;
  HeapStateRecorder& states_;
  std::optional<hotspot::CurrentThread> current_;  // nullopt: no stacks within the JVM
  hotspot::Throwables throwables_;
  jmethodID halt_ = nullptr;  // Runtime.halt
  ErrorClass out_of_memory_{.name = "java/lang/OutOfMemoryError"},
      stack_overflow_{.name = "java/lang/StackOverflowError"};
  uint64_t main_thread_ = 0;  // its id in Java
  uint64_t heap_max_ = 0;
  bool ends_on_out_of_memory_ = false;
  std::atomic<uint64_t> errors_second_{0}, errors_in_second_{0};
  std::atomic<bool> has_marked_{false};
  static constexpr size_t kSites = 512;
  std::array<Site, kSites> sites_{};
};

// java.lang.VirtualMachineError, a global reference, from the first Make on. Every exception is compared with it.
extern std::atomic<jclass> machine_error;

// Null: not recording. A recorder is freed after it was removed here and no thread is inside (CallbackScope).
extern std::atomic<EndRecorder*> active_ends;

}  // namespace heaprec::sources

extern "C" {
void heaprec_on_halt(int code);
void heaprec_on_throwable(JNIEnv* jni, jobject thrown);
void heaprec_on_out_of_memory(const char* message);
void heaprec_on_signal(int signal, const siginfo_t* info);
void heaprec_on_detach(JavaVM* vm);
// Calls `start`, which is JVM_StartThread.
void heaprec_around_thread_start(JNIEnv* jni, jobject thread, void (*start)(JNIEnv*, jobject));
}
