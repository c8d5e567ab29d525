// However a JVM ends, its recording holds what was committed to the last event, and the program's output is its own.
//
// The last object of e2e.Ends is of 4 MiB and allocated at once before the end. At the rate used it is kept with
// 1 - exp(-lambda size), lambda size > 40 as in crash_test: missing by chance with probability < 1e-17.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr uint64_t kLastSize = 4 << 20;
constexpr const char* kRate = "20000";

struct Ended {
  std::string folder;
  pid_t pid = 0;
  Outcome outcome;
};

Command EndsCommand(const std::string& folder, const std::vector<std::string>& args,
                    const std::vector<std::string>& flags = {}) {
  Java java{.flags = {"-XX:-CreateCoredumpOnCrash"}, .main = "e2e.Ends", .args = args};
  java.flags.insert(java.flags.end(), flags.begin(), flags.end());
  java.agent_options = std::string("file=rec.bin,rate=") + kRate;
  Command command = CommandOf(java);
  command.folder = folder;
  return command;
}

// Runs e2e.Ends; `signal` is sent once it waits.
Ended RunEnds(const std::vector<std::string>& args, const std::vector<std::string>& flags = {}, int signal = 0) {
  Ended ended{FreshFolder(), 0, {}};
  Process process(EndsCommand(ended.folder, args, flags));
  ended.pid = process.pid();
  if (signal != 0) {
    REQUIRE(process.WaitForOutput("running"));
    process.Kill(signal);
  }
  ended.outcome = process.Finish();
  return ended;
}

// "jvm exit": the agent wrote an ending. "cut off": the rest is in the ring.
void RequireLast(const Ended& ended, const std::string& how) {
  const Rows rows = ReadRows(ended.folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.summary["ended"] == how);
  const auto last = rows.Where([](const Row& row) { return row.size == kLastSize; });
  REQUIRE(last.size() == 1);
  CHECK(last.front().stack.find(";e2e.Ends.last:") != std::string::npos);
  CHECK(last.front().class_name == "byte[]");
  for (const char* reason : {"ring_full", "lanes_busy", "oversized", "write_failed"}) CHECK(rows.Lost(reason) == 0);
  CHECK(RingsOf(ended.pid).size() == (how == "cut off" ? 1 : 0));
  RemoveRingsOf(ended.pid);
}

void RequireSilent(const Ended& ended, int exit_code) {
  CHECK(ended.outcome.exit_code == exit_code);
  CHECK(ended.outcome.signal == 0);
  CHECK(ended.outcome.out.empty());
  CHECK(ended.outcome.err.empty());
}

bool Mentions(const std::string& text) { return text.find("heaprec: ") != std::string::npos; }

}  // namespace

TEST_CASE("System.exit, Runtime.halt and the end of main beside a daemon end the recording properly") {
  for (const auto& [way, code] : {std::pair{"exit", 7}, {"halt", 8}, {"daemon", 0}}) {
    INFO(way);
    const Ended ended = RunEnds({way});
    RequireSilent(ended, code);
    RequireLast(ended, "jvm exit");
  }
}

TEST_CASE("An uncaught OutOfMemoryError, the program's or the heap's, ends the recording properly") {
  for (const char* way : {"throw", "exhaust"}) {
    INFO(way);
    const Ended ended = RunEnds({way}, {"-Xmx64m"});
    CHECK(ended.outcome.exit_code == 1);
    CHECK(ended.outcome.out.empty());
    CHECK(ended.outcome.err.find("java.lang.OutOfMemoryError") != std::string::npos);
    CHECK_FALSE(Mentions(ended.outcome.err));
    RequireLast(ended, "jvm exit");
  }
}

TEST_CASE("SIGTERM ends the recording properly") {
  const Ended ended = RunEnds({"wait"}, {}, SIGTERM);
  CHECK(ended.outcome.exit_code == 128 + SIGTERM);
  CHECK(ended.outcome.out == "running\n");
  CHECK(ended.outcome.err.empty());
  RequireLast(ended, "jvm exit");
}

