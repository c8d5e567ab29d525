// Loads the agent into a running JVM by HotSpot's attach protocol: SIGQUIT, then a socket in the JVM's /tmp.
//
// Units:    the timeout in ms, for the JVM to open its socket, and again for its reply.
// Failure:  an error message for the user with the pid and the reason. The JVM is unchanged.
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <string>

#include "base/result.h"
#include "tools/control/agent_replies.h"
#include "tools/control/java_process.h"

namespace heaprec::tools {

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
