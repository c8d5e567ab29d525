#include "tools/control/temporary_recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "tools/control/staging.h"
#include "tools/control/written_recording.h"

namespace heaprec::tools {
namespace {

bool IsOwnProcess(const Process& process) { return process.same_files && process.uid == geteuid(); }

}  // namespace

// The JVM's user may be unable to read our files, and see none of them in a container.
Result<PlacedAgent> PlaceAgent(const Process& process, const std::string& asked_for) {
  PlacedAgent placed;
  const bool is_theirs = !process.same_files && !asked_for.empty();  // a path in the container
  std::string ours = asked_for;
  if (process.agent.empty() && !is_theirs) {
    if (const auto why = WhyNoAgent(process)) return Error{fmt::format("PID {}: {}", process.pid, *why)};
    auto found = FindAgent(asked_for);
    if (!found.ok()) return found.error();
    ours = *found;
    if (!IsOwnProcess(process) && (!process.same_files || !CanRead(process, ours))) {
      auto staged = StageAgent(process, ours);
      if (!staged.ok()) return staged.error();
      placed.folder = std::move(*staged);
      ours = placed.folder->path() + "/libheaprec.so";
    }
  }
  auto agent = AgentFor(process, ours);
  if (!agent.ok()) return agent.error();
  placed.path = *agent;
  return placed;
}

std::optional<Error> StopRecording(const JavaProcess& java, int timeout_ms) {
  auto process = LookAt(java.process.pid);
  if (!process.ok()) return std::nullopt;  // it has ended, and the recording with it
  JavaProcess now = java;
  now.process = *process;
  auto agent = AgentFor(now.process, "");
  if (!agent.ok()) return agent.error();
  const auto answer = Attach(now, {*agent, "stop", timeout_ms});
  return answer.ok() ? std::nullopt : std::optional(answer.error());
}

Result<std::unique_ptr<TemporaryRecording>> TemporaryRecording::Start(const JavaProcess& java, AgentOptions options,
                                                                      int timeout_ms) {
  auto relay = RecordingRelay::Make(java.process);
  if (!relay.ok()) return relay.error();
  options.output = (*relay)->path();
  if (!options.file.empty()) {
    if (const auto error = StageFile((*relay)->folder(), options.file, "options")) return *error;
    options.file = (*relay)->folder().path() + "/options";
  }
  auto agent = PlaceAgent(java.process, options.agent_file);
  if (!agent.ok()) return agent.error();
  auto answer = Attach(java, {agent->path, "start," + options.Text(/*as_they_are=*/true), timeout_ms});
  if (!answer.ok()) return answer.error();
  return std::unique_ptr<TemporaryRecording>(new TemporaryRecording(java, std::move(*relay), timeout_ms));
}

TemporaryRecording::~TemporaryRecording() { (void)Stop(); }

Result<std::unique_ptr<Recording>> TemporaryRecording::Open() const {
  const Descriptor file = relay_->Recording();
  if (!file.is_open()) return Error{fmt::format("PID {}: no recording was written", java_.process.pid)};
  if (const auto bytes = RecordingBytes(file); !bytes.ok()) {
    return Error{fmt::format("PID {}: {}", java_.process.pid, bytes.error().message)};
  }
  return Recording::OpenFirst(fmt::format("/proc/self/fd/{}", file.number()), java_.process.root());
}

std::optional<Error> TemporaryRecording::Stop() {
  if (std::exchange(is_stopped_, true)) return std::nullopt;
  return StopRecording(java_, timeout_ms_);
}

}  // namespace heaprec::tools
