// A recording of a program that has no JVM: native memory alone. Assembles ring, stream and drain.
//
// Context:  Start: setup, as long as there is one thread. Stop: any thread but the drain. Pause, Resume: around fork.
// Failure:  Start: an Error; nothing is then active. It is never destroyed: a thread may be inside it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "format/model/model.h"
#include "recorder/agent/options/options.h"
#include "recorder/agent/recording_plan.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/part.h"
#include "recorder/writer/drain.h"

namespace heaprec::agent {

class ProgramRecording {
 public:
  // `program`: the file of the program that runs.
  static Result<std::unique_ptr<ProgramRecording>> Start(const Options& options, const std::string& program);

  // Ends it and waits (some seconds at most) until it is complete in the file.
  void Stop(const std::string& reason);
  // Until Resume by the same thread, the drain does not hold the loader's lock, which a child of fork would find held
  // for ever. Waits for the drain only for a moment: the thread that forks may hold what the drain waits for.
  void Pause();
  void Resume();
  // Whether it has ended, for instance after `duration`.
  bool is_over() const { return drain_->Wait(0); }
  std::string path() const { return drain_->path(); }

 private:
  ProgramRecording(Options options, const std::string& program);

  struct Beginning {
    ProgramRecording* recording;
    std::promise<Status> outcome;
  };

  // The drain's thread. With its own descriptors it builds the rest, and it stays until the recording has ended.
  static void Enter(void* beginning);
  Status Begin();  // throws nothing
  Status Build();
  void OnTick(uint64_t now_ns);

  const Options options_;
  const std::string program_;
  RecordingPlan plan_;
  std::unique_ptr<buffer::Ring> ring_;
  sources::Parts parts_;
  std::unique_ptr<writer::Drain> drain_;
  std::timed_mutex looking_;             // held while the drain reads the loader's list
  std::atomic<pthread_t> paused_by_{0};  // the thread that holds it, if it is not the drain
  bool holds_patching_ = false;          // the thread of paused_by_ does
};

}  // namespace heaprec::agent
