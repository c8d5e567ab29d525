// Turns a point into a committed sample: stack, names, thread and class into a lane, definitions before their use.
//
// Context:  alloc, inside a JVMTI callback (JNI and JVMTI are legal). Our side takes no heap, lock or I/O; what JVMTI's
//           GetStackTrace does inside the JVM is the JVM's.
// Threads:  any number.
// Failure:  counted in the ledger (Loss::kLanesBusy, kRingFull, kOversized, kNoStack).
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "recorder/buffer/announced.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ledger.h"
#include "recorder/hotspot/names.h"
#include "recorder/sources/stack_cache.h"
#include "recorder/sources/thread_fields.h"
#include "recorder/sources/window_board.h"

namespace heaprec::sources {

// A sample point that is kept, before it has a stack.
struct Point {
  format::Kind kind = format::Kind::kTlab;
  uint64_t size = 0, tlab_size = 0;
  double weight_bytes = 0;       // after stage 1
  throttle::PointTally tally{};  // what it tells the controller
  uint32_t window = 0;
};

// The Java side of a JVMTI callback.
struct CallbackContext {
  jvmtiEnv* jvmti;
  JNIEnv* jni;
  jthread thread;
  jclass object_class;
  uint32_t os_tid;
  uint32_t lane_hint;
};

class Capture {
 public:
  // All outlive the Capture. `names` reads methods and classes raw.
  Capture(buffer::Ring& ring, buffer::Ledger& ledger, WindowBoard& board, const hotspot::Names& names,
          const ThreadFields& fields, int stack_depth);

  // Counts the point's fate in the ledger; the point itself is counted by the caller.
  void Commit(const CallbackContext& context, const Point& point);

  // Publishes a window that has begun, so that a salvager finds its parameters.
  void CommitWindow(const PublishedWindow& window, uint32_t lane_hint);

  // Definitions announced before this call are written again on their next use (a new chunk begins).
  void NewEpoch() { epoch_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct Stack {
    jvmtiFrameInfo* frames;
    jint count = 0;
    bool truncated = false;
    format::StackKey raw{};
  };
  struct ClassName {
    std::string_view text;
    char copy[512];
  };
  bool TakeStack(const CallbackContext& context, Stack* stack) const;
  void ReadClassName(const CallbackContext& context, ClassName* into) const;
  format::Loss WhyNoLease(const buffer::LaneLease& lease, uint32_t room) const;
  // Each writes the definitions that the lanes do not carry; false: no room.
  bool DescribeFrames(const Stack& stack, uint32_t lane_hint, uint32_t epoch, format::RingFrame* frames);
  bool DefineMethod(jmethodID method, uint32_t lane_hint, uint32_t epoch, uint64_t* key);
  bool DefineStack(buffer::LaneLease& lease, const Stack& stack, const format::RingFrame* frames, uint32_t epoch,
                   format::StackKey* key);
  bool DefineClass(buffer::LaneLease& lease, std::string_view name, uint32_t epoch, uint64_t* key);
  bool DefineThread(buffer::LaneLease& lease, uint32_t os_tid, const ThreadIdentity& identity, uint32_t epoch,
                    uint64_t* key);
  static void WriteWindow(buffer::LaneLease& lease, const PublishedWindow& window);
  bool WriteSample(buffer::LaneLease& lease, const Point& point, uint64_t thread_key, uint64_t class_key,
                   format::StackKey stack_key);

  buffer::Ring& ring_;
  buffer::Ledger& ledger_;
  WindowBoard& board_;
  const hotspot::Names& names_;
  const ThreadFields& fields_;
  const int stack_depth_;
  std::atomic<uint32_t> epoch_{1};
  std::atomic<uint64_t> next_id_{1};
  StackCache stacks_;
  buffer::Announced<1 << 14> methods_;
  buffer::Announced<1 << 12> classes_;
  buffer::Announced<1 << 12> threads_;
};

}  // namespace heaprec::sources
