// A private folder among the files of a process, in which agents leave their answers.
//
// Threads:  one.
// Failure:  Make: an Error with the reason.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/option_text.h"
#include "base/result.h"
#include "tools/control/attach_reply.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

class AgentReplies {
 public:
  explicit AgentReplies(std::unique_ptr<PrivateFolder> folder) : folder_(std::move(folder)) {}
  // `tmp`: the process's /tmp.
  static Result<std::unique_ptr<AgentReplies>> Make(const Process& process, const Descriptor& tmp);

  // The agent option that makes each agent write its reply to a file named after its PID.
  std::string option() const { return "reply=" + Escaped(folder_->path()) + "/%p"; }
  std::vector<AgentReply> Read() const;

 private:
  const std::unique_ptr<PrivateFolder> folder_;
};

}  // namespace heaprec::tools
