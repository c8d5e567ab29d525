// Where a recording that attach starts goes: the JVM writes to the place that was asked for; where it cannot, or we
// wait for the end anyway, it writes into a private folder of its own files, from which we bring the recording once it
// has ended. What was not brought stays there.
//
// Failure:  Choose: a sentence for the user, with the exit code. Bring says on stderr what failed, and where the
//           recording is then.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/control/java_process.h"
#include "tools/control/temporary_recording.h"
#include "tools/text/exit_code.h"
#include "tools/text/output.h"

namespace heaprec::tools {

struct OutputFailure {
  ExitCode code;
  std::string sentence;
};

class RecordingOutput {
 public:
  // `is_inside`: the place is a path of the JVM's. `is_awaited`: we wait for the recording, and need it here.
  // Call it once, before everything else.
  std::optional<OutputFailure> Choose(const Process& process, AgentOptions agent, bool is_inside, bool is_awaited);

  const std::string& agent_text() const { return agent_text_; }  // the agent's options
  bool is_relayed() const { return relay_ != nullptr; }
  // Returns the absolute path of the next file of a relayed recording.
  std::string path() const;
  // The files that have been brought: more than one if it rotates.
  const std::vector<std::string>& brought() const { return brought_; }
  // Returns "recorded /home/me/rec.hrec". Precondition: Bring returned kOk.
  std::string Sentence() const;
  // Waits until the recording has ended, which it does at once if IsInterrupted(), and copies it to its place; each
  // file after the first to the next free name. `counts_down`: on a terminal, with a line that says how long it goes
  // on.
  ExitCode Bring(const JavaProcess& java, int timeout_ms, bool counts_down);

 private:
  ExitCode BringFiles();
  ExitCode BringFile(const std::string& name);
  Status Commit();
  std::optional<OutputFailure> Relay(const Process& process, AgentOptions* agent);

  pid_t pid_ = 0;
  std::string agent_text_, pattern_, path_;
  std::vector<std::string> brought_;
  double seconds_ = 0;  // that it is to last; 0: not known
  std::unique_ptr<RecordingRelay> relay_;
  std::unique_ptr<OutputFile> file_;  // at path_, while it is not complete
};

}  // namespace heaprec::tools
