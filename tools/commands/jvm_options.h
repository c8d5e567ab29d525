// What attach and stop have in common: a JVM, and a word of what its agent said.
//
// Threads:  one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "tools/control/agent_replies.h"
#include "tools/options/command.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

struct JvmOptions {
  std::string jvm;
  uint64_t timeout_ns = 10'000'000'000;
  bool quiet = false, json = false;

  void AddTo(Command& command);
  int timeout_ms() const { return static_cast<int>(timeout_ns / 1'000'000); }
  ExitCode Tell(pid_t pid, const AgentReply& reply) const;
};

}  // namespace heaprec::tools
