// A recording in a running JVM, in a private folder of the JVM's own files.
//
// Units:    timeouts in ms.
// Failure:  a sentence for the user; the JVM then records nothing for us.
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

// Holds the recording until it is complete and can be copied out.
class RecordingRelay {
 public:
  static Result<std::unique_ptr<RecordingRelay>> Make(const Process& process);

  std::string path() const { return folder_->path() + "/" + kName; }  // as the process sees it
  // Until the process writes no file in the folder any more, or has ended: true. False: `is_over` said so.
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
  // Opens the recording for reading, if there is one; of a recording that rotates the first file.
  Descriptor Recording() const { return folder_->Open(kName); }
  // The names of the recording's files in the folder, in the order in which the agent writes them.
  std::vector<std::string> Files() const;
  const PrivateFolder& folder() const { return *folder_; }
  // Has the agent record here. Of a file with options it gets a copy: it may be unable to read ours.
  Status Redirect(AgentOptions* agent) const;
  // Leaves the recording where it is.
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

// The agent as the JVM sees it: one that is in it already, ours, or a copy in a folder that must stay until the JVM has
// loaded it.
struct PlacedAgent {
  std::string path;
  std::unique_ptr<PrivateFolder> folder;
};
// `asked_for`: --lib; empty: FindAgent.
Result<PlacedAgent> PlaceAgent(const Process& process, const std::string& asked_for);

// Ends the recording of a JVM as `heaprec stop` does; one that has ended by itself, or with its JVM, is fine.
Status StopRecording(const JavaProcess& java, int timeout_ms);

// Started here, read while it grows, ended here, and then gone unless it is kept. The agent stays loaded, but idle, as
// after `heaprec stop`.
class TemporaryRecording {
 public:
  // `options`: their output is not used.
  static Result<std::unique_ptr<TemporaryRecording>> Start(const JavaProcess& java, AgentOptions options,
                                                           int timeout_ms);
  ~TemporaryRecording();
  TemporaryRecording(const TemporaryRecording&) = delete;
  TemporaryRecording& operator=(const TemporaryRecording&) = delete;

  // As it is now, from its start.
  Result<std::unique_ptr<Recording>> Open() const;
  // Waits until the file is complete. Only the first call does anything.
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
