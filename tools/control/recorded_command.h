// Runs a command so that its JVM, all JVMs that it starts, or its native memory is recorded.
//
// Failure:  Prepare returns the message for the user. Run reports the recordings on stderr.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/control/attach.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

// How to start a program, with or without a JVM, so that its native memory is counted exactly (libheaprec-native.so
// replaces malloc) or sampled (libheaprec.so).
struct NativePreload {
  std::vector<std::string> environment;  // NAME=value
  std::string table;                     // path of the table; %p is the process id

  // Returns the path of the table of a process, running or not; empty: none.
  std::string TableOf(uint32_t pid) const;
};

inline constexpr char kExact[] = "exact", kSampled[] = "sampled";

// As given on the command line.
struct RecordOptions {
  AgentOptions agent;
  std::string native;  // kExact, kSampled, or empty
  bool child_jvms = false, quiet = false;
  std::vector<std::string> command;
};

class RecordedCommand {
 public:
  static Result<RecordedCommand> Prepare(const RecordOptions& options);
  // Returns the command's exit code. If that is 0: kCannotWrite if the agent refused or could not write a part of a
  // recording.
  ExitCode Run() const;

 private:
  explicit RecordedCommand(const RecordOptions& options) : options_(options) {}
  // `text`: the agent's options. `path`: where the command was found; empty: not found.
  Status PrepareProgram(const std::string& library, const std::string& text, const std::string& path);
  Status PrepareJvm(const std::string& library, const std::string& text, const std::string& path);
  std::string WithReplies(const std::string& text);
  void Report(const std::string& sentence) const;
  ExitCode ReportTable(uint32_t pid) const;
  ExitCode ReportRecordings() const;

  RecordOptions options_;  // after Prepare, the command includes the agent
  std::vector<std::string> environment_;
  NativePreload native_;
  bool is_counted_ = false;                // exact counting of a program without a JVM: there is no agent
  std::shared_ptr<AgentReplies> replies_;  // null: there is no folder for them, so recordings are not reported
  std::string none_;                       // message if no agent has replied
};

}  // namespace heaprec::tools
