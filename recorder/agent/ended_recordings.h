// Keeps recordings that have ended, until no thread can be inside them.
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

// Whether every thread has left sources that are no longer active: hooks, after a safepoint, and callbacks, for which
// it waits a few milliseconds.
bool NoThreadInside(jvmtiEnv* jvmti);

class EndedRecordings {
 public:
  EndedRecordings();
  ~EndedRecordings();
  EndedRecordings(const EndedRecordings&) = delete;
  EndedRecordings& operator=(const EndedRecordings&) = delete;

  // If it throws, `recording` is still the caller's or is kept here: it is never destroyed.
  void Add(std::unique_ptr<Recording>&& recording);
  std::unique_ptr<Recording> TakeLast();
  // For all that are kept: no source of theirs is active, and the drain has ended or never began.
  void Free(jvmtiEnv* jvmti);

 private:
  std::vector<std::unique_ptr<Recording>> recordings_;
};

}  // namespace heaprec::agent
