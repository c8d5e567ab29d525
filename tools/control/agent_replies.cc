#include "tools/control/agent_replies.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/control/filesystem_user.h"

namespace heaprec::tools {
namespace {

constexpr size_t kMostAnswer = 16 << 10;

std::vector<std::string> NamesIn(int folder) {
  std::vector<std::string> names;
  DIR* const directory = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {  // NOLINT(concurrency-mt-unsafe): one thread
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(directory);
  return names;
}

// Nothing is followed: an agent that can write no content leaves its answer as the target of a link. As the process's
// user: what is a device there is none that root could open.
std::string ReadPlainFile(int folder, const std::string& name) {
  std::string text(kMostAnswer, '\0');
  ssize_t got = -1;
  const Descriptor file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() && errno == ELOOP) got = readlinkat(folder, name.c_str(), text.data(), text.size());
  struct stat status {};
  if (file.is_open() && fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    got = read(file.number(), text.data(), text.size());
  }
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string RandomName() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) < 0) random = static_cast<uint64_t>(getpid());
  return fmt::format("heaprec-{:016x}", random);
}

}  // namespace

format::Result<std::unique_ptr<Answers>> Answers::Make(const Process& process, const Descriptor& tmp) {
  std::unique_ptr<Answers> answers(new Answers(process, tmp, RandomName()));
  const std::string& name = answers->name_;
  const auto fail = [&] { return format::Error{fmt::format("/tmp/{} of the JVM: {}", name, std::strerror(errno))}; };
  const FilesystemUser user(process.uid, process.gid);
  if (!user.is_active() || mkdirat(tmp.number(), name.c_str(), 0700) != 0) return fail();
  answers->folder_ = Descriptor(openat(tmp.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!answers->folder_.is_open()) return fail();
  return answers;
}

Answers::~Answers() {
  const FilesystemUser user(user_, group_);
  if (!user.is_active() || !folder_.is_open()) return;
  for (const std::string& name : NamesIn(folder_.number())) unlinkat(folder_.number(), name.c_str(), 0);
  unlinkat(tmp_.number(), name_.c_str(), AT_REMOVEDIR);
}

std::vector<Answer> Answers::Read() const {
  const FilesystemUser user(user_, group_);
  std::vector<Answer> answers;
  if (!user.is_active()) return answers;
  for (const std::string& name : NamesIn(folder_.number())) {
    if (auto answer = ParseAnswer(ReadPlainFile(folder_.number(), name))) answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace heaprec::tools
