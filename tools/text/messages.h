// The exit codes of the command, and its messages: one line on stderr, "heaprec: what and where".
#pragma once

#include <string_view>

namespace heaprec::tools {

// docs/guide/trust.md#exit-codes lists them for users.

enum class ExitCode : int {
  kOk = 0,  // also with throttling, counted losses, salvage from the ring, or a recording that is still running
  kCheckFailed = 1,
  kUsage = 2,
  kUnreadable = 3,    // no such file, or not a recording
  kDamaged = 4,       // everything that could be decoded was shown, but damaged bytes were skipped
  kCannotAttach = 5,  // no such JVM, or it refused
  kCannotWrite = 6,   // the output exists, or could not be written; a closed pipe is kOk
};

// Replaces invalid UTF-8 in it, for instance in a path.
void PrintError(std::string_view sentence);

// The same; returns `code`, for use in a return statement.
ExitCode Fail(ExitCode code, std::string_view sentence);

}  // namespace heaprec::tools
