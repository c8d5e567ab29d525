// A recording of a program without a JVM, of native memory only. Assembles ring, stream and drain.
//
// Context:  Start: setup, while there is only one thread. Stop: any thread but the drain. Pause, Resume: around fork.
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
  // `program`: path of the running program.
  static Result<std::unique_ptr<ProgramRecording>> Start(const Options& options, const std::string& program);

  // Ends the recording and waits, some seconds at most, until it is complete in the file.
  void Stop(const std::string& reason);
  // Prevents the drain from holding the loader's lock until the same thread calls Resume: a forked child would find
  // that lock held forever. Waits for the drain only briefly, because the drain may wait for a lock of the forking
  // thread.
  void Pause();
  void Resume();
  // Whether the recording has ended, for instance after `duration`.
  bool is_over() const { return drain_->Wait(0); }
  std::string path() const { return drain_->path(); }

 private:
  ProgramRecording(Options options, const std::string& program);

  struct Beginning {
    ProgramRecording* recording;
    std::promise<Status> outcome;
  };

  // Runs on the drain's thread: builds the rest with its own descriptors, and stays until the recording has ended.
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
  std::timed_mutex looking_;             // held while the drain reads the loader's list of libraries
  std::atomic<pthread_t> paused_by_{0};  // the thread that holds it, if that is not the drain
  bool holds_patching_ = false;          // whether the thread of paused_by_ holds the patching lock
};

}  // namespace heaprec::agent
