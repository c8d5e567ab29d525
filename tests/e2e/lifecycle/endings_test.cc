// However a JVM ends, its recording holds what was committed to the last event, and the program's output is its own.
//
// HEAPREC_ENDINGS=20: how often each of those ways is taken that a recording has to survive.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/lifecycle/ends.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

bool Mentions(const std::string& text) { return text.find("heaprec: ") != std::string::npos; }

void Repeat(const std::function<void()>& way) {
  const char* const value = getenv("HEAPREC_ENDINGS");  // NOLINT(concurrency-mt-unsafe)
  for (int left = value != nullptr ? atoi(value) : 1; left > 0; --left) way();
}

// A control group of its own whose memory is bounded; none where the test may not make one.
class MemoryGroup {
 public:
  explicit MemoryGroup(const std::string& bytes) {
    const std::string name = "/heaprec-test-" + std::to_string(getpid());
    for (const auto& [root, limit] :
         {std::pair{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes"}, {"/sys/fs/cgroup", "/memory.max"}}) {
      if (mkdir((root + name).c_str(), 0755) != 0) continue;
      folder_ = root + name;
      std::ofstream file(folder_ + limit);
      if (file << bytes << std::flush) return;
      rmdir(folder_.c_str());
      folder_.clear();
    }
  }
  ~MemoryGroup() {
    if (!folder_.empty()) rmdir(folder_.c_str());
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  bool exists() const { return !folder_.empty(); }

  // The same process, once it has joined.
  Command Inside(Command command) const {
    const std::vector<std::string> join{"sh", "-c", "echo $$ > " + folder_ + "/cgroup.procs && exec \"$@\"", "sh"};
    command.args.insert(command.args.begin(), join.begin(), join.end());
    return command;
  }

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE("System.exit, Runtime.halt and the end of main beside a daemon end the recording properly") {
  Repeat([] {
    for (const auto& [way, code] : {std::pair{"exit", 7}, {"halt", 8}, {"daemon", 0}}) {
      INFO(way);
      const Ended ended = RunEnds({way});
      RequireSilent(ended, code);
      RequireLast(ended, "jvm exit");
    }
  });
}

TEST_CASE("An uncaught OutOfMemoryError, the program's or the heap's, ends the recording properly") {
  Repeat([] {
    for (const char* way : {"throw", "exhaust"}) {
      INFO(way);
      const Ended ended = RunEnds({way}, {"-Xmx64m"});
      CHECK(ended.outcome.exit_code == 1);
      CHECK(ended.outcome.out.empty());
      CHECK(ended.outcome.err.find("java.lang.OutOfMemoryError") != std::string::npos);
      CHECK_FALSE(Mentions(ended.outcome.err));
      RequireLast(ended, "jvm exit");
    }
  });
}

TEST_CASE("SIGTERM ends the recording properly") {
  Repeat([] {
    const Ended ended = RunEnds({"wait"}, {}, SIGTERM);
    CHECK(ended.outcome.exit_code == 128 + SIGTERM);
    CHECK(ended.outcome.out == "running\n");
    CHECK(ended.outcome.err.empty());
    RequireLast(ended, "jvm exit");
  });
}

TEST_CASE("ExitOnOutOfMemoryError and CrashOnOutOfMemoryError leave the rest of the samples in the ring") {
  Repeat([] {
    const Ended exited = RunEnds({"exhaust"}, {"-Xmx64m", "-XX:+ExitOnOutOfMemoryError"});
    CHECK(exited.outcome.exit_code == 3);
    CHECK_FALSE(Mentions(exited.outcome.err));
    RequireLast(exited, "cut off");
    const Ended crashed = RunEnds({"exhaust"}, {"-Xmx64m", "-XX:+CrashOnOutOfMemoryError"});
    CHECK(crashed.outcome.exit_code == 1);  // without a core file the JVM exits
    CHECK_FALSE(Mentions(crashed.outcome.out + crashed.outcome.err));
    CHECK(FileExists(crashed.folder + "/hs_err_pid" + std::to_string(crashed.pid) + ".log"));
    RequireLast(crashed, "cut off");
  });
}

TEST_CASE("SIGSEGV writes its hs_err file, and the recording has everything committed") {
  Repeat([] {
    const Ended ended = RunEnds({"wait"}, {}, SIGSEGV);
    CHECK(ended.outcome.exit_code == 1);
    CHECK_FALSE(Mentions(ended.outcome.out + ended.outcome.err));
    const std::string report = ReadFile(ended.folder + "/hs_err_pid" + std::to_string(ended.pid) + ".log");
    CHECK(report.find("SIGSEGV") != std::string::npos);
    CHECK(report.find("END.") != std::string::npos);  // written to its end
    RequireLast(ended, "cut off");
  });
}

TEST_CASE("The kernel's OOM killer leaves the rest of the samples in the ring") {
  const MemoryGroup group("250M");
  if (!group.exists()) {
    WARN("a control group of our own is not allowed here");
    return;
  }
  Repeat([&] {
    const std::string folder = FreshFolder();
    Process process(group.Inside(EndsCommand(folder, {"exhaust"}, {"-Xmx2g", "-Xms32m"})));
    const Ended ended{folder, process.pid(), process.Finish()};
    CHECK(ended.outcome.signal == SIGKILL);
    CHECK(ended.outcome.out.empty());
    CHECK(ended.outcome.err.empty());
    RequireLast(ended, "cut off");
  });
}

TEST_CASE("An agent in JAVA_TOOL_OPTIONS records, and the JVM prints only its own line") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.Ends", .args = {"exit"}});
  command.folder = folder;
  command.environment = {"JAVA_TOOL_OPTIONS=-agentpath:" + AgentPath() + "=file=rec.bin,rate=" + kEndsRate};
  Process process(command);
  const Ended ended{folder, process.pid(), process.Finish()};
  CHECK(ended.outcome.exit_code == 7);
  CHECK(ended.outcome.out.empty());
  CHECK(ended.outcome.err.starts_with("Picked up JAVA_TOOL_OPTIONS: "));
  CHECK(std::count(ended.outcome.err.begin(), ended.outcome.err.end(), '\n') == 1);
  RequireLast(ended, "jvm exit");
}

TEST_CASE("A JVM that is started by a recorded one is not recorded, and neither disturbs the other") {
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

}  // namespace heaprec::testing
