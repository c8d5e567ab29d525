#include "tools/control/recording_output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/output_path.h"
#include "base/time.h"
#include "tools/control/live_recording.h"
#include "tools/control/private_folder.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the first name that does not exist.
std::string FreeName(const std::string& pattern, pid_t pid) {
  const OutputPath output(pattern, static_cast<uint32_t>(pid), EpochNs());
  for (int number = 0; number < OutputPath::kMaxNames; ++number) {
    std::string path = output.Name(number);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return path;
  }
  return output.Name(0);
}

Result<std::unique_ptr<OutputFile>> OpenNew(const std::string& path) {
  auto file = OutputFile::Open(path, /*overwrite=*/false);
  if (file.ok()) fchmod((*file)->descriptor(), 0640);  // as for the agent's own files
  return file;
}

// Copies the first bytes. A signal ends the copy, except the one that has ended the recording.
bool CopyOut(const Descriptor& from, uint64_t bytes, Output* output) {
  constexpr uint64_t kPiece = 1 << 20;
  const bool was_interrupted = IsInterrupted();
  std::string piece(kPiece, '\0');
  for (uint64_t left = bytes; left > 0 && !output->failed();) {
    if (IsInterrupted() && !was_interrupted) {
      errno = EINTR;
      return false;
    }
    const ssize_t got = read(from.number(), piece.data(), std::min(left, kPiece));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    output->Append({piece.data(), static_cast<size_t>(got)});
    output->Tick();
    left -= static_cast<uint64_t>(got);
  }
  output->Flush();
  return true;
}

}  // namespace

std::optional<OutputFailure> RecordingOutput::Choose(const Process& process, AgentOptions agent, bool is_inside,
                                                     bool is_awaited) {
  seconds_ = static_cast<double>(agent.duration_ns.value_or(0)) * 1e-9;
  const std::string folder = std::filesystem::absolute(agent.output).parent_path();
  const bool can_write = process.same_files && (process.uid == geteuid() || CanWriteIn(process, folder));
  const bool is_relayed = !is_inside && (!can_write || is_awaited);
  if (is_relayed) {
    if (auto failure = Relay(process, &agent)) return failure;
  }
  agent_text_ = agent.Text(/*as_they_are=*/is_relayed || !process.same_files);
  return std::nullopt;
}

std::optional<OutputFailure> RecordingOutput::Relay(const Process& process, AgentOptions* agent) {
  pid_ = process.pid;
  pattern_ = agent->output;
  path_ = FreeName(pattern_, pid_);
  auto file = OpenNew(path_);
  if (!file.ok()) return OutputFailure{ExitCode::kCannotWrite, file.error().message};
  file_ = std::move(*file);
  auto relay = RecordingRelay::Make(process);
  if (!relay.ok()) return OutputFailure{ExitCode::kCannotAttach, relay.error().message};
  relay_ = std::move(*relay);
  if (const Status redirected = relay_->Redirect(agent); !redirected) {
    return OutputFailure{ExitCode::kUsage, redirected.error().message};
  }
  return std::nullopt;
}

std::string RecordingOutput::path() const { return std::filesystem::absolute(path_); }

std::string RecordingOutput::Sentence() const {
  const std::string first = std::filesystem::absolute(brought_.front());
  const std::string last = std::filesystem::absolute(brought_.back());
  if (brought_.size() == 1) return "recorded " + first;
  return fmt::format("recorded {} files, {} to {}", brought_.size(), first, last);
}

ExitCode RecordingOutput::Bring(const JavaProcess& java, int timeout_ms, bool counts_down) {
  const pid_t pid = java.process.pid;
  const Countdown countdown(fmt::format("PID {}: recording", pid), "; Ctrl-C ends it", seconds_, counts_down);
  const auto keep = [&](const std::string& why) {
    relay_->Keep();
    return Fail(ExitCode::kCannotAttach,
                fmt::format("{}; the recording is in the JVM's own files, at {}", why, relay_->path()));
  };
  const auto is_over = [&countdown] {
    countdown.Tell();
    return IsInterrupted();
  };
  if (!relay_->Wait(is_over)) {
    if (const Status stopped = StopRecording(java, timeout_ms); !stopped) return keep(stopped.error().message);
    const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
    if (!relay_->Wait([deadline] { return Clock::now() >= deadline; })) {
      return keep(fmt::format("PID {}: the JVM was still writing the recording {} s after the stop (raise --timeout)",
                              pid, timeout_ms / 1000));
    }
  }
  return BringFiles();
}

ExitCode RecordingOutput::BringFiles() {
  const std::vector<std::string> names = relay_->Files();
  if (names.empty()) return Fail(ExitCode::kCannotAttach, fmt::format("PID {}: no recording was written", pid_));
  ExitCode code = ExitCode::kOk;
  for (size_t i = 0; i < names.size(); ++i) {
    const ExitCode brought = BringFile(names[i]);
    if (code == ExitCode::kOk) code = brought;
    if (brought != ExitCode::kCannotWrite) continue;
    if (const size_t left = names.size() - i - 1; left > 0) {  // these cannot be written either
      PrintError(fmt::format("PID {}: {} of the recording {} in {}", pid_, CountOf(left, "more file"),
                             left == 1 ? "is" : "are", relay_->folder().path()));
    }
    break;
  }
  if (!relay_->Files().empty()) relay_->Keep();
  return code;
}

ExitCode RecordingOutput::BringFile(const std::string& name) {
  const std::string theirs = relay_->folder().path() + "/" + name;
  const auto fail = [&](ExitCode code, const std::string& why, const char* what = "the recording") {
    return Fail(code, fmt::format("{}; {} is in the JVM's own files, at {}", why, what, theirs));
  };
  const Descriptor recording = relay_->folder().Open(name);
  const auto bytes = recording.is_open() ? RecordingBytes(recording) : Error{std::strerror(errno)};
  if (!bytes.ok())
    return fail(ExitCode::kUnreadable, fmt::format("PID {}: {}", pid_, bytes.error().message), "what it wrote");
  if (file_ == nullptr) {
    path_ = FreeName(pattern_, pid_);
    auto file = OpenNew(path_);
    if (!file.ok()) return fail(ExitCode::kCannotWrite, file.error().message);
    file_ = std::move(*file);
  }
  Output output(file_->descriptor());
  if (!CopyOut(recording, *bytes, &output)) {
    return fail(ExitCode::kCannotWrite, fmt::format("PID {}: {}: {}", pid_, theirs, std::strerror(errno)));
  }
  const ExitCode written = output.Report(path_);
  if (written != ExitCode::kOk || output.failed()) return fail(ExitCode::kCannotWrite, path_ + ": not written");
  if (const Status committed = Commit(); !committed) return fail(ExitCode::kCannotWrite, committed.error().message);
  file_.reset();
  brought_.push_back(path_);
  relay_->folder().Remove(name);
  return ExitCode::kOk;
}

// The name was free, but another recording may have taken it since.
Status RecordingOutput::Commit() {
  for (;;) {
    Status committed = file_->Commit();
    std::error_code unknown;
    if (committed || !std::filesystem::exists(path_, unknown)) return committed;
    std::string next = FreeName(pattern_, pid_);
    if (next == path_) return committed;
    path_ = std::move(next);
    file_->SetPath(path_);
  }
}

}  // namespace heaprec::tools
