// Exit codes of the command; docs/reference/commands.md lists them for users.
#pragma once

namespace heaprec::tools {

enum class ExitCode : int {
  kOk = 0,  // also with throttling, counted losses, salvage from the ring, or a recording that is still running
  kCheckFailed = 1,
  kUsage = 2,
  kUnreadable = 3,    // no such file, or not a recording
  kDamaged = 4,       // everything that could be decoded was shown, but damaged bytes were skipped
  kCannotAttach = 5,  // no such JVM, or it refused
  kCannotWrite = 6,   // the output exists, or could not be written; a closed pipe is kOk
};

}  // namespace heaprec::tools
