// Records what holds the tracked objects: for each, the shortest chain of references from a root, as a stack of fields.
//
// Where the agent knows how objects are stored, JVMTI stops the threads and lists the roots (FollowReferences). Once it
// has listed all but the classes, the heap is searched within its callback (hotspot::HeapWalk), and JVMTI is told to
// end. JVMTI does not say where an object is; that is read beside the object's tag, in memory of the JVM's own stack.
// Before any such address is used, those of two objects must equal what their handles say. A search of the whole heap,
// and the agent's test of itself before the first one, must find an object of the agent's own by the chain that it is
// known to have; otherwise nothing of it is recorded, and there is no further search.
//
// Units:    ns of CLOCK_MONOTONIC, bytes.
// Context:  Make: setup, an attached thread. Search: an attached thread in native state.
// Threads:  one search at a time; others wait for it.
// Failure:  Make: an Error says why this JVM's heap cannot be searched. A failed search is recorded with its reason.
// Format:   docs/format/recording.md#paths
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recorder/hotspot/references/reference_layout.h"
#include "recorder/sources/agent_thread.h"
#include "recorder/sources/jvm/jvm.h"
#include "recorder/sources/live/weak_ref_table.h"
#include "recorder/sources/part.h"
#include "recorder/sources/paths/path_set.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/state/heap_state_recorder.h"

namespace heaprec::sources {

struct PathLimits {
  uint64_t every_ns = 0;  // 0: only when the heap is full, at last_ns, and when asked
  uint64_t last_ns = 0;   // when to search before the recording ends by itself; 0: it does not
  uint64_t pause_ns = 50'000'000;
  uint64_t retained_ns = 50'000'000;  // so long after the pause's beginning nobody searches for retained sizes any more
  uint64_t memory_bytes = 0;          // 0: half of what is left to the process
};

class PathRecorder final : public Part {
 public:
  // All arguments must outlive it.
  static Result<std::unique_ptr<PathRecorder>> Make(const Jvm& jvm, JNIEnv* jni, SampleWriter& writer,
                                                    HeapStateRecorder& states, WeakRefTable& tracked,
                                                    const PathLimits& limits);
  ~PathRecorder() override;

  // Why JVMTI reports the references (JvmtiSearch); empty: the agent reads the heap itself.
  const std::string& why_by_jvmti() const { return why_by_jvmti_; }

  // Searches now, and writes what it found. Does nothing after Stop.
  void Search(JNIEnv* jni);

  Status Activate() override { return thread_.Start(); }
  void Stop() override {
    is_stopped_ = true;
    thread_.Stop();
  }
  bool TryJoin() override { return thread_.TryJoin(); }

 private:
  class Pause;

  PathRecorder(const Jvm& jvm, SampleWriter& writer, HeapStateRecorder& states, WeakRefTable& tracked,
               const PathLimits& limits);
  // Makes the objects by which each search is checked.
  Status MakeAnchors(JNIEnv* jni);
  Status SearchOnce(JNIEnv* jni, bool is_test);
  void Write(JNIEnv* jni, const FoundPaths& found);
  bool WritePath(const PathSet& paths, const PathSet::Path& path, const std::vector<ThreadIdentity>& threads);
  bool WriteEvent(const SampleWriter::Event& event);
  void SearchAtTimes();
  uint64_t MemoryLimit() const;

  const Jvm& jvm_;
  SampleWriter& writer_;
  HeapStateRecorder& states_;
  WeakRefTable& tracked_;
  const PathLimits limits_;
  std::optional<hotspot::ReferenceLayout> layout_;  // nullopt: JVMTI reports the references
  std::string why_by_jvmti_;
  jvmtiEnv* jvmti_ = nullptr;  // of its own, so that its tags are nobody else's
  JavaVM* const vm_;
  jobject anchor_ = nullptr, other_anchor_ = nullptr;  // global references
  jweak held_ = nullptr;                               // an object that only `anchor_` holds
  std::mutex mutex_;
  bool has_failed_ = false, is_over_ = false;  // for good; the JVM's end
  std::atomic<bool> is_stopped_{false};
  uint64_t searches_ = 0;
  uint64_t give_up_ns_ = 0;  // writing the current search
  StoppableThread thread_;
};

}  // namespace heaprec::sources
