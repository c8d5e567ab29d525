// The location of temporary files, and a temporary folder that is removed with its contents.
//
// Failure:  Make returns an error message for the user.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace heaprec::tools {

// Returns "$TMPDIR/heaprec-XXXXXX" for mkstemp and similar functions; without the variable in /tmp.
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
