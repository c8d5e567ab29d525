#include "tools/control/temporary_recording.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/result.h"
#include "tools/control/live_recording.h"

namespace heaprec::tools {
namespace {

// Returns 0 for rec.hrec, 7 for rec-7.hrec (docs/reference/agent-options.md#rotate).
std::optional<int> NumberOf(const std::string& name) {
  static const std::regex pattern(R"(rec(?:-(\d{1,9}))?\.hrec)");
  std::smatch found;
  if (!std::regex_match(name, found, pattern)) return std::nullopt;
  return found[1].matched ? std::stoi(found[1]) : 0;
}

bool IsOwnProcess(const Process& process) { return process.same_files && process.uid == geteuid(); }

}  // namespace

Result<std::unique_ptr<RecordingRelay>> RecordingRelay::Make(const Process& process) {
  ASSIGN_OR_RETURN(auto handle, ProcessHandle::Open(process));
  ASSIGN_OR_RETURN(auto folder, StageOutput(process));
  return std::unique_ptr<RecordingRelay>(new RecordingRelay(std::move(handle), process.pid, std::move(folder)));
}

// Checks the process' open files by name, which is unique because the folder's name is random.
bool RecordingRelay::IsWritten() const {
  if (!handle_.HoldsNumber()) return false;
  std::error_code error;
  const std::string mark = "/" + folder_->name() + "/";
  const std::filesystem::directory_iterator files(fmt::format("/proc/{}/fd", pid_), error), end;
  return std::any_of(files, end, [&mark](const auto& file) {
    std::error_code unreadable;
    return std::filesystem::read_symlink(file.path(), unreadable).string().find(mark) != std::string::npos;
  });
}

bool RecordingRelay::IsWaiting() const {
  const auto now = LookAt(pid_);
  return now.ok() && handle_.HoldsNumber() && now->is_waiting;
}

std::vector<std::string> RecordingRelay::Files() const {
  std::vector<std::pair<int, std::string>> numbered;
  for (const std::string& name : folder_->Names()) {
    if (const auto number = NumberOf(name)) numbered.emplace_back(*number, name);
  }
  std::ranges::sort(numbered);
  std::vector<std::string> names;
  for (auto& [number, name] : numbered) names.push_back(std::move(name));
  return names;
}

Status RecordingRelay::Redirect(AgentOptions* agent) const {
  agent->output = path();
  if (agent->file.empty()) return {};
  RETURN_IF_ERROR(StageFile(*folder_, agent->file, "options"));
  agent->file = folder_->path() + "/options";
  return {};
}

void RecordingRelay::Pause() {
  constexpr timespec kPause{0, 100'000'000};
  nanosleep(&kPause, nullptr);
}

// The JVM's user may be unable to read our files, and does not see them in a container.
Result<PlacedAgent> PlaceAgent(const Process& process, const std::string& asked_for) {
  PlacedAgent placed;
  const bool is_theirs = !process.same_files && !asked_for.empty();  // a path in the container
  std::string ours = asked_for;
  if (process.agent.empty() && !is_theirs) {
    if (const auto why = WhyNoAgent(process)) return Error{fmt::format("PID {}: {}", process.pid, *why)};
    ASSIGN_OR_RETURN(ours, FindAgent(asked_for));
    if (!IsOwnProcess(process) && (!process.same_files || !CanRead(process, ours))) {
      ASSIGN_OR_RETURN(placed.folder, StageAgent(process, ours));
      ours = placed.folder->path() + "/libheaprec.so";
    }
  }
  ASSIGN_OR_RETURN(placed.path, AgentFor(process, ours));
  return placed;
}

Status StopRecording(const JavaProcess& java, int timeout_ms) {
  auto process = LookAt(java.process.pid);
  if (!process.ok()) return {};  // it has ended, and so has its recording
  JavaProcess now = java;
  now.process = *process;
  ASSIGN_OR_RETURN(auto agent, AgentFor(now.process, ""));
  RETURN_IF_ERROR(Attach(now, {agent, "stop", timeout_ms}));
  return {};
}

Result<std::unique_ptr<TemporaryRecording>> TemporaryRecording::Start(const JavaProcess& java, AgentOptions options,
                                                                      int timeout_ms) {
  ASSIGN_OR_RETURN(auto relay, RecordingRelay::Make(java.process));
  RETURN_IF_ERROR(relay->Redirect(&options));
  ASSIGN_OR_RETURN(auto agent, PlaceAgent(java.process, options.agent_file));
  RETURN_IF_ERROR(Attach(java, {agent.path, "start," + options.Text(/*as_they_are=*/true), timeout_ms}));
  return std::unique_ptr<TemporaryRecording>(new TemporaryRecording(java, std::move(relay), timeout_ms));
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

Status TemporaryRecording::Stop() {
  if (std::exchange(is_stopped_, true)) return {};
  return StopRecording(java_, timeout_ms_);
}

}  // namespace heaprec::tools
