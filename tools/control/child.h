// Runs a command as if it had been started instead of heaprec: same terminal, same signals, its exit code.
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

// `environment`: "NAME=value", in addition to this process' variables. Reaps other children of this process.
ChildResult RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment);

// Returns the path of a command: itself if it contains a slash, otherwise from $PATH; empty if not found.
std::string FindInPath(const std::string& name);

// Runs a command with a time limit: its output goes to a file, it gets SIGTERM, and then SIGKILL.
//
// The command has its own process group, so that processes that it starts end with it.
//
// Failure:  TimedResult::error; then the command has not run.
struct TimedRun {
  std::vector<std::string> command;
  std::vector<std::string> environment;                       // "NAME=value", in addition to this process' variables
  std::string log;                                            // file for its output and errors; overwritten
  std::optional<std::chrono::nanoseconds> duration;           // nullopt: until it ends by itself
  std::chrono::nanoseconds grace = std::chrono::seconds(10);  // after SIGTERM, before SIGKILL
};

struct TimedResult : ChildResult {
  bool was_ended = false, was_killed = false;  // by SIGTERM after its duration; by SIGKILL after its grace
  bool is_interrupted = false;                 // this process got a signal, and ended the command
  double seconds = 0;
};

TimedResult RunTimed(const TimedRun& run);

}  // namespace heaprec::tools
