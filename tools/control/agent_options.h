// The options of the commands that start a recording, and the agent's options they stand for.
//
// Failure:  a sentence for the user; his mistake, so exit code 2.
#pragma once

#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/options/command.h"

namespace heaprec::tools {

// As given on the command line.
struct AgentOptions {
  std::string output = "heaprec-%p.hrec", rate, duration, delay, max_samples, settings, service, file, agent_file;
  std::vector<std::string> more;  // key=value

  void AddTo(Command& command);
  // "file=/x/rec.bin,rate=20". Paths are made absolute here, unless `as_they_are`: those of another root.
  format::Result<std::string> Text(bool as_they_are) const;
};

// libheaprec.so: what --lib says, $HEAPREC_LIB, or next to this program where a build or an installation has it.
format::Result<std::string> FindAgent(const std::string& asked_for);
// heaprec.jar, of applications: --jar, $HEAPREC_JAR, or likewise.
format::Result<std::string> FindJar(const std::string& asked_for);

}  // namespace heaprec::tools
