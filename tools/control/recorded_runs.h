// Runs commands in turns, and records each run to a separate file in one folder: a-1.hrec, b-1.hrec, ...
//
// Failure:  Run reports on stderr which run failed, and where its output is, and returns its exit code.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

struct RunSide {
  char name;  // 'a' or 'b'
  std::vector<std::string> command;
  std::vector<std::string> recordings{};
  double seconds = 0;  // total of its runs so far
  size_t runs = 0;
};

// As given on the command line.
struct RunOptions {
  AgentOptions agent;
  size_t runs = 5;
  std::optional<uint64_t> duration_ns;
  uint64_t grace_ns = 10'000'000'000;
  std::string folder, baseline;
  std::vector<std::string> words;  // COMMAND_A -- COMMAND_B
};

struct RecordedRuns {
  AgentOptions agent;
  std::string agent_file;
  size_t runs = 5;                                   // of each side
  std::optional<std::chrono::nanoseconds> duration;  // of a run; nullopt: until its command ends
  std::chrono::nanoseconds grace{};                  // between SIGTERM and SIGKILL
  std::filesystem::path folder;
  std::vector<RunSide> sides;
  std::vector<std::string> baseline;  // recordings of side A, if it is not run

  // Creates the folder. The Error is a message for the user.
  static Result<RecordedRuns> Prepare(const RunOptions& options);
  // `is_enough`: called after each round except the last.
  ExitCode Run(const std::function<bool()>& is_enough);

  const std::vector<std::string>& before() const { return baseline.empty() ? sides.front().recordings : baseline; }
  const std::vector<std::string>& after() const { return sides.back().recordings; }
  bool compares() const { return sides.size() == 2 || !baseline.empty(); }
};

}  // namespace heaprec::tools
