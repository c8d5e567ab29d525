#include "tools/control/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

namespace heaprec::tools {
namespace {

using Scope = ThreadUser::Scope;

// setfsuid and setfsgid do not return whether they have succeeded; another call returns the current id.
constexpr auto kNone = static_cast<uid_t>(-1);

uid_t UserIn(Scope scope) { return scope == Scope::kFiles ? static_cast<uid_t>(setfsuid(kNone)) : geteuid(); }
gid_t GroupIn(Scope scope) { return scope == Scope::kFiles ? static_cast<gid_t>(setfsgid(kNone)) : getegid(); }

bool SetUser(Scope scope, uid_t user) {
  scope == Scope::kFiles ? setfsuid(user) : syscall(SYS_setresuid, -1, user, -1);
  return UserIn(scope) == user;
}

bool SetGroup(Scope scope, gid_t group) {
  scope == Scope::kFiles ? setfsgid(group) : syscall(SYS_setresgid, -1, group, -1);
  return GroupIn(scope) == group;
}

bool SetGroups(const std::vector<gid_t>& groups) { return syscall(SYS_setgroups, groups.size(), groups.data()) == 0; }

}  // namespace

ThreadUser::ThreadUser(const Credentials& user, Scope scope)
    : scope_(scope), before_{UserIn(scope), GroupIn(scope), {}} {
  is_active_ = user.uid == before_.uid;
  if (is_active_) return;
  if (const int count = getgroups(0, nullptr); count >= 0) {
    before_.groups.resize(static_cast<size_t>(count));
    has_other_groups_ = getgroups(count, before_.groups.data()) == count && SetGroups(user.groups);
  }
  is_active_ = SetGroup(scope, user.gid) && SetUser(scope, user.uid);
  if (is_active_) return;
  Restore();
  errno = EPERM;
}

ThreadUser::~ThreadUser() {
  if (is_active_) Restore();
}

// Restores the user first, who may have the right to set groups.
void ThreadUser::Restore() {
  SetUser(scope_, before_.uid);
  SetGroup(scope_, before_.gid);
  if (has_other_groups_) SetGroups(before_.groups);
}

namespace {

// Returns the text after "NAME:" in /proc/PID/status, up to the end of the line.
std::string_view Field(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    const size_t end = std::min(status.find('\n'), status.size());
    const std::string_view line = status.substr(0, end);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(":")) {
      const std::string_view value = line.substr(name.size() + 1);
      return value.substr(std::min(value.find_first_not_of(" \t"), value.size()));
    }
    status.remove_prefix(std::min(end + 1, status.size()));
  }
  return {};
}

// Returns the n-th word, from 0; the last one for a negative n.
std::string_view Word(std::string_view words, int n) {
  std::string_view found;
  for (int i = 0; n < 0 || i <= n; ++i) {
    words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
    if (words.empty()) return n < 0 ? found : std::string_view();
    const size_t end = std::min(words.find_first_of(" \t"), words.size());
    found = words.substr(0, end);
    words.remove_prefix(end);
  }
  return found;
}

template <typename Number>
Number NumberIn(std::string_view text, int base = 10) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// Returns the first mapped file whose name begins with `name`. A deleted one has the suffix "(deleted)". The kernel
// writes a line feed in a name as \012.
std::string MappedFile(std::string_view maps, const std::string& name) {
  for (size_t at = maps.find("/" + name); at != std::string_view::npos; at = maps.find("/" + name, at + 1)) {
    const size_t end = std::min(maps.find('\n', at), maps.size());
    if (maps.substr(at + 1, end - at - 1).find('/') != std::string_view::npos) continue;  // a folder with that name
    const size_t line = maps.rfind('\n', at) + 1;                                         // npos + 1 is 0
    const size_t begin = maps.find('/', line);
    const std::string_view written = maps.substr(begin, end - begin);
    constexpr std::string_view kFeed = "\\012";
    std::string path;
    for (size_t i = 0; i < written.size(); ++i) {
      const bool is_feed = written.substr(i).starts_with(kFeed);
      path += is_feed ? '\n' : written[i];
      if (is_feed) i += kFeed.size() - 1;
    }
    return path;
  }
  return {};
}

// musl's loader is its C library, too. libc-2.31.so: until glibc 2.33.
std::string LibcIn(std::string_view maps) {
  for (const char* name : {"ld-musl-", "libc.musl-", "libc.so.6", "libc-2."}) {
    if (std::string path = MappedFile(maps, name); !path.empty()) return path;
  }
  return {};
}

// Returns the path of a process' root folder in our files; empty if it is the same.
std::string RootOf(pid_t pid) {
  std::error_code error;
  const std::string root = std::filesystem::read_symlink(fmt::format("/proc/{}/root", pid), error);
  return root == "/" ? "" : root;
}

// The kernel shows mapped files by paths under our root. A process with another root (chroot) has only the rest of it.
std::string Inside(const std::string& root, const std::string& path) {
  return path.starts_with(root + "/") ? path.substr(root.size()) : path;
}

bool SameFile(const std::string& one, const std::string& other) {
  struct stat a {
  }, b{};
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool HasSameFiles(pid_t pid) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/mnt", error);
  const auto its = std::filesystem::read_symlink(fmt::format("/proc/{}/ns/mnt", pid), error);
  return own == its && SameFile("/proc/self/root", fmt::format("/proc/{}/root", pid));
}

// The thread is the agent's StartAfterDelay (recorder/agent/agent.cc), identified by its name.
bool HasDelayThread(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid), error), end;
  return std::any_of(threads, end, [](const auto& thread) {
    return ReadSmallFile(thread.path().string() + "/comm") == "heaprec-delay\n";
  });
}

