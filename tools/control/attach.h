// Loads the agent into a running JVM, by HotSpot's protocol of attaching: SIGQUIT, then a socket in the JVM's /tmp.
//
// Units:    the timeout in ms: for the JVM to open its socket, and again for it to answer.
// Failure:  a sentence for the user that names the pid and the reason. The JVM is then as it was.
// Format:   docs/guide/first-recording.md#how-attaching-works
#pragma once

#include <string>

#include "base/result.h"
#include "tools/control/agent_replies.h"
#include "tools/control/java_process.h"

namespace heaprec::tools {

struct AttachRequest {
  std::string agent;    // absolute path of libheaprec.so, as the JVM sees it
  std::string options;  // the agent's: "start,rate=20"
  int timeout_ms = 10'000;
};

// What the agent had to say ("recording /tmp/rec.bin"). The agent is in the JVM from then on.
Result<AgentReply> Attach(const JavaProcess& java, const AttachRequest& request);

// The path of the agent to use for this JVM: of the agent that it has loaded, or `ours` if it can open that path.
Result<std::string> AgentFor(const Process& process, const std::string& ours);

}  // namespace heaprec::tools
