// What comes back when a JVM is asked to load the agent: the JVM's reply, and the agent's own answer.
//
// Both come from a process that may be anyone's: any bytes are taken.
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <optional>
#include <string>

#include "format/bytes/result.h"

namespace heaprec::tools {

struct AgentReply {
  bool ok = false;
  std::string sentence;
  bool is_unwritten = false;  // ok, but some of the recording could not be written
};

// "ok", "error" or "unwritten", and a sentence; nullopt: not written to its end.
std::optional<AgentReply> ParseAnswer(const std::string& text);

// The JVM's reply where no agent has answered: "0\n" and "return code: 0\n" where all went well. The Error is why not.
format::Result<AgentReply> JudgeReply(const std::string& reply);

}  // namespace heaprec::tools
