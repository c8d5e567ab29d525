// The output of a recording that attach starts. If possible, the JVM writes to the requested path. If it cannot, or
// attach waits for the end anyway, it writes into a private folder of its own files, from which Bring copies the
// recording after its end. Files that could not be copied stay there.
//
// Failure:  Choose: a message for the user, with the exit code. Bring reports on stderr what failed, and where the
//           recording is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/control/java_process.h"
#include "tools/control/temporary_recording.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {

struct OutputFailure {
  ExitCode code;
  std::string sentence;
};

class RecordingOutput {
 public:
  // `is_inside`: the path is one of the JVM's files. `is_awaited`: attach waits for the recording, and needs it here.
  // Call it once, before all others.
  std::optional<OutputFailure> Choose(const Process& process, AgentOptions agent, bool is_inside, bool is_awaited);

  const std::string& agent_text() const { return agent_text_; }  // the agent's options
  bool is_relayed() const { return relay_ != nullptr; }
  // Returns the absolute path of the next file of a relayed recording.
  std::string path() const;
  // The copied files: more than one if the recording rotates.
  const std::vector<std::string>& brought() const { return brought_; }
  // Returns "recorded /home/me/rec.hrec". Precondition: Bring returned kOk.
  std::string Sentence() const;
  // Waits until the recording has ended, which happens at once if IsInterrupted(), and copies it to its path; each file
  // after the first to the next free name. `counts_down`: on a terminal, with a line that shows the remaining time.
  ExitCode Bring(const JavaProcess& java, int timeout_ms, bool counts_down);

 private:
  ExitCode BringFiles();
  ExitCode BringFile(const std::string& name);
  Status Commit();
  std::optional<OutputFailure> Relay(const Process& process, AgentOptions* agent);

  pid_t pid_ = 0;
  std::string agent_text_, pattern_, path_;
  std::vector<std::string> brought_;
  double seconds_ = 0;  // requested duration; 0: unknown
  std::unique_ptr<RecordingRelay> relay_;
  std::unique_ptr<OutputFile> file_;  // at path_, until it is complete
};

}  // namespace heaprec::tools
