// Where temporary files are, and a folder there that is removed with its content.
//
// Failure:  Make returns the sentence for the user.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace heaprec::tools {

// "$TMPDIR/heaprec-XXXXXX", for mkstemp and its like; without the variable in /tmp.
std::string TemporaryPattern();

class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> Make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace heaprec::tools