void TakeStatus(std::string_view status, Process* process) {
  const std::string_view inner = Word(Field(status, "NSpid"), -1);
  process->inner_pid = inner.empty() ? process->pid : NumberIn<pid_t>(inner);
  process->uid = NumberIn<uid_t>(Word(Field(status, "Uid"), 1));
  process->gid = NumberIn<gid_t>(Word(Field(status, "Gid"), 1));
  std::string_view groups = Field(status, "Groups");
  for (auto word = Word(groups, 0); !word.empty(); word = Word(groups, 0)) {
    process->groups.push_back(NumberIn<gid_t>(word));
    groups.remove_prefix(static_cast<size_t>(word.data() + word.size() - groups.data()));
  }
  const std::string_view state = Field(status, "State");
  if (!state.empty()) process->state = state.front();
  process->catches_quit = (NumberIn<uint64_t>(Field(status, "SigCgt"), 16) >> (SIGQUIT - 1) & 1) != 0;
}

// Returns why the memory map of a process could not be read.
Error WithoutMaps(const Process& process) {
  const Descriptor maps(open(fmt::format("/proc/{}/maps", process.pid).c_str(), O_RDONLY | O_CLOEXEC));
  const int reason = maps.is_open() ? 0 : errno;
  if (StartTicks(process.pid) != process.start_ticks) return Error{fmt::format("PID {}: no such process", process.pid)};
  if (reason == 0) {
    return Error{fmt::format("PID {}: not a JVM: {} has no memory of its own (a kernel thread?)", process.pid,
                             CommandName(process.pid))};
  }
  return Error{fmt::format("PID {}: cannot read its memory map ({}); {}", process.pid, std::strerror(reason),
                           geteuid() != 0 ? "run heaprec as root"
                                          : "root needs CAP_SYS_PTRACE in the process's user namespace; a "
                                            "security module may also deny it")};
}

}  // namespace

std::string UserName(uid_t uid) {
  const passwd* const user = getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): one thread
  return user != nullptr ? user->pw_name : std::to_string(uid);
}

std::string CommandName(pid_t pid) {
  std::string name = ReadSmallFile(fmt::format("/proc/{}/comm", pid));
  if (!name.empty()) name.pop_back();
  return name;
}

std::string Process::root() const { return same_files ? "" : fmt::format("/proc/{}/root", pid); }

uint64_t StartTicks(pid_t pid) {
  constexpr int kStartTime = 19;  // field 22 of proc(5), counted from the third: the name before it may contain spaces
  const std::string stat = ReadSmallFile(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  return NumberIn<uint64_t>(Word(std::string_view(stat).substr(name_end + 1), kStartTime));
}

Result<Process> LookAt(pid_t pid) {
  constexpr size_t kMaxMaps = size_t{64} << 20;
  const std::string status = ReadSmallFile(fmt::format("/proc/{}/status", pid));
  if (status.empty() || Field(status, "State").starts_with("Z"))
    return Error{fmt::format("PID {}: no such process", pid)};
  Process process;
  process.pid = pid;
  process.start_ticks = StartTicks(pid);
  TakeStatus(status, &process);
  if (geteuid() != 0 && geteuid() != process.uid) {
    return Error{
        fmt::format("PID {}: belongs to user {}; run heaprec as that user or as root", pid, UserName(process.uid))};
  }
  const std::string maps = ReadSmallFile(fmt::format("/proc/{}/maps", pid), kMaxMaps);
  if (maps.empty()) return WithoutMaps(process);
  const std::string root = RootOf(pid);
  process.libjvm = Inside(root, MappedFile(maps, "libjvm.so"));
  process.agent = Inside(root, MappedFile(maps, "libheaprec"));
  process.libc = Inside(root, LibcIn(maps));
  std::error_code error;
  process.folder = Inside(root, std::filesystem::read_symlink(fmt::format("/proc/{}/cwd", pid), error));
  process.is_waiting = !process.agent.empty() && HasDelayThread(pid);
  process.same_files = HasSameFiles(pid);
  // The data may come from two processes that had the number one after the other.
  if (StartTicks(pid) != process.start_ticks) return Error{fmt::format("PID {}: no such process", pid)};
  return process;
}

std::vector<pid_t> OwnProcesses() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto pid = NumberIn<pid_t>(entry.path().filename().string());
    struct stat status {};
    if (pid <= 0 || stat(entry.path().c_str(), &status) != 0) continue;
    if (geteuid() == 0 || status.st_uid == geteuid()) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

ProcessHandle::ProcessHandle(const Process& process, Descriptor pidfd)
    : pid_(process.pid), start_ticks_(process.start_ticks), pidfd_(std::move(pidfd)) {}

Result<ProcessHandle> ProcessHandle::Open(const Process& process) {
  ProcessHandle handle(process, Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0))));
  // Checked after opening: if the number belongs to the process now, it did then.
  if (!handle.HoldsNumber()) return Error{fmt::format("PID {}: the process has exited", process.pid)};
  return handle;
}

bool ProcessHandle::HoldsNumber() const { return StartTicks(pid_) == start_ticks_; }

bool ProcessHandle::Signal(int signal) const {
  if (pidfd_.is_open()) {
    if (syscall(SYS_pidfd_send_signal, pidfd_.number(), signal, nullptr, 0) == 0) return true;
    if (errno != ENOSYS && errno != EPERM) return false;
  }
  return HoldsNumber() && kill(pid_, signal) == 0;
}

}  // namespace heaprec::tools