TEST_CASE("ExitOnOutOfMemoryError and CrashOnOutOfMemoryError leave the rest in the ring") {
  const Ended exited = RunEnds({"exhaust"}, {"-Xmx64m", "-XX:+ExitOnOutOfMemoryError"});
  CHECK(exited.outcome.exit_code == 3);
  CHECK_FALSE(Mentions(exited.outcome.err));
  RequireLast(exited, "cut off");
  const Ended crashed = RunEnds({"exhaust"}, {"-Xmx64m", "-XX:+CrashOnOutOfMemoryError"});
  CHECK(crashed.outcome.exit_code == 1);  // without a core file the JVM exits
  CHECK_FALSE(Mentions(crashed.outcome.out + crashed.outcome.err));
  CHECK(FileExists(crashed.folder + "/hs_err_pid" + std::to_string(crashed.pid) + ".log"));
  RequireLast(crashed, "cut off");
}

TEST_CASE("SIGSEGV gets its hs_err file, and the recording what was committed") {
  const Ended ended = RunEnds({"wait"}, {}, SIGSEGV);
  CHECK(ended.outcome.exit_code == 1);
  CHECK_FALSE(Mentions(ended.outcome.out + ended.outcome.err));
  const std::string report = ReadFile(ended.folder + "/hs_err_pid" + std::to_string(ended.pid) + ".log");
  CHECK(report.find("SIGSEGV") != std::string::npos);
  CHECK(report.find("END.") != std::string::npos);  // written to its end
  RequireLast(ended, "cut off");
}

TEST_CASE("An agent in JAVA_TOOL_OPTIONS records, and the JVM prints its own line only") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.Ends", .args = {"exit"}});
  command.folder = folder;
  command.environment = {"JAVA_TOOL_OPTIONS=-agentpath:" + AgentPath() + "=file=rec.bin,rate=" + kRate};
  Process process(command);
  const Ended ended{folder, process.pid(), process.Finish()};
  CHECK(ended.outcome.exit_code == 7);
  CHECK(ended.outcome.out.empty());
  CHECK(ended.outcome.err.starts_with("Picked up JAVA_TOOL_OPTIONS: "));
  CHECK(std::count(ended.outcome.err.begin(), ended.outcome.err.end(), '\n') == 1);
  RequireLast(ended, "jvm exit");
}

TEST_CASE("A JVM that a recorded one starts is not recorded, and neither disturbs the other") {
  const std::string folder = FreshFolder();
  Process process(EndsCommand(folder, {"child", JavaHome() + "/bin/java", "-cp", ProgramsJar(), "e2e.Ends", "exit"}));
  const Ended ended{folder, process.pid(), process.Finish()};
  CHECK(ended.outcome.exit_code == 0);
  CHECK(ended.outcome.out == "child 7\n");
  CHECK(ended.outcome.err.empty());
  RequireLast(ended, "jvm exit");  // one object of that size: the child's is not among them
  const std::filesystem::directory_iterator files(folder);
  CHECK(std::count_if(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".bin"; }) ==
        1);
}

