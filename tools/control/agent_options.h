// The options of the commands that start a recording, and the agent's options they stand for.
//
// Failure:  a sentence for the user; his mistake, so exit code 2.
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
  // "file=/x/rec.bin,rate=20". Paths are made absolute here, unless `as_they_are`: those of another root.
  std::string Text(bool as_they_are) const;
};

// Fails as the agent would with `text`, and suggests the option that was meant.
Status CheckAgentOptions(const std::string& text);

// The argument that loads the agent into a JVM that starts.
Result<std::string> AgentArgument(const std::string& library, const std::string& text);

// libheaprec.so: what --lib says, $HEAPREC_LIB, or next to this program where a build or an installation has it.
Result<std::string> FindAgent(const std::string& asked_for);
// heaprec.jar, of applications: --jar, $HEAPREC_JAR, or likewise.
Result<std::string> FindJar(const std::string& asked_for);

}  // namespace heaprec::tools
