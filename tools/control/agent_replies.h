// A private folder in the /tmp of a process, in which agents leave their answers.
//
// Threads:  one.
// Failure:  Make: an Error with the reason.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/bytes/result.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/descriptor.h"

namespace heaprec::tools {

// What comes back when a JVM is asked to load the agent: the JVM's reply, and the agent's own answer.
//
// Both come from a process that may be anyone's: any bytes are taken.
// Format:   docs/guide/first-recording.md#how-attaching-works
struct AgentReply {
  bool ok = false;
  std::string sentence;
  bool is_unwritten = false;  // ok, but some of the recording could not be written
};

// "ok", "error" or "unwritten", and a sentence; nullopt: not written to its end.
std::optional<AgentReply> ParseAnswer(const std::string& text);

// The JVM's reply where no agent has answered: "0\n" and "return code: 0\n" where all went well. The Error is why not.
format::Result<AgentReply> JudgeReply(const std::string& reply);

class AgentReplies {
 public:
  // `tmp`: the process's /tmp.
  static format::Result<std::unique_ptr<AgentReplies>> Make(const Process& process, const Descriptor& tmp);

  // The agent option that has each agent leave its answer under its pid.
  std::string option() const { return "answer=" + folder_->path() + "/%p"; }
  std::vector<AgentReply> Read() const;

 private:
  explicit AgentReplies(std::unique_ptr<PrivateFolder> folder) : folder_(std::move(folder)) {}
  const std::unique_ptr<PrivateFolder> folder_;
};

}  // namespace heaprec::tools
