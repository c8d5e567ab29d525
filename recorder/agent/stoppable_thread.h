// A thread of ours that goes on until it is told to stop.
//
// Context:  Start: setup. Stop, TryJoin: any but the thread itself. Rest: the thread.
// Failure:  Start: an Error when the thread cannot be created.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <variant>

#include "format/bytes/result.h"

namespace heaprec::agent {

class StoppableThread {
 public:
  // `body` returns when Rest says so, or throws: then it has ended, too. `name`: at most 15 characters.
  StoppableThread(const char* name, std::function<void()> body) : name_(name), body_(std::move(body)) {}
  // Waits: whatever `body` uses is declared before.
  ~StoppableThread();
  StoppableThread(const StoppableThread&) = delete;
  StoppableThread& operator=(const StoppableThread&) = delete;

  format::Result<std::monostate> Start();
  // Returns when `body` has ended. One that the JVM or the kernel holds up is not waited for longer than 2 s.
  void Stop();
  // The thread has ended, or was never there.
  bool TryJoin();
  // Sleeps so long. True, and at once: it is to stop.
  bool SleepOrStop(std::chrono::milliseconds time);

 private:
  void Finish();

  const char* const name_;
  const std::function<void()> body_;
  pthread_t thread_{};
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_requested_ = false, finished_ = false;
};

}  // namespace heaprec::agent
