#include "tools/fleet/ship/ship_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>
#include <utility>

#include "format/bytes/layout.h"
#include "tools/text/interrupt.h"
#include "tools/text/messages.h"

namespace heaprec::tools::fleet {
namespace {

using std::chrono::seconds;

constexpr seconds kLongestPause{60};
constexpr seconds kLook{5};  // interval of looking for new files and new blocks, with --follow
constexpr uint64_t kMaxOpenBytes = 32 << 20;
// blocks of a slice may arrive this many seconds late: a row interval, and blocks that wait for it
constexpr uint32_t kLatestBlock = 30;

void Pause(seconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (!IsInterrupted() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

uint64_t ResidentBytes() {
  uint64_t size = 0, resident = 0;  // in pages
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The number of retries, and the pauses between them.
class Retries {
 public:
  explicit Retries(const ShipRunOptions& options) : left_(options.tries), is_endless_(options.follow) {}

  // Prints the error and waits. Returns false after the last retry.
  bool Again(const std::string& sentence) {
    if (left_ > 0) --left_;
    const bool goes_on = (is_endless_ || left_ > 0) && !IsInterrupted();
    PrintError(fmt::format("{}: {}", sentence,
                           goes_on ? fmt::format("next try in {} s", pause_.count())
                                   : std::string("gave up; run ship again, nothing is sent twice")));
    if (!goes_on) return false;
    Pause(pause_);
    pause_ = std::min(pause_ * 2, kLongestPause);
    return true;
  }

 private:
  uint32_t left_;
  bool is_endless_;
  seconds pause_{1};
};

std::string FolderOf(const std::string& file) {
  std::error_code error;
  return std::filesystem::canonical(file, error).parent_path().string();
}

// All shippers of a folder on this machine have the same owner id.
uint64_t OwnerOf(const std::string& file) {
  std::string place(HOST_NAME_MAX + 1, '\0');
  if (gethostname(place.data(), place.size()) != 0) place.clear();
  place += FolderOf(file);
  return format::Hash(std::as_bytes(std::span(place)));
}

}  // namespace

bool FolderLocks::Lock(const std::string& folder) {
  const auto found = is_ours_.find(folder);
  if (found != is_ours_.end()) return found->second;
  descriptors_.emplace_back(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int descriptor = descriptors_.back().number();
  const bool is_others = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return is_ours_[folder] = !is_others;
}

ExitCode ShipRun::Run() {
  ExitCode code = Once();
  while (options_.follow && !IsInterrupted()) {
    Pause(kLook);
    code = Once();
  }
  return code;
}

ExitCode ShipRun::Once() {
  ExitCode code = unreadable_.empty() ? ExitCode::kOk : ExitCode::kUnreadable;
  for (const std::string& path : options_.paths) {
    for (const std::string& file : RecordingsIn(path)) {
      if (IsInterrupted()) return code;
      const ExitCode one = ShipFile(file);
      if (one == ExitCode::kCannotWrite) return one;
      if (one != ExitCode::kOk) code = one;
    }
  }
  return code;
}

ExitCode ShipRun::ShipFile(const std::string& file) {
  if (done_files_.contains(file) || IsClosed(file)) return ExitCode::kOk;
  if (!IsOurs(file)) return ExitCode::kCannotWrite;
  if (!open_.contains(file)) {
    auto recordings = Recording::OpenAll(file);
    if (!recordings.ok()) {
      // A new file may soon become a recording.
      if (unreadable_.insert(file).second) PrintError(recordings.error().message);
      return ExitCode::kUnreadable;
    }
    unreadable_.erase(file);
    ShipOptions how = options_.ship;
    how.owner = OwnerOf(file);
    for (auto& recording : *recordings) {
      open_[file].push_back(std::make_unique<Shipper>(std::move(recording), server_, schema_, how, &known_, &totals_));
      senders_.try_emplace(open_[file].back()->info().id, file);
    }
  }
  const ShipTotals before = totals_;
  const bool is_new = running_.insert(file).second;
  const ExitCode code = Advance(file);
  if (!is_new) {
    // They were counted when the recording was read before.
    totals_.slices_there = before.slices_there;
    totals_.too_old = before.too_old;
  }
  return code;
}

bool ShipRun::IsClosed(const std::string& file) const {
  const auto due = due_.find(file);
  return due != due_.end() && std::time(nullptr) < due->second;
}

void ShipRun::Close(const std::string& file) {
  open_.erase(file);
  const std::time_t slice = schema_.slice_seconds;
  due_[file] = (std::time(nullptr) / slice + 1) * slice + kLatestBlock;
}

bool ShipRun::IsOurs(const std::string& file) {
  const std::string folder = FolderOf(file);
  if (options_.ship.dry_run || folder.empty() || locks_.Lock(folder)) return true;
  PrintError(folder + ": another heaprec ship is sending this folder's recordings");
  return false;
}

ExitCode ShipRun::Advance(const std::string& file) {
  auto& shippers = open_[file];
  bool all_done = true, is_damaged = false;
  for (const auto& shipper : shippers) {
    // A dump next to its recording may have been sent further than the recording.
    if (std::exchange(senders_[shipper->info().id], file) != file) shipper->Doubt();
    const auto done = WithRetries(shipper.get());
    if (!done) return ExitCode::kCannotWrite;
    all_done = all_done && *done;
    is_damaged = is_damaged || shipper->recording().damaged();
  }
  if (is_damaged && damaged_.insert(file).second) {
    PrintError(file + ": damaged bytes were skipped; what could be decoded was shipped");
  }
  if (all_done) {
    open_.erase(file);
    running_.erase(file);
    done_files_.insert(file);
  }
  if (ResidentBytes() > kMaxOpenBytes) {
    if (!all_done) Close(file);
    malloc_trim(0);
  }
  return is_damaged ? ExitCode::kDamaged : ExitCode::kOk;
}

std::optional<bool> ShipRun::WithRetries(Shipper* shipper) {
  Retries retries(options_);
  while (true) {
    const uint64_t sent = totals_.slices;
    auto done = shipper->Step();
    if (done.ok()) return *done;
    if (totals_.slices > sent) retries = Retries(options_);
    if (!retries.Again(done.error().message)) return std::nullopt;
  }
}

Result<Schema> FindSchema(const ShipRunOptions& options, Server* server) {
  Retries retries(options);
  while (true) {
    auto schema = ReadSchema(server);
    if (schema.ok() || !retries.Again(schema.error().message)) return schema;
  }
}

}  // namespace heaprec::tools::fleet
