// heaprec, run as root, and a process of another user that behaves as a JVM does, as far as it suits it.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kUnreadable = 3, kCannotAttach = 5;
constexpr off_t kHuge = off_t{8} << 40;         // of a file that takes no space
constexpr const char* kMagic = "\x89HRFILE\n";  // the first bytes of a recording
constexpr const char* kAllIsWell = "0\nreturn code: 0\n";

bool CanActAsTwoUsers() {
  if (geteuid() == 0) return true;
  WARN("skipped: needs root, to be two users");
  return false;
}

int Create(const std::string& path) { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); }

// Once a JVM opens its socket, it is asked through that.
int Listen(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool listens = bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                       listen(socket, 8) == 0 && chmod(path.c_str(), 0666) == 0;
  return listens ? socket : -1;
}

void Send(int socket, const std::string& text) { (void)!send(socket, text.data(), text.size(), MSG_NOSIGNAL); }

// Of an agent's options.
std::string Option(const std::string& options, const std::string& name) {
  const size_t at = options.find("," + name + "=");
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size() + 2;
  return options.substr(begin, options.find(',', begin) - begin);
}

// A process of another user that has mapped libjvm.so and an agent, and handles SIGQUIT. What it does is said by the
// functions, which run in there.
class HostileJvm {
 public:
  struct Ways {
    std::function<void()> at_start = [] {};
    // Answers a request, "start,..." or "stop,...". None: the process opens no socket.
    std::function<void(int socket, const std::string& options)> answer = {};
    int quits = 0;  // before it opens its socket
  };

  explicit HostileJvm(const Ways& ways) {
    REQUIRE(mkdtemp(folder_.data()) != nullptr);
    REQUIRE(chmod(folder_.c_str(), 0777) == 0);
    REQUIRE(pipe2(told_.data(), O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) Play(ways);
    REQUIRE(WaitToBeTold() == "ready");
  }
  ~HostileJvm() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    unlink(SocketOf(pid_).c_str());
    for (const std::string& folder : {folder_, relay_, replies_}) {
      if (!folder.empty()) std::filesystem::remove_all(folder);
    }
    for (const int end : told_) close(end);
  }
  HostileJvm(const HostileJvm&) = delete;
  HostileJvm& operator=(const HostileJvm&) = delete;

  std::string pid() const { return std::to_string(pid_); }
  // Once it has been asked to start a recording.
  void WaitForStart() {
    relay_ = std::filesystem::path(WaitToBeTold()).parent_path();
    replies_ = std::filesystem::path(WaitToBeTold()).parent_path();
    for (const std::string& folder : {relay_, replies_}) REQUIRE(folder.find("/heaprec-") != std::string::npos);
  }
  void WaitForQuit() const { REQUIRE(WaitToBeTold() == "quit"); }

 private:
  static std::string SocketOf(pid_t pid) { return "/tmp/.java_pid" + std::to_string(pid); }

  std::string WaitToBeTold() const {
    std::string line;
    for (char next = 0; read(told_[0], &next, 1) == 1 && next != '\n';) line += next;
    return line;
  }
  static inline int teller = -1;
  static inline volatile std::sig_atomic_t quits = 0;
  static void Tell(const std::string& line) { (void)!write(teller, (line + "\n").c_str(), line.size() + 1); }

  void Map(const std::string& name) const {
    const int file = Create(folder_ + "/" + name);
    if (ftruncate(file, 4096) != 0 || mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED) _exit(1);
    close(file);
  }

