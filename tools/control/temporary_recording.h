// A recording in a running JVM, in a private folder of the JVM's own files.
//
// Units:    timeouts in ms.
// Failure:  an error message for the user; nothing is recorded.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/control/attach.h"
#include "tools/control/java_process.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// Contains the recording until it is complete and can be copied.
class RecordingRelay {
 public:
  static Result<std::unique_ptr<RecordingRelay>> Make(const Process& process);

  std::string path() const { return folder_->path() + "/" + kName; }  // path inside the process' files
  // Waits until the process writes no file in the folder, or has ended: true. Returns false if `is_over` returned true.
  template <typename IsOver>
  bool Wait(const IsOver& is_over) const {
    bool was_written = false;
    for (int idle = 0; idle < kIdlePolls;) {
      if (is_over()) return false;
      const bool is_written = IsWritten() || (!was_written && IsWaiting());
      was_written = was_written || is_written;
      idle = is_written ? 0 : idle + 1;
      Pause();
    }
    return true;
  }
  // Opens the recording for reading, if it exists; if it rotates, its first file.
  Descriptor Recording() const { return folder_->Open(kName); }
  // Returns the names of the recording's files in the folder, in the order in which the agent writes them.
  std::vector<std::string> Files() const;
  const PrivateFolder& folder() const { return *folder_; }
  // Makes the agent record into this folder. Copies an options file, because the agent may be unable to read ours.
  Status Redirect(AgentOptions* agent) const;
  // Does not remove the recording.
  void Keep() { folder_->Keep(); }

 private:
  static constexpr const char* kName = "rec.hrec";
  static constexpr int kIdlePolls = 3;  // between two files of one recording there may be none

  RecordingRelay(ProcessHandle handle, pid_t pid, std::unique_ptr<PrivateFolder> folder)
      : handle_(std::move(handle)), pid_(pid), folder_(std::move(folder)) {}
  bool IsWritten() const;
  bool IsWaiting() const;
  static void Pause();

  const ProcessHandle handle_;
  const pid_t pid_;
  const std::unique_ptr<PrivateFolder> folder_;
};

// The agent's path inside the JVM's files: one that it has loaded, ours, or a copy in a folder that must stay until the
// JVM has loaded it.
struct PlacedAgent {
  std::string path;
  std::unique_ptr<PrivateFolder> folder;
};
// `asked_for`: value of --lib; empty: see FindAgent.
Result<PlacedAgent> PlaceAgent(const Process& process, const std::string& asked_for);

// Ends the recording of a JVM like `heaprec stop`. Succeeds if it has already ended.
Status StopRecording(const JavaProcess& java, int timeout_ms);

// A recording that is started here, read while it grows, ended here, and then removed unless it is kept. The agent
// stays loaded, but idle, as after `heaprec stop`.
class TemporaryRecording {
 public:
  // `options`: their output is ignored.
  static Result<std::unique_ptr<TemporaryRecording>> Start(const JavaProcess& java, AgentOptions options,
                                                           int timeout_ms);
  ~TemporaryRecording();
  TemporaryRecording(const TemporaryRecording&) = delete;
  TemporaryRecording& operator=(const TemporaryRecording&) = delete;

  // Opens its current state from the beginning.
  Result<std::unique_ptr<Recording>> Open() const;
  // Waits until the file is complete. Further calls do nothing.
  Status Stop();
  const RecordingRelay& relay() const { return *relay_; }

 private:
  TemporaryRecording(const JavaProcess& java, std::unique_ptr<RecordingRelay> relay, int timeout_ms)
      : java_(java), relay_(std::move(relay)), timeout_ms_(timeout_ms) {}
  const JavaProcess java_;
  const std::unique_ptr<RecordingRelay> relay_;
  const int timeout_ms_;
  bool is_stopped_ = false;
};

}  // namespace heaprec::tools
