#include "tools/control/recording_relay.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>

#include "tools/control/staging.h"

namespace heaprec::tools {
namespace {

// Returns 0 for rec.hrec, 7 for rec-7.hrec (docs/reference/agent-options.md#rotate).
std::optional<int> NumberOf(const std::string& name) {
  static const std::regex pattern(R"(rec(?:-(\d{1,9}))?\.hrec)");
  std::smatch found;
  if (!std::regex_match(name, found, pattern)) return std::nullopt;
  return found[1].matched ? std::stoi(found[1]) : 0;
}

}  // namespace

Result<std::unique_ptr<RecordingRelay>> RecordingRelay::Make(const Process& process) {
  auto handle = ProcessHandle::Open(process);
  if (!handle.ok()) return handle.error();
  auto folder = StageOutput(process);
  if (!folder.ok()) return folder.error();
  return std::unique_ptr<RecordingRelay>(new RecordingRelay(std::move(*handle), process.pid, std::move(*folder)));
}

// Its open files, by name: the folder's is random.
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

void RecordingRelay::Pause() {
  constexpr timespec kPause{0, 100'000'000};
  nanosleep(&kPause, nullptr);
}

}  // namespace heaprec::tools
