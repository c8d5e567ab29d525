// What the command says when it fails: a line on stderr and an exit code.
#pragma once

#include <string_view>

namespace heaprec::tools {

// What the command's exit codes mean; docs/reference/commands.md lists them for users.
enum class ExitCode : int {
  kOk = 0,  // throttling, counted losses, salvage from the ring and a recording still running are ok
  kCheckFailed = 1,
  kUsage = 2,
  kUnreadable = 3,    // no such file, or not a recording
  kDamaged = 4,       // all that could be decoded was shown, but damaged bytes were skipped
  kCannotAttach = 5,  // no such JVM, or it refused
  kCannotWrite = 6,   // the output exists, or could not be written; a closed pipe is kOk
};

// One line on stderr, "heaprec: what and where". What is not UTF-8 in it, a path or a name, is replaced.
void PrintError(std::string_view sentence);

// The same; returns `code`, as the last words of a command.
ExitCode Fail(ExitCode code, std::string_view sentence);

}  // namespace heaprec::tools
