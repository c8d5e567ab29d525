// One recording: assembles, starts and stops its ring, counters, windows, SampleWriter, source and drain.
//
// Context:  Start: setup. Stop: any attached thread. The drain also stops it (duration, samples).
// Failure:  Start returns an Error; then nothing is active. EndedRecordings destroys a recording that ended, because a
//           thread may still be inside it.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recorder/agent/jvm/end_hooks.h"
#include "recorder/agent/options/options.h"
#include "recorder/agent/recording_plan.h"
#include "recorder/sources/agent_thread.h"
#include "recorder/sources/census/census.h"
#include "recorder/sources/java/jvmti_source.h"
#include "recorder/sources/java/outside_counts.h"
#include "recorder/sources/java/source.h"
#include "recorder/sources/jvm/jvm.h"
#include "recorder/sources/part.h"
#include "recorder/sources/state/heap_state_recorder.h"
#include "recorder/writer/drain.h"
#include "throttle/throttle.h"

namespace heaprec::agent {

class Recording;

// Whether every thread has left sources that are no longer active: hooks, after a safepoint, and callbacks, for which
// it waits a few milliseconds.
bool NoThreadInside(jvmtiEnv* jvmti);

// Keeps recordings that have ended, until no thread can be inside them.
//
// Context:  setup: live phase, an attached thread.
// Failure:  what cannot be freed yet stays until the next call.
class EndedRecordings {
 public:
  EndedRecordings();
  ~EndedRecordings();
  EndedRecordings(const EndedRecordings&) = delete;
  EndedRecordings& operator=(const EndedRecordings&) = delete;

  // If it throws, `recording` is still the caller's or is kept here: it is never destroyed.
  void Add(std::unique_ptr<Recording>&& recording);
  std::unique_ptr<Recording> TakeLast();
  // Frees what can be freed. No source of these recordings may be active, and each drain has ended or never began.
  void Free(jvmtiEnv* jvmti);

 private:
  std::vector<std::unique_ptr<Recording>> recordings_;
};

struct ChosenSource {
  SourceChoice source;          // not kAuto
  std::string why;              // for people
  bool armed;                   // the agent writes the JVM's thresholds, so that the byte clock chooses the objects
  std::string no_exceptions{};  // why requested exceptions are not recorded
  std::string no_census{};      // likewise
  std::optional<format::SourceFact> fact{};
  EndHooks ends{};
};

// Said where SourceFact::kKeepsYoungReferents is noted.
inline constexpr char kYoungReferents[] =
    "generational ZGC: tracked objects are found dead only after a major collection";

inline constexpr char kJvmEnds[] = "the JVM is exiting";

// Makes all sources inactive: from then on no thread enters a recording's hooks.
void StopSources();

class Recording {
 public:
  // `number` counts the recordings of this process from 1. Creating the file may take long. If the JVM is `ending` once
  // the file exists, Start removes the file, and nothing begins. `retired` keeps a recording that failed to start after
  // a thread may have seen it.
  static Result<std::unique_ptr<Recording>> Start(const sources::Jvm& jvm, const Options& options,
                                                  const ChosenSource& source, uint32_t number,
                                                  const std::atomic<bool>& ending, EndedRecordings* retired);

  // Ends the recording and waits (some seconds at most) until it is complete in the file. `jvm_ends`: the caller has
  // turned the JVM's events off, or the JVM is past the point where that matters.
  void Stop(const std::string& reason, bool jvm_ends);
  // Makes the census count the TLABs in use. Error: there is no census, or it fails. Needs an attached thread, as does
  // the next function.
  Status CountInUse() {
    if (census_ == nullptr) return Error{"the recording has no census"};
    return census_->CountInUse();
  }
  // Requests what writer::CopyOf needs to copy the recording so far; the recording continues.
  std::future<Result<writer::Snapshot>> RequestSnapshot() {
    (void)CountInUse();
    return drain_->RequestSnapshot();
  }
  // Whether it has ended, by itself or by Stop, and is complete in the file.
  bool ended() const { return drain_->Wait(0); }
  // Whether its threads have ended, so that the destructor does not wait. A disk that hangs can keep a thread forever.
  bool TryJoin() { return drain_->TryJoin() && parts_.TryJoin(); }

  std::string path() const { return drain_->path(); }
  // A sentence about data that could not be written, with the file's name; empty: all was written.
  std::string UnwrittenText() const;

 private:
  Recording(const sources::Jvm& jvm, const Options& options, uint32_t number);

  Status Build(const ChosenSource& source);
  // Makes the sources active, then starts the threads. After an error the caller ends what has begun. Throws nothing.
  Status Begin();
  void PlanStreams(const ChosenSource& source);
  format::FileHeader Header(const ChosenSource& source) const;
  Status MakeDrain(const format::FileHeader& header);
  const hotspot::StackWalker* Walker() const;  // null: stacks come from JVMTI
  std::string StackSourceText() const;
  void MakeSource(const ChosenSource& source);
  // Each adds a part, if it is wanted and possible.
  void AddTracker();
  void AddMemorySnapshots();
  void AddEnds(const ChosenSource& source);
  void AddExceptions();
  void AddNative();
  void AddCensus(const ChosenSource& source);
  void EndCensus();
  void Activate();
  void ActivateSource();
  // While the source is active. Needs an attached thread.
  void RestoreInterval();
  void OnTick(uint64_t now_ns);
  void OnDrainStop();
  void SetJvmInterval();
  std::optional<double> PointsFor(std::optional<uint64_t> cpu_ns, uint64_t now_ns);
  uint64_t Population(uint64_t seen, uint64_t now_ns);
  void AskBean(uint64_t now_ns);

  const sources::Jvm& jvm_;
  const Options options_;
  const uint32_t number_;
  RecordingPlan plan_;
  sources::Totals population_at_start_;
  uint64_t uncounted_at_end_ = 0;
  // Portable mode: bytes of all threads.
  struct Bean {
    std::optional<uint64_t> at_start;
    uint64_t most = 0, asked_ns = 0;
  } bean_;
  std::optional<throttle::PointAllowance> allowance_;  // points=max
  std::unique_ptr<buffer::Ring> ring_;
  std::unique_ptr<buffer::SharedCounters> shared_counters_;
  std::unique_ptr<sources::WindowPublisher> windows_;
  std::unique_ptr<sources::SampleWriter> sample_writer_;
  std::unique_ptr<sources::RecordingSource> source_;
  std::unique_ptr<sources::OutsideRecorder> outside_;
  std::unique_ptr<sources::HeapStateRecorder> heap_states_;
  sources::Parts parts_;
  sources::Census* census_ = nullptr;             // one of them; null: there is none
  std::string no_census_;                         // why a requested census is missing
  sources::JvmtiSource* jvmti_source_ = nullptr;  // source_, if it is one
  std::unique_ptr<sources::AttachedScope>
      attached_;  // source=jvmti: for the drain, which sets the JVM's sampling interval
  std::atomic<bool> jvm_ends_{false};
  bool mismatch_reported_ = false;  // the walker's mismatch has been reported
  int jvm_interval_ = 0;            // source=jvmti: the JVM's sampling interval
  jint active_interval_ = 0;        // that while the source is active; 0: jvm_interval_
  std::unique_ptr<writer::Drain> drain_;
};

}  // namespace heaprec::agent
