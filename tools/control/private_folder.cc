#include "tools/control/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <regex>
#include <string_view>

#include "base/result.h"
#include "tools/control/process.h"

namespace heaprec::tools {
namespace {

constexpr std::string_view kPrefix = "heaprec-";
constexpr size_t kDigits = 16;
constexpr size_t kMaxLink = 16 << 10;

std::string RandomName() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) < 0) random = static_cast<uint64_t>(getpid());
  return fmt::format("{}{:016x}", kPrefix, random);
}

Descriptor Duplicate(const Descriptor& of) { return Descriptor(fcntl(of.number(), F_DUPFD_CLOEXEC, 0)); }

using Staged = Result<std::unique_ptr<PrivateFolder>>;

constexpr size_t kPiece = 1 << 16;
constexpr size_t kMaxLibrary =
    size_t{64} << 20;  // maximum to read in search of glibc's version; a sparse file can be arbitrarily long
constexpr const char* kAgentName = "libheaprec.so";

std::string Reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): one thread

// Reads up to one piece.
std::string ReadPiece(const Descriptor& file) {
  std::string piece(kPiece, '\0');
  size_t filled = 0;
  while (filled < piece.size()) {
    const ssize_t got = read(file.number(), piece.data() + filled, piece.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  piece.resize(filled);
  return piece;
}

bool WritePiece(const Descriptor& file, std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t done = write(file.number(), piece.data(), piece.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    piece.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

bool Copy(const Descriptor& from, const Descriptor& to) {
  for (;;) {
    const std::string piece = ReadPiece(from);
    if (piece.empty()) return true;
    if (!WritePiece(to, piece)) return false;
  }
}

bool AreSame(const Descriptor& one, const Descriptor& other) {
  for (;;) {
    const std::string a = ReadPiece(one), b = ReadPiece(other);
    if (a != b) return false;
    if (a.empty()) return true;
  }
}

std::vector<std::string> PlacesOf(const Process& process) {
  std::vector<std::string> places{"/tmp", "/var/tmp", "/dev/shm"};
  const bool is_known = std::ranges::find(places, process.folder) != places.end();
  if (process.folder.starts_with('/') && !is_known) places.push_back(process.folder);
  return places;
}

bool IsNoExec(const Descriptor& folder) {
  struct statvfs status {};
  return fstatvfs(folder.number(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
}

// Makes a folder in one of the places; `fill` writes its contents.
template <typename Fill>
Staged StageIn(const Process& process, const std::string& place, bool is_to_execute, const Fill& fill) {
  const Descriptor parent = OpenBelow(process.root(), place, O_PATH | O_DIRECTORY);
  if (!parent.is_open()) return Error{Reason()};
  // The opened root belongs to whichever process has this PID: it must still be the same process.
  if (StartTicks(process.pid) != process.start_ticks) return Error{"the process has exited"};
  if (is_to_execute && IsNoExec(parent)) return Error{"mounted noexec"};
  auto made = PrivateFolder::Make(process, parent, place);
  if (!made.ok()) return made;
  RETURN_IF_ERROR(fill(**made));
  return made;
}

template <typename Fill>
Staged StageAnywhere(const Process& process, bool is_to_execute, const Fill& fill, std::string_view otherwise) {
  std::string reasons;
  for (const std::string& place : PlacesOf(process)) {
    auto made = StageIn(process, place, is_to_execute, fill);
    if (made.ok()) return made;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", place, made.error().message);
  }
  return Error{fmt::format("PID {}: {} ({})", process.pid, otherwise, reasons)};
}

// Reads the file that the JVM will load along the path that the JVM uses.
Status PutAgent(const Process& process, const PrivateFolder& folder, const std::string& agent) {
  RETURN_IF_ERROR(StageFile(folder, agent, kAgentName));
  Descriptor copy;
  {
    const ThreadUser user(process);
    copy = OpenRegularBelow(process.root(), folder.path() + "/" + kAgentName);
    if (!copy.is_open()) return Error{"the copy cannot be read: " + Reason()};
  }
  const Descriptor ours(open(agent.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ours.is_open() || !AreSame(ours, copy)) return Error{"the copy differs from " + agent};
  return {};
}

}  // namespace

PrivateFolder::PrivateFolder(const Process& process, Descriptor parent, const std::string& parent_path)
    : user_(process),
      parent_(std::move(parent)),
      name_(RandomName()),
      path_((parent_path == "/" ? "" : parent_path) + "/" + name_) {}

Result<std::unique_ptr<PrivateFolder>> PrivateFolder::Make(const Process& process, const Descriptor& parent,
                                                           const std::string& parent_path) {
  const auto fail = [] { return Error{std::strerror(errno)}; };  // NOLINT(concurrency-mt-unsafe): one thread
  std::unique_ptr<PrivateFolder> made(new PrivateFolder(process, Duplicate(parent), parent_path));
  const ThreadUser user(process);
  const char* const name = made->name_.c_str();
  if (!user.is_active() || !made->parent_.is_open() || mkdirat(made->parent_.number(), name, 0700) != 0) return fail();
  made->folder_ = Descriptor(openat(made->parent_.number(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made->folder_.is_open()) return fail();
  return made;
}

PrivateFolder::~PrivateFolder() {
  if (is_kept_ || !folder_.is_open()) return;
  for (const std::string& name : Names()) Remove(name);
  const ThreadUser user(user_);
  if (user.is_active()) unlinkat(parent_.number(), name_.c_str(), AT_REMOVEDIR);
}

std::vector<std::string> PrivateFolder::Names() const {
  std::vector<std::string> names;
  const ThreadUser user(user_);
  if (!user.is_active()) return names;
  DIR* const directory = fdopendir(openat(folder_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(directory);
  return names;
}

Descriptor PrivateFolder::Open(const std::string& name) const {
  const ThreadUser user(user_);
  return user.is_active() ? OpenRegularIn(folder_, name) : Descriptor();
}

Descriptor PrivateFolder::Create(const std::string& name) const {
  const ThreadUser user(user_);
  if (!user.is_active()) return {};
  return Descriptor(openat(folder_.number(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700));
}

std::string PrivateFolder::LinkTarget(const std::string& name) const {
  const ThreadUser user(user_);
  std::string text(kMaxLink, '\0');
  const ssize_t got =
      user.is_active() ? readlinkat(folder_.number(), name.c_str(), text.data(), text.size()) : ssize_t{-1};
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

void PrivateFolder::Remove(const std::string& name) const {
  const ThreadUser user(user_);
  if (user.is_active()) unlinkat(folder_.number(), name.c_str(), 0);
}

bool IsInPrivateFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().filename();
  return folder.size() == kPrefix.size() + kDigits && folder.starts_with(kPrefix) &&
         folder.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string::npos;
}

bool CanRead(const Process& process, const std::string& file) {
  const ThreadUser user(process);
  return user.is_active() && Descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC)).is_open();
}

// Tries a file without a name, which leaves no trace. Returns true if the file system does not support such files; the
// agent then reports failures.
bool CanWriteIn(const Process& process, const std::string& folder) {
  const ThreadUser user(process);
  if (!user.is_active()) return false;
  if (Descriptor(open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600)).is_open()) return true;
  return errno == EOPNOTSUPP || errno == EISDIR;
}

Status StageFile(const PrivateFolder& folder, const std::string& from, const std::string& name) {
  const Descriptor source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.is_open()) return Error{from + ": " + Reason()};
  const Descriptor copy = folder.Create(name);
  if (!copy.is_open() || !Copy(source, copy)) return Error{Reason()};
  return {};
}

Staged StageAgent(const Process& process, const std::string& agent) {
  return StageAnywhere(
      process, /*is_to_execute=*/true, [&](const PrivateFolder& folder) { return PutAgent(process, folder, agent); },
      "no folder of the JVM can hold the agent; copy libheaprec.so into its files and give the path there with --lib");
}

Staged StageOutput(const Process& process) {
  return StageAnywhere(
      process, /*is_to_execute=*/false, [](const PrivateFolder&) { return Status(); },
      "no folder of the JVM can hold the recording");
}

std::optional<std::string> WhyNoAgent(const Process& process) {
  if (process.libc.find("musl") != std::string::npos) {
    return "the JVM uses musl libc (Alpine); the agent needs glibc 2.17 or later: use a JDK that is built for glibc";
  }
  constexpr int kOldestMajor = 2, kOldestMinor = 17;
  const Descriptor file = OpenRegularBelow(process.root(), process.libc);
  if (process.libc.empty() || !file.is_open()) return std::nullopt;
  // The sentence that the library prints when it is run as a program.
  static const std::regex sentence(R"(GNU C Library [^\n]{0,80}version (\d{1,3})\.(\d{1,4}))");
  std::string text;
  size_t done = 0;
  for (std::string piece = ReadPiece(file); !piece.empty() && done < kMaxLibrary; piece = ReadPiece(file)) {
    done += piece.size();
    const size_t kept = std::min<size_t>(text.size(), 200);
    text = text.substr(text.size() - kept) + piece;
    for (size_t at = text.find("GNU C Library"); at != std::string::npos; at = text.find("GNU C Library", at + 1)) {
      std::smatch found;
      const std::string here = text.substr(at, 200);
      if (!std::regex_search(here, found, sentence)) continue;
      const std::pair version{std::stoi(found[1]), std::stoi(found[2])};
      if (version >= std::pair{kOldestMajor, kOldestMinor}) return std::nullopt;
      return fmt::format("the JVM uses glibc {}.{}; the agent needs glibc 2.17 or later", version.first,
                         version.second);
    }
  }
  return std::nullopt;
}

}  // namespace heaprec::tools
