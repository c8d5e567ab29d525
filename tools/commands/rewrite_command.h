// What trim, merge, redact, recover and import have in common on the command line: a recording that they write, and a
// word of what is in it.
//
// Threads:  one.
// Failure:  says on stderr what is wrong.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/render/value.h"
#include "tools/text/exit_code.h"
#include "tools/text/output.h"

namespace heaprec::tools {

using Recordings = std::vector<std::unique_ptr<Recording>>;

struct WriteOptions {
  std::string output;
  bool force = false, json = false, quiet = false;

  void AddOutputTo(Command& command);
  // -f, --json and -q.
  void AddFlagsTo(Command& command);
  // Wrong usage if the recording and the JSON summary would both go to standard output.
  std::optional<ExitCode> Objection() const;
  // What was written: with --json on standard output, else on standard error. kCannotWrite: that failed.
  ExitCode Tell(const render::Object& summary, const std::string& sentence) const;
};

struct RewriteOptions : WriteOptions {
  std::vector<std::string> inputs;

  void AddTo(Command& command, bool several);
};

// What was written.
struct RewriteSummary {
  uint64_t recordings = 0, samples = 0;
};

// Opens all recordings of all inputs, lets `write` read and write them, and puts the output in place.
ExitCode Edit(const RewriteOptions& options,
              const std::function<format::Result<RewriteSummary>(const Recordings&, Output*)>& write);

}  // namespace heaprec::tools
