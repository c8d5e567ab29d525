// A folder of the test plays the root of a container, its owner an attacker.
#include "tools/input/confined_open.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace heaprec::tools {
namespace {

namespace fs = std::filesystem;

class Container {
 public:
  Container() : path_(fs::path(getenv("TEST_TMPDIR")) / ("container-" + std::to_string(++containers_))) {
    fs::create_directories(path_ / "root/tmp");
    fs::create_directories(path_ / "outside");
    std::ofstream(path_ / "outside/secret") << "outside";
    std::ofstream(path_ / "root/tmp/file") << "inside";
  }
  ~Container() { fs::remove_all(path_); }
  std::string root() const { return path_ / "root"; }
  std::string outside() const { return path_ / "outside"; }
  void Link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, path_ / "root" / name);
  }

 private:
  static inline int containers_ = 0;
  const fs::path path_;
};

std::string TextOf(const Descriptor& file) {
  std::array<char, 64> text;
  const ssize_t got = file.is_open() ? read(file.number(), text.data(), text.size()) : 0;
  return {text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
}

std::string ReadIn(const Container& container, const std::string& path) {
  return TextOf(OpenRegularBelow(container.root(), path));
}

bool ForbidOpenat2(int error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Whether `check` holds in a process that has no openat2.
template <typename Check>
bool HoldsWithoutOpenat2(int error, const Check& check) {
  const pid_t child = fork();
  if (child == 0) _exit(ForbidOpenat2(error) && check() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

TEST_CASE("Links of all kinds are resolved within the container") {
  const Container container;
  container.Link("/tmp", "absolute");
  container.Link("../../../../../../../../tmp", "relative");
  container.Link(container.outside(), "away");
  container.Link("../../outside", "tmp/up");
  container.Link("/proc/self/root", "magic");
  CHECK(ReadIn(container, "/tmp/file") == "inside");
  CHECK(ReadIn(container, "/absolute/file") == "inside");
  CHECK(ReadIn(container, "/relative/file") == "inside");
  CHECK(ReadIn(container, "/../../tmp/file") == "inside");
  for (const std::string path : {"/away/secret", "/tmp/up/secret", "/tmp/../../outside/secret"}) {
    CHECK(ReadIn(container, path).empty());
    CHECK(errno == ENOENT);
  }
  CHECK_FALSE(OpenRegularBelow(container.root(), "/magic" + container.outside() + "/secret").is_open());
  // A kernel's own link is refused even where there is one.
  CHECK_FALSE(OpenBelow("/", "/proc/self/root/etc/passwd", O_RDONLY).is_open());
  CHECK(errno == ELOOP);
  CHECK(TextOf(OpenRegularBelow("", container.outside() + "/secret")) == "outside");  // our own root
}

TEST_CASE("A folder that is replaced by a link repeatedly never leads out") {
  const Container container;
  fs::create_directory(container.root() + "/swapped");
  std::ofstream(container.root() + "/swapped/secret") << "inside";
  container.Link(container.outside(), "link");
  std::atomic<bool> ends{false};
  std::thread attacker([&] {
    const std::string folder = container.root() + "/swapped", link = container.root() + "/link";
    while (!ends) renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  });
  int inside = 0, outside = 0;
  const auto look = [&] {
    const std::string text = ReadIn(container, "/swapped/secret");
    inside += text == "inside" ? 1 : 0;
    outside += text == "outside" ? 1 : 0;
  };
  for (int i = 0; i < 3000; ++i) look();
  for (int i = 0; i < 100'000 && inside == 0; ++i) look();  // the attack has to be one
  ends = true;
  attacker.join();
  CHECK(outside == 0);
  CHECK(inside > 0);
}

TEST_CASE("Only regular files are opened for reading") {
  const Container container;
  const std::string tmp = container.root() + "/tmp/";
  REQUIRE(mkfifo((tmp + "fifo").c_str(), 0600) == 0);
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string relative = "heaprec-test-socket";
  std::memcpy(address.sun_path, relative.c_str(), relative.size());
  fs::current_path(tmp);  // the path of a socket is short
  REQUIRE(bind(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  for (const std::string path : {"/tmp/fifo", "/tmp/heaprec-test-socket", "/tmp"}) {
    INFO(path);
    CHECK_FALSE(OpenRegularBelow(container.root(), path).is_open());
    CHECK(errno == EINVAL);
  }
  CHECK_FALSE(OpenRegularBelow("/", "/dev/null").is_open());
  CHECK(errno == EINVAL);
  fs::current_path("/");
}

TEST_CASE("Without openat2 paths without links are opened, and links are refused") {
  const Container container;
  container.Link("file", "tmp/last");
  container.Link("tmp", "first");
  for (const int error : {ENOSYS, EPERM}) {
    const auto refuses = [&](const std::string& path) {
      return !OpenRegularBelow(container.root(), path).is_open() && errno == ELOOP;
    };
    CHECK(HoldsWithoutOpenat2(error, [&] { return ReadIn(container, "/tmp/file") == "inside"; }));
    CHECK(HoldsWithoutOpenat2(error, [&] { return refuses("/tmp/last"); }));
    CHECK(HoldsWithoutOpenat2(error, [&] { return refuses("/first/file"); }));
    CHECK(HoldsWithoutOpenat2(error, [&] { return refuses("/tmp/../../outside/secret"); }));
  }
}

// The kernel keeps an open that may wait for 45 s, then opens the file.
TEST_CASE("Opening does not wait for a file with a lease") {
  const Container container;
  REQUIRE(std::signal(SIGIO, SIG_IGN) != SIG_ERR);  // asks the holder to give the lease up
  const Descriptor holder(open((container.root() + "/tmp/file").c_str(), O_RDWR | O_CLOEXEC));
  if (fcntl(holder.number(), F_SETLEASE, F_WRLCK) != 0) {
    WARN("no leases here: " << std::strerror(errno));
    return;
  }
  CHECK_FALSE(OpenRegularBelow(container.root(), "/tmp/file").is_open());
  CHECK(errno == EWOULDBLOCK);
  REQUIRE(fcntl(holder.number(), F_SETLEASE, F_UNLCK) == 0);
  CHECK(ReadIn(container, "/tmp/file") == "inside");
}

TEST_CASE("A file that must belong to a user is not opened if it is another's, or a link") {
  const Container container;
  const std::string file = container.root() + "/tmp/file";
  CHECK(TextOf(OpenRegularOf(geteuid(), file)) == "inside");
  CHECK_FALSE(OpenRegularOf(geteuid() + 1, file).is_open());
  CHECK(errno == EPERM);
  container.Link("tmp/file", "link");
  CHECK_FALSE(OpenRegularOf(geteuid(), container.root() + "/link").is_open());
  CHECK(errno == EINVAL);
}

}  // namespace heaprec::tools
