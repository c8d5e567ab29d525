// A thread of the agent that runs until Stop, and the scope in which a thread is attached to the JVM.
//
// Context:  Start: setup. Stop, TryJoin: any but the thread itself. SleepOrStop, AttachedScope: the thread.
// Failure:  Start returns an Error if the thread cannot be created.
#pragma once

#include <jni.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "base/result.h"

namespace heaprec::sources {

class StoppableThread {
 public:
  // `body` returns once SleepOrStop returns true. If it throws, it has also ended. `name`: at most 15 characters.
  StoppableThread(const char* name, std::function<void()> body) : name_(name), body_(std::move(body)) {}
  // Waits for `body`, so declare its data before this.
  ~StoppableThread();
  StoppableThread(const StoppableThread&) = delete;
  StoppableThread& operator=(const StoppableThread&) = delete;

  Status Start();
  // Returns when `body` has ended, or after 2 s if the JVM or the kernel blocks the thread.
  void Stop();
  // Whether the thread has ended, or was never started.
  bool TryJoin();
  // Sleeps for `time`. Returns true as soon as the thread must stop.
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

// Returns the calling thread's environment; null: it is not attached.
JNIEnv* EnvOf(JavaVM* vm);

// Attaches the calling native thread during its lifetime, unless it is attached already.
class AttachedScope {
 public:
  explicit AttachedScope(JavaVM* vm, const char* name = "heaprec-drain");
  ~AttachedScope();
  AttachedScope(const AttachedScope&) = delete;
  AttachedScope& operator=(const AttachedScope&) = delete;
  JNIEnv* jni() const { return jni_; }  // null: the JVM has refused to attach the thread

 private:
  JavaVM* vm_;
  JNIEnv* jni_;
  bool attached_here_ = false;
};

}  // namespace heaprec::sources
