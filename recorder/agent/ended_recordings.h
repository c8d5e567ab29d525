// Recordings that have ended, until no thread can be inside them any more.
//
// Context:  setup: live phase, an attached thread.
// Threads:  one at a time.
// Failure:  what cannot be freed yet stays until the next call.
#pragma once

#include <jvmti.h>

#include <memory>
#include <vector>

namespace heaprec::agent {

class Recording;

// Whether every thread has left what is active no longer: hooks, after a safepoint, and callbacks, which are waited for
// a few milliseconds.
bool NoThreadInside(jvmtiEnv* jvmti);

class EndedRecordings {
 public:
  EndedRecordings();
  ~EndedRecordings();
  EndedRecordings(const EndedRecordings&) = delete;
  EndedRecordings& operator=(const EndedRecordings&) = delete;

  // Whatever is thrown, `recording` is the caller's or here: never destroyed.
  void Add(std::unique_ptr<Recording>&& recording);
  std::unique_ptr<Recording> TakeLast();
  // Of all that are here no source is active, and the drain has ended or never began.
  void Free(jvmtiEnv* jvmti);

 private:
  std::vector<std::unique_ptr<Recording>> recordings_;
};

}  // namespace heaprec::agent
