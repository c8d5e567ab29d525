#include "tools/control/recording_relay.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>

#include "tools/control/staging.h"

namespace heaprec::tools {

format::Result<std::unique_ptr<RecordingRelay>> RecordingRelay::Make(const Process& process) {
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

void RecordingRelay::Pause() {
  constexpr timespec kPause{0, 100'000'000};
  nanosleep(&kPause, nullptr);
}

}  // namespace heaprec::tools
