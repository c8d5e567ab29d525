// Loads the agent into a running JVM by HotSpot's attach protocol: SIGQUIT, then a socket in the JVM's /tmp.
//
// Units:    the timeout in ms, for the JVM to open its socket, and again for its reply.
// Failure:  an error message for the user with the pid and the reason. The JVM is unchanged.
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/option_text.h"
#include "base/result.h"
#include "tools/control/java_process.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

// The two replies to a request to load the agent: the JVM's and the agent's.
//
// Both come from a process that may belong to another user, so any bytes are accepted.
//
// Format:   docs/guide/first-recording.md#how-attaching-works

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

struct AttachRequest {
  std::string agent;    // absolute path of libheaprec.so in the JVM's files
  std::string options;  // options of the agent: "start,rate=20"
  int timeout_ms = 10'000;
};

// Returns the agent's reply ("recording /tmp/rec.bin"). From then on the agent is in the JVM.
Result<AgentReply> Attach(const JavaProcess& java, const AttachRequest& request);

// Has the agent of a recording count the TLABs in use, and search for paths.
Result<AgentReply> AskToFlush(const JavaProcess& java);

// Returns the path of the agent for this JVM: of the agent that it has loaded, or `ours` if it can open that path.
Result<std::string> AgentFor(const Process& process, const std::string& ours);

}  // namespace heaprec::tools
