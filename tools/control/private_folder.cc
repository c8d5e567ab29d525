#include "tools/control/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "tools/control/thread_user.h"
#include "tools/input/confined_open.h"

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

}  // namespace heaprec::tools