// With a folder that holds copies of what is needed: the build's own folders may be closed to others.
class Stranger {
 public:
  Stranger() {
    REQUIRE(mkdtemp(folder_.data()) != nullptr);
    std::filesystem::copy_file(AgentPath(), folder_ + "/libheaprec.so");
    std::filesystem::copy_file(ProgramsJar(), folder_ + "/programs.jar");
    std::filesystem::create_directory(folder_ + "/out");
    CHECK(chmod(folder_.c_str(), 0755) == 0);
    CHECK(chmod((folder_ + "/out").c_str(), 0777) == 0);
  }
  ~Stranger() { std::filesystem::remove_all(folder_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  const std::string& folder() const { return folder_; }

  // In "/", where only root may create files; as nobody, if we are root.
  Command CommandWith(const std::string& options) const {
    Command command;
    if (geteuid() == 0) command.args = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    const std::vector<std::string> java{JavaHome() + "/bin/java",
                                        "-Xmx200m",
                                        "-agentpath:" + folder_ + "/libheaprec.so=" + options,
                                        "-cp",
                                        folder_ + "/programs.jar",
                                        "e2e.Ends",
                                        "exit"};
    command.args.insert(command.args.end(), java.begin(), java.end());
    command.folder = "/";
    return command;
  }

 private:
  std::string folder_ = "/tmp/heaprec-test-XXXXXX";
};

TEST_CASE("A user without rights in a folder that is closed to him is told once, and records elsewhere") {
  if (geteuid() == 0 && !IsOpenToOthers(JavaHome())) {
    WARN(JavaHome() << " is closed to other users");
    return;
  }
  const Stranger stranger;
  const Outcome refused = Run(stranger.CommandWith("rate=100"));
  CHECK(refused.exit_code == 7);
  CHECK(refused.out.empty());
  CHECK(refused.err.starts_with("heaprec: not recording: heaprec-"));
  CHECK(refused.err.find("Permission denied") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);

  Process process(stranger.CommandWith("rate=20000,file=" + stranger.folder() + "/out/rec.bin"));
  const Ended ended{stranger.folder() + "/out", process.pid(), process.Finish()};
  RequireSilent(ended, 7);
  RequireLast(ended, "jvm exit");
}

TEST_CASE("On a root file system that is read-only one line says so, and a file elsewhere is recorded into") {
  std::string out = "/dev/shm/heaprec-test-XXXXXX";
  REQUIRE(mkdtemp(out.data()) != nullptr);
  const auto command = [](const std::string& file) {
    Java java{.flags = {"-XX:-UsePerfData"}, .main = "e2e.Ends", .args = {"exit"}};
    java.agent_options = std::string(file).append("rate=") + kRate;
    Command command = CommandOf(java);
    const std::vector<std::string> sealed{"unshare", "--mount", "sh", "-c", "mount -o remount,ro,bind / && exec \"$@\"",
                                          "sh"};
    command.args.insert(command.args.begin(), sealed.begin(), sealed.end());
    command.folder = "/";
    return command;
  };
  if (Run(Command{{"unshare", "--mount", "mount", "-o", "remount,ro,bind", "/"}}).exit_code != 0) {
    WARN("a mount namespace of our own is not allowed here");
    std::filesystem::remove(out);
    return;
  }
  const Outcome refused = Run(command(""));
  CHECK(refused.exit_code == 7);
  CHECK(refused.out.empty());
  CHECK(refused.err.starts_with("heaprec: not recording: heaprec-"));
  CHECK(refused.err.find("Read-only file system") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);

  Process process(command("file=" + out + "/rec.bin,"));
  const Ended ended{out, process.pid(), process.Finish()};
  RequireSilent(ended, 7);
  RequireLast(ended, "jvm exit");
  std::filesystem::remove_all(out);
}

TEST_CASE("Where there is no place for a ring, one line says what that costs, and the rest is recorded") {
  const std::string folder = FreshFolder();
  Java java{.main = "e2e.Ends", .args = {"exit"}};
  java.agent_options = std::string("file=rec.bin,ring=/no/such/folder/x.ring,rate=") + kRate;
  Command command = CommandOf(java);
  command.folder = folder;
  Process process(command);
  const Ended ended{folder, process.pid(), process.Finish()};
  CHECK(ended.outcome.exit_code == 7);
  CHECK(ended.outcome.out.empty());
  CHECK(ended.outcome.err.starts_with("heaprec: no shared ring (/no/such/folder/x.ring: No such file or directory)"));
  CHECK(std::count(ended.outcome.err.begin(), ended.outcome.err.end(), '\n') == 1);
  RequireLast(ended, "jvm exit");
}

}  // namespace heaprec::testing
