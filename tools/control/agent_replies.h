// A private folder in the /tmp of a process, in which agents leave their answers.
//
// The folder is 0700 and created as the process's user, in the /tmp that was opened once: whatever that user, or its
// container, puts there meanwhile, nothing else is touched. An agent creates its file with O_EXCL, and only plain files
// and the targets of links are read. What is in it is removed with it.
//
// Threads:  one.
// Failure:  Make: an Error with the reason.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/result.h"
#include "tools/control/attach_reply.h"
#include "tools/control/process.h"
#include "tools/input/descriptor.h"

namespace heaprec::tools {

class Answers {
 public:
  // `tmp`: the process's /tmp, open as long as the answers live.
  static format::Result<std::unique_ptr<Answers>> Make(const Process& process, const Descriptor& tmp);
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  // The agent option that has each agent leave its answer under its pid.
  std::string option() const { return "answer=/tmp/" + name_ + "/%p"; }
  std::vector<Answer> Read() const;

 private:
  Answers(const Process& process, const Descriptor& tmp, std::string name)
      : user_(process.uid), group_(process.gid), tmp_(tmp), name_(std::move(name)) {}
  const uid_t user_;
  const gid_t group_;
  const Descriptor& tmp_;
  const std::string name_;  // of the folder
  Descriptor folder_;
};

}  // namespace heaprec::tools