  [[noreturn]] void Play(const Ways& ways) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    teller = told_[1];
    if (chdir(folder_.c_str()) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
    prctl(PR_SET_DUMPABLE, 1);  // as every program is that has not changed its user
    std::signal(SIGQUIT, [](int) {
      quits = quits + 1;
      Tell("quit");
    });
    Map("libjvm.so");
    Map("libheaprec.so");
    ways.at_start();
    int listener = ways.answer && ways.quits == 0 ? Listen(SocketOf(getpid())) : -1;
    Tell("ready");
    for (;;) {
      if (listener < 0 && ways.answer && quits >= ways.quits) listener = Listen(SocketOf(getpid()));
      const int socket = listener >= 0 ? accept4(listener, nullptr, nullptr, SOCK_CLOEXEC) : -1;
      if (listener < 0) usleep(10'000);
      if (socket >= 0) Serve(socket, ways);
    }
  }

  // Version, command and three arguments, each ended by a zero.
  static void Serve(int socket, const Ways& ways) {
    std::string text;
    for (char next = 0; std::count(text.begin(), text.end(), '\0') < 5 && read(socket, &next, 1) == 1;) text += next;
    const std::string options = text.substr(text.rfind('\0', text.size() - 2) + 1);
    if (options.starts_with("start,")) Tell(Option(options, "file") + "\n" + Option(options, "reply"));
    ways.answer(socket, options);
    close(socket);
  }

  pid_t pid_ = -1;
  std::string folder_ = "/tmp/heaprec-test-XXXXXX";
  std::string relay_, replies_;  // that a killed attach leaves
  std::array<int, 2> told_{-1, -1};
};

// To a place where the other user cannot write, so that the recording is brought from its files.
Command AttachTo(const HostileJvm& jvm, const std::string& to, const std::string& timeout) {
  return HeaprecCommand({"attach", jvm.pid(), "-o", to, "--timeout", timeout});
}

void CheckRefusal(const Outcome& outcome, const std::string& says) {
  INFO(outcome.err);
  CHECK(outcome.exit_code == kCannotAttach);
  CHECK(outcome.err.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("An endless reply does not block, and a second Ctrl-C ends attach at once") {
  if (!CanActAsTwoUsers()) return;
  HostileJvm jvm({.answer = [](int socket, const std::string&) {
    for (;;) {
      Send(socket, "0");
      usleep(100'000);
    }
  }});
  const std::string out = FreshFolder() + "/rec.hrec";
  SECTION("the timeout is that of the whole reply") {
    Process attach(AttachTo(jvm, out, "1"));
    jvm.WaitForStart();
    CheckRefusal(attach.Finish(), "no answer within 1 s");
  }
  SECTION("Ctrl-C, again and again") {
    Process attach(AttachTo(jvm, out, "3600"));
    jvm.WaitForStart();
    for (int i = 0; i < 20; ++i) {
      attach.Kill(SIGINT);
      usleep(50'000);
    }
    CHECK(attach.Finish().signal == SIGINT);
  }
  CHECK_FALSE(FileExists(out));
}

TEST_CASE("Ctrl-C ends attach while a JVM does not open its socket") {
  if (!CanActAsTwoUsers()) return;
  const HostileJvm jvm({});
  Process attach(AttachTo(jvm, FreshFolder() + "/rec.hrec", "3600"));
  jvm.WaitForQuit();
  attach.Kill(SIGINT);
  CheckRefusal(attach.Finish(), "interrupted before the JVM opened its attach socket; the agent was not loaded");
  CHECK_FALSE(FileExists("/tmp/.attach_pid" + jvm.pid()));
}

// As the agent does.
void Reply(const std::string& options, const std::string& text) {
  const int file = Create(Option(options, "reply"));
  (void)!write(file, text.data(), text.size());
  close(file);
}

TEST_CASE("A JVM that missed the first signal during its start gets another one") {
  if (!CanActAsTwoUsers()) return;
  const HostileJvm jvm({.answer =
                            [](int socket, const std::string& options) {
                              Reply(options, "error\nheard\n");
                              Send(socket, "0\nreturn code: 1\n");
                            },
                        .quits = 2});
  CheckRefusal(Run(AttachTo(jvm, FreshFolder() + "/rec.hrec", "4")), "the agent reported: heard");
}

TEST_CASE("attach repeats its request until a starting JVM accepts agents, or until the timeout") {
  if (!CanActAsTwoUsers()) return;
  const auto says = [](int refusals) {
    return [left = refusals](int socket, const std::string& options) mutable {
      Reply(options, left-- > 0 ? "starting\nthe JVM is still starting\n" : "error\nheard\n");
      Send(socket, "0\nreturn code: 1\n");
    };
  };
  const HostileJvm soon({.answer = says(3)}), never({.answer = says(1'000'000)});
  CheckRefusal(Run(AttachTo(soon, FreshFolder() + "/rec.hrec", "10")), "the agent reported: heard");
  CheckRefusal(Run(AttachTo(never, FreshFolder() + "/rec.hrec", "1")), "the JVM is still starting; retry, or raise");
}

TEST_CASE("A recording that a JVM writes after its end is not moved") {
  if (!CanActAsTwoUsers()) return;
  HostileJvm jvm({.answer = [](int socket, const std::string& options) {
    const std::string file = Option(options, "file");
    if (!file.empty()) (void)Create(file);  // and is not closed
    Send(socket, kAllIsWell);
  }});
  const std::string out = FreshFolder() + "/rec.hrec";
  Process attach(AttachTo(jvm, out, "2"));
  jvm.WaitForStart();
  attach.Kill(SIGINT);
  CheckRefusal(attach.Finish(),
               "the JVM was still writing the recording 2 s after the stop (raise --timeout); the recording is in the "
               "JVM's own files, at /");
  CHECK_FALSE(FileExists(out));
}

TEST_CASE("Other files that a JVM leaves in place of a recording are not copied") {
  if (!CanActAsTwoUsers()) return;
  const auto [begins, says] =
      GENERATE(std::pair(kMagic, "the file is sparse"), std::pair("", "not a heaprec recording"));
  HostileJvm jvm({.answer = [text = std::string(begins)](int socket, const std::string& options) {
    const int file = Create(Option(options, "file"));
    if (write(file, text.data(), text.size()) < 0 || ftruncate(file, kHuge) != 0) _exit(1);
    close(file);
    Send(socket, kAllIsWell);
  }});
  const std::string out = FreshFolder() + "/rec.hrec";
  Command command = AttachTo(jvm, out, "10");
  command.largest_file_bytes = 1 << 20;
  Process attach(command);
  jvm.WaitForStart();
  const Outcome outcome = attach.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == kUnreadable);
  CHECK(outcome.err.find(says) != std::string::npos);
  CHECK_FALSE(FileExists(out));
}

TEST_CASE("Huge sparse open files do not delay list and status") {
  if (!CanActAsTwoUsers()) return;
  const HostileJvm jvm({.at_start = [] {
    for (const char* name : {"a.hrec", "b.hrec"}) {
      const int file = Create(name);
      if (*name == 'b') (void)!write(file, kMagic, std::strlen(kMagic));
      if (ftruncate(file, kHuge) != 0) _exit(1);
    }
  }});
  const Outcome list = Run(HeaprecCommand({"list"}));
  CHECK(list.exit_code == 0);
  INFO(list.out);
  CHECK(list.out.find(jvm.pid() + " ") != std::string::npos);
  CHECK(Run(HeaprecCommand({"status", jvm.pid()})).exit_code == 0);
}

}  // namespace heaprec::testing
