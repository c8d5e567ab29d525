// A private folder in the /tmp of a process, in which agents leave their answers.
//
// The folder is 0700 and belongs to the process's user; an agent creates its file with O_EXCL, and only plain files
// are read. What is in it is removed with it.
//
// Threads:  one.
// Failure:  Make: an Error with the reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/result.h"
#include "tools/control/process.h"
#include "tools/control/replies.h"

namespace heaprec::tools {

class Answers {
 public:
  static format::Result<std::unique_ptr<Answers>> Make(const Process& process);
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  // The agent option that has each agent leave its answer under its pid.
  std::string option() const { return "answer=" + inner_path_ + "/%p"; }
  std::vector<Answer> Read() const;

 private:
  Answers(std::string path, std::string inner_path) : path_(std::move(path)), inner_path_(std::move(inner_path)) {}
  const std::string path_, inner_path_;
  int folder_ = -1;
};

}  // namespace heaprec::tools
