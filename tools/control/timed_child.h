// Runs a command that has only so much time: its output goes to a file, it is asked to end, and then made to.
//
// The command has a process group of its own, so that what it starts ends with it.
//
// Threads:  one.
// Failure:  TimedResult::error; then the command has not run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace heaprec::tools {

struct TimedRun {
  std::vector<std::string> command;
  std::vector<std::string> environment;          // "NAME=value", beside what we have
  std::string log;                               // for its output and errors; overwritten
  std::optional<std::chrono::seconds> duration;  // none: until it ends by itself
  std::chrono::seconds grace{10};                // after SIGTERM, before SIGKILL
};

struct TimedResult {
  std::string error;                           // why it could not be started
  int code = 0;                                // its exit code, or 128 + the signal that ended it
  bool was_ended = false, was_killed = false;  // by SIGTERM after its duration; by SIGKILL after its grace
  bool is_interrupted = false;                 // we were told to end, and ended it
  double seconds = 0;
};

TimedResult RunTimed(const TimedRun& run);

}  // namespace heaprec::tools
