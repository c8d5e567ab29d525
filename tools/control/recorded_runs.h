// Runs of commands in turns, each recorded to a file of its own in one folder: a-1.hrec, b-1.hrec, ...
//
// Threads:  one.
// Failure:  says on stderr which run failed, and where its output is; returns the exit code for it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/control/agent_options.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct RunSide {
  char name;  // 'a' or 'b'
  std::vector<std::string> command;
  std::vector<std::string> recordings{};
  double seconds = 0;  // of its runs so far
  size_t runs = 0;
};

struct RecordedRuns {
  AgentOptions agent;
  std::string agent_file;                        // the agent
  size_t runs = 5;                               // of each side
  std::optional<std::chrono::seconds> duration;  // of a run; nullopt: until its command ends
  std::chrono::seconds grace{10};                // between SIGTERM and SIGKILL
  std::filesystem::path folder;
  std::vector<RunSide> sides;

  // `is_enough`: asked after each round but the last.
  ExitCode Run(const std::function<bool()>& is_enough);
};

}  // namespace heaprec::tools
