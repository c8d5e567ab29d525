// A recording in a running JVM, in a private folder of the JVM's own files: started here, read while it grows, ended
// here, and then gone unless it is kept. The agent stays loaded, but idle, as after `heaprec stop`.
//
// Units:    timeouts in ms.
// Threads:  one.
// Failure:  a sentence for the user; the JVM then records nothing for us.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "tools/control/agent_options.h"
#include "tools/control/attach.h"
#include "tools/control/java_process.h"
#include "tools/control/private_folder.h"
#include "tools/control/recording_relay.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// The agent as the JVM sees it: one that is in it already, ours, or a copy in a folder that must stay until the JVM has
// loaded it.
struct PlacedAgent {
  std::string path;
  std::unique_ptr<PrivateFolder> folder;
};
// `asked_for`: --lib; empty: FindAgent.
Result<PlacedAgent> PlaceAgent(const Process& process, const std::string& asked_for);

// Ends the recording of a JVM as `heaprec stop` does; one that has ended by itself, or with its JVM, is fine.
std::optional<Error> StopRecording(const JavaProcess& java, int timeout_ms);

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
  std::optional<Error> Stop();
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
