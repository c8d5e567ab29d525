// The options of the commands that start a recording, and the agent options that they set.
//
// Failure:  an error message for the user; the exit code is 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/options/command.h"

namespace heaprec::tools {

// As given on the command line.
struct AgentOptions {
  std::string output = "heaprec-%p.hrec", rate, max_samples, service, file, agent_file;
  std::vector<std::string> more;  // key=value
  std::optional<uint64_t> duration_ns, delay_ns;
  bool precise = false;

  void AddTo(Command& command);
  // "file=/x/rec.bin,rate=20". Makes paths absolute, unless `as_they_are`: those of another root.
  std::string Text(bool as_they_are) const;
};

// Fails like the agent with `text`, and suggests the intended option.
Status CheckAgentOptions(const std::string& text);

// Returns the argument with which a new JVM loads the agent.
Result<std::string> AgentArgument(const std::string& library, const std::string& text);

// Finds libheaprec.so: --lib, $HEAPREC_LIB, or next to this program in a build or an installation.
Result<std::string> FindAgent(const std::string& asked_for);
// Finds heaprec.jar for applications: --jar, $HEAPREC_JAR, or next to this program.
Result<std::string> FindJar(const std::string& asked_for);

}  // namespace heaprec::tools
