// The agent and the recording in another process's files; here that process is the test itself.
#include <fcntl.h>
#include <grp.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tools/control/private_folder.h"
#include "tools/control/temporary_recording.h"

namespace heaprec::tools {
namespace {

namespace fs = std::filesystem;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Scratch {
 public:
  Scratch() { REQUIRE(mkdtemp(path_.data()) != nullptr); }
  ~Scratch() { fs::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string File(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (fs::temp_directory_path() / "staging-XXXXXX").string();
};

Process Ourselves() {
  auto process = LookAt(getpid());
  REQUIRE(process.ok());
  return *process;
}

}  // namespace

TEST_CASE("A staged agent is an identical copy in its own folder, which is removed with it") {
  const Scratch scratch;
  std::string bytes(300'000, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 24);
  const std::string agent = scratch.File("libheaprec.so", bytes);
  std::string folder;
  {
    auto staged = StageAgent(Ourselves(), agent);
    REQUIRE(staged.ok());
    folder = (*staged)->path();
    CHECK(Contents(folder + "/libheaprec.so") == bytes);
    CHECK(IsInPrivateFolder(folder + "/libheaprec.so"));
    struct stat status {};
    REQUIRE(stat(folder.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("The error for a missing agent lists each place, and nothing is left") {
  const auto staged = StageAgent(Ourselves(), "/nowhere/libheaprec.so");
  REQUIRE_FALSE(staged.ok());
  CHECK(staged.error().message.find("/tmp: /nowhere/libheaprec.so: No such file") != std::string::npos);
  CHECK(staged.error().message.find("/var/tmp: ") != std::string::npos);
}

TEST_CASE("Names of private folders are recognised") {
  CHECK(IsInPrivateFolder("/tmp/heaprec-0123456789abcdef/libheaprec.so"));
  CHECK_FALSE(IsInPrivateFolder("/tmp/heaprec-0123456789abcdeg/libheaprec.so"));
  CHECK_FALSE(IsInPrivateFolder("/tmp/heaprec-0123/libheaprec.so"));
  CHECK_FALSE(IsInPrivateFolder("/opt/heaprec/libheaprec.so"));
  CHECK_FALSE(IsInPrivateFolder(""));
}

TEST_CASE("Access checks for a user leave no trace") {
  const Scratch scratch;
  const Process process = Ourselves();
  CHECK(CanWriteIn(process, scratch.path()));
  CHECK_FALSE(CanWriteIn(process, scratch.path() + "/absent"));
  CHECK(fs::is_empty(scratch.path()));
  const std::string file = scratch.File("file", "x");
  CHECK(CanRead(process, file));
  if (geteuid() != 0) return;
  Process nobody = process;
  static_cast<Credentials&>(nobody) = {.uid = 65534, .gid = 65534, .groups = {}};  // the folder is 0700 and root's
  CHECK_FALSE(CanWriteIn(nobody, scratch.path()));
  CHECK_FALSE(CanRead(nobody, file));
  CHECK(CanWriteIn(process, scratch.path()));  // we are ourselves again
}

TEST_CASE("The access of another user depends on that user's supplementary groups, not on ours") {
  if (geteuid() != 0) return;
  constexpr gid_t kOurs = 4242, kTheirs = 4243;
  const Scratch scratch;
  const std::string file = scratch.File("file", "x");
  CHECK(chmod(file.c_str(), 0640) == 0);
  CHECK(chmod(scratch.path().c_str(), 0770) == 0);
  Process nobody = Ourselves();
  static_cast<Credentials&>(nobody) = {.uid = 65534, .gid = 65534, .groups = {kTheirs}};
  std::vector<gid_t> before(static_cast<size_t>(getgroups(0, nullptr)));
  REQUIRE(getgroups(static_cast<int>(before.size()), before.data()) == static_cast<int>(before.size()));
  if (setgroups(1, &kOurs) != 0) return;  // a user namespace that denies it
  for (const gid_t group : {kOurs, kTheirs}) {
    REQUIRE(chown(scratch.path().c_str(), 0, group) == 0);
    REQUIRE(chown(file.c_str(), 0, group) == 0);
    CHECK(CanWriteIn(nobody, scratch.path()) == (group == kTheirs));
    CHECK(CanRead(nobody, file) == (group == kTheirs));
  }
  gid_t now = 0;
  CHECK(getgroups(1, &now) == 1);
  CHECK(now == kOurs);
  CHECK(setgroups(before.size(), before.data()) == 0);
}

TEST_CASE("C libraries that cannot load the agent are named") {
  const Scratch scratch;
  Process process = Ourselves();
  CHECK_FALSE(process.libc.empty());
  CHECK(WhyNoAgent(process) == std::nullopt);
  process.libc = "/lib/ld-musl-x86_64.so.1";
  CHECK(WhyNoAgent(process).value().find("musl") != std::string::npos);
  const auto with = [&](const std::string& text) {
    process.libc = scratch.File("libc.so.6", text);
    return WhyNoAgent(process);
  };
  const std::string filler(70'000, '\0');
  const std::string sentence = "GNU C Library (Debian EGLIBC 2.11.3-4) stable release version 2.11.3, by R. McGrath.\n";
  CHECK(with(filler + sentence).value() == "the JVM uses glibc 2.11; the agent needs glibc 2.17 or later");
  for (size_t before = 65'536 - sentence.size(); before < 65'536; before += 7) {  // across the pieces that are read
    CHECK(with(std::string(before, '\0') + sentence).has_value());
  }
  CHECK(with("GNU C Library (GNU libc) stable release version 2.17, by Roland McGrath.\n") == std::nullopt);
  CHECK(with("GNU C Library (Debian GLIBC 3.0-1) release version 3.0.\n") == std::nullopt);
  CHECK(with("nothing of the kind") == std::nullopt);
  process.libc = scratch.path() + "/absent";
  CHECK(WhyNoAgent(process) == std::nullopt);
}

// It may be endless, and costs its owner nothing where it has holes.
TEST_CASE("A C library is read only as far as necessary") {
  const Scratch scratch;
  Process process = Ourselves();
  const std::string sentence = "GNU C Library (GNU libc) stable release version 2.11, by Roland McGrath.\n";
  process.libc = scratch.File("libc.so.6", "");
  const auto with_sentence_at = [&](uintmax_t offset) {
    fs::resize_file(process.libc, 0);
    fs::resize_file(process.libc, offset);
    std::ofstream(process.libc, std::ios::app) << sentence;
    return WhyNoAgent(process);
  };
  CHECK(with_sentence_at(uintmax_t{60} << 20).has_value());
  CHECK(with_sentence_at(uintmax_t{65} << 20) == std::nullopt);
  CHECK(with_sentence_at(uintmax_t{1} << 40) == std::nullopt);
}

TEST_CASE("Nothing is written to the files of a process that got another one's id") {
  Process process = Ourselves();
  process.start_ticks -= 1;
  const auto staged = StageOutput(process);
  REQUIRE_FALSE(staged.ok());
  CHECK(staged.error().message.find("/tmp: the process has exited") != std::string::npos);
}

TEST_CASE("A relay waits until its recording is complete") {
  const auto relay = RecordingRelay::Make(Ourselves());
  REQUIRE(relay.ok());
  int polls = 0;
  {
    const Descriptor file(open((*relay)->path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(write(file.number(), "recorded", 8) == 8);
    CHECK_FALSE((*relay)->Wait([&] { return ++polls > 6; }));  // more than idle polls
  }
  CHECK((*relay)->Wait([] { return false; }));
  const Descriptor recording = (*relay)->Recording();
  REQUIRE(recording.is_open());
  std::string text(8, '\0');
  CHECK(read(recording.number(), text.data(), text.size()) == 8);
  CHECK(text == "recorded");
}

// Whether `open` opens what is there, be it for a moment.
template <typename Open>
bool IsOpenedBy(const std::string& path, const Open& open) {
  const Descriptor watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  REQUIRE(inotify_add_watch(watch.number(), path.c_str(), IN_OPEN) >= 0);
  open();
  inotify_event event{};
  return read(watch.number(), &event, sizeof event) > 0;
}

// A device may do something when it is opened, and root of a container may have made one.
TEST_CASE("A relay reads only regular files") {
  auto relay = RecordingRelay::Make(Ourselves());
  REQUIRE(relay.ok());
  std::ofstream((*relay)->path()) << "recorded";
  CHECK(IsOpenedBy((*relay)->path(), [&] { CHECK((*relay)->Recording().is_open()); }));
  // Before Linux 6.10 inotify tells of O_PATH, too, which opens no device.
  const bool tells_of_paths =
      IsOpenedBy((*relay)->path(), [&] { const Descriptor place(open((*relay)->path().c_str(), O_PATH | O_CLOEXEC)); });
  REQUIRE(unlink((*relay)->path().c_str()) == 0);
  REQUIRE(symlink("/etc/passwd", (*relay)->path().c_str()) == 0);
  CHECK_FALSE((*relay)->Recording().is_open());
  REQUIRE(unlink((*relay)->path().c_str()) == 0);
  REQUIRE(mkfifo((*relay)->path().c_str(), 0600) == 0);
  const bool is_opened = IsOpenedBy((*relay)->path(), [&] { CHECK_FALSE((*relay)->Recording().is_open()); });
  CHECK((tells_of_paths || !is_opened));
}

}  // namespace heaprec::tools
