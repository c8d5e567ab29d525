// Where a command writes: a descriptor or a file, in large pieces, and a temporary folder that is removed with its
// contents.
//
// Failure:  after a closed pipe or a failed write, failed() is true, and further text is dropped. status()
//           distinguishes the two.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

class Output {
 public:
  // Does not own the descriptor.
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  fmt::memory_buffer& text() { return text_; }
  void Append(std::string_view text) { text_.append(text.data(), text.data() + text.size()); }
  void Append(const std::vector<std::byte>& bytes) {
    Append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    Tick();
  }
  // Call after each event: writes if there is enough text.
  void Tick() {
    if (text_.size() >= kPiece) Flush();
  }
  void Flush();

  bool failed() const { return error_ != 0; }
  // Also kOk for a closed pipe, because its reader needs no more.
  ExitCode status() const;
  // Reports on stderr if writing to `name` has failed.
  ExitCode Report(const std::string& name) const;

 private:
  static constexpr size_t kPiece = 1 << 17;
  const int descriptor_;
  int error_ = 0;
  fmt::memory_buffer text_;
};

// A file that gets its name only when it is complete.
//
// It is written without a name (O_TMPFILE) or, if the file system cannot do that, under a temporary name; Commit gives
// it its final name. A pipe, a device or "-" (standard output) is written directly.
//
// Failure:  Open and Commit return an error message for the user; an existing file is replaced only with `overwrite`.
class OutputFile {
 public:
  static Result<std::unique_ptr<OutputFile>> Open(const std::string& path, bool overwrite);
  // Without Commit no file remains.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int descriptor() const { return descriptor_; }
  // Its text.
  Output& output() { return *output_; }
  // Call when everything is written and flushed.
  Status Commit();
  // Sets another final name on the same file system, before Commit or after it has failed.
  void SetPath(std::string path) { path_ = std::move(path); }
  // Flushes the output, then commits. Returns nullopt on success, otherwise the exit code; the reason is reported on
  // stderr, unless the reader of a pipe has closed it.
  std::optional<ExitCode> Finish();

 private:
  enum class Way { kDirect, kUnnamed, kBeside };
  OutputFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}
  Status OpenDirect();
  Status OpenNew();
  // Gives the unnamed file the name `to`; false with errno.
  bool Link(const std::string& to) const;
  bool Place();

  std::string path_;
  const bool overwrite_;
  Way way_ = Way::kDirect;
  int descriptor_ = -1;
  std::optional<Output> output_;  // since Open
  std::string beside_;            // the temporary name, while it exists
};

// Writes a whole file. Reports errors on stderr.
ExitCode WriteFile(const std::string& path, bool overwrite, std::string_view text);

// Whether `output` is the same file as one of the inputs, under any name. The input "-" is standard input, which may be
// a file.
bool IsOneOf(const std::string& output, const std::vector<std::string>& inputs);

// The location of temporary files, and a temporary folder that is removed with its contents.
//
// Failure:  Make returns an error message for the user.

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
