// Runs a command as if it had been started in our place: same terminal, same signals, its exit code.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace heaprec::tools {

struct ChildResult {
  std::string error;  // why it could not be started
  int code = 0;       // its exit code, 128 + the signal that ended it, or 127 or 126 if it could not be started
  pid_t pid = 0;
};

// `environment`: "NAME=value", beside what we have. Other children of this process are reaped.
ChildResult RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment);

// Where a command is found: itself if it holds a slash, else in $PATH; empty if nowhere.
std::string FindInPath(const std::string& name);

// Runs a command that has only so much time: its output goes to a file, it is asked to end, and then made to.
//
// The command has a process group of its own, so that what it starts ends with it.
//
// Failure:  TimedResult::error; then the command has not run.
struct TimedRun {
  std::vector<std::string> command;
  std::vector<std::string> environment;                       // "NAME=value", beside what we have
  std::string log;                                            // for its output and errors; overwritten
  std::optional<std::chrono::nanoseconds> duration;           // none: until it ends by itself
  std::chrono::nanoseconds grace = std::chrono::seconds(10);  // after SIGTERM, before SIGKILL
};

struct TimedResult : ChildResult {
  bool was_ended = false, was_killed = false;  // by SIGTERM after its duration; by SIGKILL after its grace
  bool is_interrupted = false;                 // we were told to end, and ended it
  double seconds = 0;
};

TimedResult RunTimed(const TimedRun& run);

}  // namespace heaprec::tools
