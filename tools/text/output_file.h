// A file that appears under its name whole or not at all.
//
// It is written without a name (O_TMPFILE), or beside its final name where the file system cannot do that, and linked
// to its name by Commit. A pipe, a device or "-" (standard output) is written as it is.
//
// Failure:  Open and Commit return the sentence for the user; an existing file is replaced only with `overwrite`.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/text/exit_code.h"
#include "tools/text/output.h"

namespace heaprec::tools {

class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> Open(const std::string& path, bool overwrite);
  // Without Commit nothing is left behind.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }
  // Once everything is written.
  std::optional<Error> Commit();
  // Another final name on the same file system, before Commit or after it has failed.
  void SetPath(std::string path) { path_ = std::move(path); }
  // The same of what was appended to `output`: flushes, then commits. Nothing: it is there. Else the exit code: says on
  // stderr what failed, unless who read a pipe closed it.
  std::optional<ExitCode> Finish(Output* output);

 private:
  enum class Way { kDirect, kUnnamed, kBeside };
  OutputFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}
  std::optional<Error> OpenDirect();
  std::optional<Error> OpenNew();
  // Gives the unnamed file the name `to`; false with errno.
  bool Link(const std::string& to) const;
  bool Place();

  std::string path_;
  const bool overwrite_;
  Way way_ = Way::kDirect;
  int descriptor_ = -1;
  std::string beside_;  // the temporary name, while it exists
};

// A whole file. Says on stderr what failed.
ExitCode WriteFile(const std::string& path, bool overwrite, std::string_view text);

// Whether `output` is the same file as one of the inputs, under whatever name. The input "-" is standard input, which
// may be a file.
bool IsOneOf(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace heaprec::tools
