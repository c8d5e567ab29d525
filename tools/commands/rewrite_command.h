// Common part of trim, merge, redact, recover and import: they write a recording and print a summary of it.
//
// Failure:  prints the reason on stderr.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/render/value.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {

struct WriteOptions {
  std::string output;
  bool force = false, json = false, quiet = false;

  void AddOutputTo(Command& command);
  // -f, --json and -q.
  void AddFlagsTo(Command& command);
  // Returns a usage error if both the recording and the JSON summary would go to standard output.
  std::optional<ExitCode> Objection() const;
  // Prints the summary: with --json on standard output, otherwise on standard error. Returns kCannotWrite on failure.
  ExitCode Tell(const render::Object& summary, const std::string& sentence) const;
};

struct RewriteOptions : WriteOptions {
  std::vector<std::string> inputs;

  void AddTo(Command& command, bool several);
};

// The result of writing.
struct RewriteSummary {
  uint64_t recordings = 0, samples = 0;
  std::string note;  // added to the summary; may be empty
};

// Opens all recordings of all inputs, calls `write`, which reads and writes them, and commits the output file.
ExitCode Edit(const RewriteOptions& options,
              const std::function<Result<RewriteSummary>(const Recordings&, Output*)>& write);

}  // namespace heaprec::tools
