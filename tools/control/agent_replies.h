// The two replies to a request to load the agent: the JVM's and the agent's.
//
// Both come from a process that may belong to another user, so any bytes are accepted.
//
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/option_text.h"
#include "base/result.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

struct AgentReply {
  bool ok = false;
  std::string sentence;
  bool is_unwritten = false;  // succeeded, but a part of the recording could not be written
  bool is_starting = false;   // failed: the JVM does not accept agents yet
};

// Parses "ok", "error", "unwritten" or "starting", and a sentence, which may contain line feeds; nullopt: no complete
// line.
std::optional<AgentReply> ParseAnswer(const std::string& text);

// Parses the JVM's reply, for use if the agent has not replied. Success is "0" or "return code: 0", with a line feed.
// Otherwise returns the reason as an error.
Result<AgentReply> ParseJvmReply(const std::string& reply);

// A private folder in the file system of a process (its mount namespace), where agents write their replies.
class AgentReplies {
 public:
  explicit AgentReplies(std::unique_ptr<PrivateFolder> folder) : folder_(std::move(folder)) {}
  // `tmp`: /tmp of the process.
  static Result<std::unique_ptr<AgentReplies>> Make(const Process& process, const Descriptor& tmp);

  // The agent option that makes each agent write its reply to a file named after its PID.
  std::string option() const { return "reply=" + Escaped(folder_->path()) + "/%p"; }
  std::vector<AgentReply> Read() const;

 private:
  const std::unique_ptr<PrivateFolder> folder_;
};

}  // namespace heaprec::tools
