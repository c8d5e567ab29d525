#include "tools/control/answers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

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

std::string ReadPlainFile(int folder, const std::string& name) {
  const int descriptor = openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {};
  struct stat status {};
  std::string text(kMostAnswer, '\0');
  ssize_t got = -1;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) got = read(descriptor, text.data(), text.size());
  close(descriptor);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

}  // namespace

format::Result<std::unique_ptr<Answers>> Answers::Make(const Process& process) {
  const std::string root = process.Reachable("");
  std::string path = root + "/tmp/heaprec-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return format::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  std::unique_ptr<Answers> answers(new Answers(path, path.substr(root.size())));
  answers->folder_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (answers->folder_ < 0) return format::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  if (process.uid != geteuid() && fchown(answers->folder_, process.uid, process.gid) != 0) {
    return format::Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  return answers;
}

Answers::~Answers() {
  if (folder_ >= 0) {
    for (const std::string& name : NamesIn(folder_)) unlinkat(folder_, name.c_str(), 0);
    close(folder_);
  }
  rmdir(path_.c_str());
}

std::vector<Answer> Answers::Read() const {
  std::vector<Answer> answers;
  for (const std::string& name : NamesIn(folder_)) {
    if (auto answer = ParseAnswer(ReadPlainFile(folder_, name))) answers.push_back(std::move(*answer));
  }
  return answers;
}

}  // namespace heaprec::tools
