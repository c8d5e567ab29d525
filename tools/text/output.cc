#include "tools/text/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

constexpr mode_t kMode = 0666;  // before applying the umask

Error Sentence(const std::string& path) { return Error{fmt::format("{}: {}", path, std::strerror(errno))}; }

Error Exists(const std::string& path) { return Error{path + ": already exists; use -f to overwrite it"}; }

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

void Output::Flush() {
  size_t done = 0;
  while (error_ == 0 && done < text_.size()) {
    const ssize_t now = write(descriptor_, text_.data() + done, text_.size() - done);
    if (now >= 0) {
      done += static_cast<size_t>(now);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  text_.clear();
}

ExitCode Output::status() const { return error_ == 0 || error_ == EPIPE ? ExitCode::kOk : ExitCode::kCannotWrite; }

ExitCode Output::Report(const std::string& name) const {
  if (status() != ExitCode::kOk) PrintError(fmt::format("{}: {}", name, std::strerror(error_)));
  return status();
}

Result<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path, bool overwrite) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, overwrite));
  if (path == "-") {
    file->descriptor_ = STDOUT_FILENO;
  } else {
    struct stat status {};
    const bool exists = stat(path.c_str(), &status) == 0;
    if (exists && S_ISREG(status.st_mode) && !overwrite) return Exists(path);
    const bool direct = exists && !S_ISREG(status.st_mode);
    if (const Status opened = direct ? file->OpenDirect() : file->OpenNew(); !opened) return opened.error();
  }
  file->output_.emplace(file->descriptor_);
  return file;
}

Status OutputFile::OpenDirect() {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) return Sentence(path_);
  return {};
}

Status OutputFile::OpenNew() {
  way_ = Way::kUnnamed;
  descriptor_ = open(DirectoryOf(path_).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode);
  if (descriptor_ >= 0) return {};
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return Sentence(path_);
  way_ = Way::kBeside;
  beside_ = fmt::format("{}.heaprec-{}", path_, getpid());
  descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (descriptor_ >= 0) return {};
  beside_.clear();
  return Sentence(path_);
}

OutputFile::~OutputFile() {
  if (!beside_.empty()) unlink(beside_.c_str());
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) close(descriptor_);
}

bool OutputFile::Link(const std::string& to) const {
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
  return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

bool OutputFile::Place() {
  if (way_ == Way::kUnnamed) {
    if (Link(path_)) return true;
    if (errno != EEXIST || !overwrite_) return false;
    const std::string name = fmt::format("{}.heaprec-{}", path_, getpid());
    if (!Link(name)) return false;
    beside_ = name;
  }
  const bool placed = overwrite_ ? std::rename(beside_.c_str(), path_.c_str()) == 0
                                 : renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
  if (placed) beside_.clear();
  return placed;
}

Status OutputFile::Commit() {
  if (way_ == Way::kDirect || Place()) return {};
  return errno == EEXIST ? Exists(path_) : Sentence(path_);
}

std::optional<ExitCode> OutputFile::Finish() {
  output_->Flush();
  const ExitCode written = output_->Report(path_ == "-" ? "standard output" : path_);
  if (written != ExitCode::kOk || output_->failed()) return written;
  if (const Status committed = Commit(); !committed) return Fail(ExitCode::kCannotWrite, committed.error().message);
  return std::nullopt;
}

ExitCode WriteFile(const std::string& path, bool overwrite, std::string_view text) {
  const auto file = OutputFile::Open(path, overwrite);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  (*file)->output().Append(text);
  return (*file)->Finish().value_or(ExitCode::kOk);
}

bool IsOneOf(const std::string& output, const std::vector<std::string>& inputs) {
  return output != "-" && std::ranges::any_of(inputs, [&](const std::string& input) {
           std::error_code error;
           return std::filesystem::equivalent(output, input == "-" ? "/dev/stdin" : input, error) && !error;
         });
}

std::string TemporaryPattern() {
  const char* const directory = std::getenv("TMPDIR");
  return std::string(directory != nullptr && *directory != '\0' ? directory : "/tmp") + "/heaprec-XXXXXX";
}

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Make() {
  std::string path = TemporaryPattern();
  if (mkdtemp(path.data()) == nullptr) return Error{path + ": " + std::strerror(errno)};
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace heaprec::tools
