// One recording: assembles, starts and stops its ring, counters, windows, SampleWriter, source and drain.
//
// Context:  Start: setup. Stop: any attached thread. The drain also stops it (duration, samples).
// Failure:  Start returns an Error; in that case nothing is active. EndedRecordings destroys a recording that ended,
//           because a thread may still be inside it.
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
#include "recorder/sources/paths/path_recorder.h"
#include "recorder/sources/state/heap_state_recorder.h"
#include "recorder/writer/drain.h"
#include "throttle/throttle.h"

namespace heaprec::agent {

class Recording;

// Whether every thread has left inactive sources: their hooks, after a safepoint, and their callbacks, for which this
// waits a few milliseconds.
bool NoThreadInside(jvmtiEnv* jvmti);

// Keeps ended recordings until no thread can be inside them.
//
// Context:  setup: live phase, an attached thread.
// Failure:  recordings that cannot be freed yet stay until the next call.
class EndedRecordings {
 public:
  EndedRecordings();
  ~EndedRecordings();
  EndedRecordings(const EndedRecordings&) = delete;
  EndedRecordings& operator=(const EndedRecordings&) = delete;

  // If this throws, `recording` still belongs to the caller or has been stored: it is not destroyed.
  void Add(std::unique_ptr<Recording>&& recording);
  std::unique_ptr<Recording> TakeLast();
  // Frees what can be freed. No source of these recordings may be active, and each drain must have ended or never
  // started.
  void Free(jvmtiEnv* jvmti);

 private:
  std::vector<std::unique_ptr<Recording>> recordings_;
};

struct ChosenSource {
  SourceChoice source;          // not kAuto
  std::string why;              // for people to read
  bool armed;                   // the agent writes the JVM's thresholds, so that the byte clock chooses the objects
  std::string no_exceptions{};  // why requested exceptions are not recorded
  std::string no_census{};      // why a requested census is not recorded
  std::optional<format::SourceFact> fact{};
  EndHooks ends{};
};

// Logged if SourceFact::kKeepsYoungReferents is set.
inline constexpr char kYoungReferents[] =
    "generational ZGC: tracked objects are found dead only after a major collection";

inline constexpr char kJvmEnds[] = "the JVM is exiting";

// Makes all sources inactive: from then on no thread enters a recording's hooks.
void StopSources();

class Recording {
 public:
  // `number` counts the recordings of this process from 1. Creating the file may take long. If the JVM is `ending` by
  // then, Start removes the file and starts nothing. `retired` keeps a recording that failed to start after a thread
  // may have seen it.
  static Result<std::unique_ptr<Recording>> Start(const sources::Jvm& jvm, const Options& options,
                                                  const ChosenSource& source, uint32_t number,
                                                  const std::atomic<bool>& ending, EndedRecordings* retired);

  // Ends the recording and waits, some seconds at most, until it is complete in the file. `jvm_ends`: the caller has
  // disabled the JVM's events, or the JVM no longer sends them.
  void Stop(const std::string& reason, bool jvm_ends);
  // Makes the census count the TLABs in use, and searches for paths. Returns an Error if the recording has neither, or
  // if the count fails. This and the next function need an attached thread.
  Status Flush() {
    if (census_ == nullptr && paths_ == nullptr) return Error{"the recording has neither a census nor paths"};
    SearchPaths();
    return census_ != nullptr ? census_->CountInUse() : Status{};
  }
  // Requests what writer::CopyOf needs to copy the recording so far; the recording continues.
  std::future<Result<writer::Snapshot>> RequestSnapshot() {
    (void)Flush();
    return drain_->RequestSnapshot();
  }
  // Whether the recording has ended, by itself or by Stop, and is complete in the file.
  bool ended() const { return drain_->Wait(0); }
  // Whether its threads have ended, so that the destructor does not wait. A disk that does not respond can keep a
  // thread forever.
  bool TryJoin() { return drain_->TryJoin() && parts_.TryJoin(); }

  std::string path() const { return drain_->path(); }
  // Returns a sentence about data that could not be written, with the file's name; empty if all was written.
  std::string UnwrittenText() const;

 private:
  Recording(const sources::Jvm& jvm, const Options& options, uint32_t number);

  Status Build(const ChosenSource& source);
  // Activates the sources, then starts the threads. After an error the caller ends what has begun. Throws nothing.
  Status Begin();
  void PlanStreams(const ChosenSource& source);
  format::FileHeader Header(const ChosenSource& source) const;
  Status MakeDrain(const format::FileHeader& header);
  const hotspot::StackWalker* Walker() const;  // null: stacks come from JVMTI
  std::string StackSourceText() const;
  void MakeSource(const ChosenSource& source);
  // Each adds a part, if it is requested and possible.
  void AddTracker();
  void AddPaths(sources::WeakRefTable& tracked);
  void SearchPaths();  // needs an attached thread
  void AddMemorySnapshots();
  void AddEnds(const ChosenSource& source);
  void AddExceptions();
  void AddNative();
  void AddCensus(const ChosenSource& source);
  void EndCensus();
  void Activate();
  void ActivateSource();
  // Call while the source is active. Needs an attached thread.
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
  // For portable mode: bytes allocated by all threads.
  struct Bean {
    std::optional<uint64_t> at_start;
    uint64_t most = 0, asked_ns = 0;
  } bean_;
  std::optional<throttle::PointAllowance> allowance_;  // only with points=max
  std::unique_ptr<buffer::Ring> ring_;
  std::unique_ptr<buffer::SharedCounters> shared_counters_;
  std::unique_ptr<sources::WindowPublisher> windows_;
  std::unique_ptr<sources::SampleWriter> sample_writer_;
  std::unique_ptr<sources::RecordingSource> source_;
  std::unique_ptr<sources::OutsideRecorder> outside_;
  std::unique_ptr<sources::HeapStateRecorder> heap_states_;
  sources::Parts parts_;
  sources::Census* census_ = nullptr;             // owned by parts_; null: there is none
  std::string no_census_;                         // why a requested census is missing
  sources::PathRecorder* paths_ = nullptr;        // owned by parts_; null: there is none
  std::string no_paths_;                          // why requested paths are missing
  sources::JvmtiSource* jvmti_source_ = nullptr;  // equals source_ if that is a JvmtiSource
  std::unique_ptr<sources::AttachedScope>
      attached_;  // source=jvmti: for the drain, which sets the JVM's sampling interval
  std::atomic<bool> jvm_ends_{false};
  bool mismatch_reported_ = false;  // the walker's mismatch has been reported
  int jvm_interval_ = 0;            // source=jvmti: the JVM's sampling interval
  jint active_interval_ = 0;        // interval while the source is active; 0: jvm_interval_
  std::unique_ptr<writer::Drain> drain_;
};

}  // namespace heaprec::agent
