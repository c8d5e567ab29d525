// A command that is started so that its JVM, all JVMs below it, or its native memory is recorded.
//
// Failure:  Prepare returns the message for the user. Run reports the recordings on stderr.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/control/agent_replies.h"
#include "tools/text/exit_code.h"

namespace heaprec::tools {

// How a program is started so that its native memory is counted exactly, with libheaprec-native.so in malloc's place,
// or sampled, with libheaprec.so in it: a JVM, or any other.
struct NativePreload {
  std::vector<std::string> environment;  // NAME=value
  std::string table;                     // where it will be; %p is the process id

  // Returns the table of a process, running or not; empty: it has none.
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
  // The command's exit code. If that is 0: kCannotWrite if the agent refused or could not write all of a recording.
  ExitCode Run() const;

 private:
  explicit RecordedCommand(const RecordOptions& options) : options_(options) {}
  // `text`: the agent's options. `path`: where the command was found; empty: nowhere.
  Status PrepareProgram(const std::string& library, const std::string& text, const std::string& path);
  Status PrepareJvm(const std::string& library, const std::string& text, const std::string& path);
  std::string WithReplies(const std::string& text);
  void Report(const std::string& sentence) const;
  ExitCode ReportTable(uint32_t pid) const;
  ExitCode ReportRecordings() const;

  RecordOptions options_;  // its command: with the agent, once prepared
  std::vector<std::string> environment_;
  NativePreload native_;
  bool is_counted_ = false;                // a program without a JVM, by libheaprec-native.so: there is no agent
  std::shared_ptr<AgentReplies> replies_;  // null: no folder for them, so recordings are not reported
  std::string none_;                       // the message if no agent has answered
};

}  // namespace heaprec::tools
