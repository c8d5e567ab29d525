// What a recording leaves behind in a JVM that runs on: nothing that can be seen from outside.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

struct Range {
  uint64_t begin = 0, end = 0;
};

// Code and constants of libjvm.so in that process: every mapping of the file that is not writable.
std::vector<Range> LibJvmOf(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::vector<Range> ranges;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libjvm.so") == std::string::npos || line.find(" rw") != std::string::npos) continue;
    Range range;
    char dash = 0;
    std::istringstream(line) >> std::hex >> range.begin >> dash >> range.end;
    ranges.push_back(range);
  }
  return ranges;
}

std::string Contents(pid_t pid, const std::vector<Range>& ranges) {
  const int memory = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(memory >= 0);
  std::string all;
  for (const Range& range : ranges) {
    std::string bytes(range.end - range.begin, '\0');
    REQUIRE(pread(memory, bytes.data(), bytes.size(), static_cast<off_t>(range.begin)) ==
            static_cast<ssize_t>(bytes.size()));
    all += bytes;
  }
  close(memory);
  return all;
}

size_t Differences(const std::string& some, const std::string& others) {
  size_t count = 0;
  for (size_t i = 0; i < some.size(); ++i) count += some[i] != others[i];
  return count;
}

bool HasThreadOfOurs(pid_t pid) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task"))
    if (ReadFile(task.path() / "comm").starts_with("heaprec")) return true;
  return false;
}

template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    usleep(10'000);
  }
  return false;
}

// `most`: bytes that may differ while the recording runs.
void RequireNoTrace(const std::vector<std::string>& launcher, size_t most) {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.Load", .args = {"4", "60000", "0"}});
  command.args.insert(command.args.begin(), launcher.begin(), launcher.end());
  Process process(command);
  REQUIRE(process.WaitForOutput("running"));
  // Those of a killed process that had this number in another test's sandbox.
  const std::vector<std::string> rings = RingsOf(process.pid());
  const auto ranges = LibJvmOf(process.pid());
  REQUIRE(ranges.size() >= 3);
  const std::string before = Contents(process.pid(), ranges);
  REQUIRE(before.size() > size_t{10} << 20);

  const Outcome loaded = Run(Command{{JavaHome() + "/bin/jcmd", std::to_string(process.pid()), "JVMTI.agent_load",
                                      AgentPath(), "file:" + folder + "/rec.bin,duration:2s"}});
  INFO(loaded.out << loaded.err);
  REQUIRE(loaded.out.find("return code: 0") != std::string::npos);
  const size_t changed = Differences(before, Contents(process.pid(), ranges));
  CHECK(changed > 0);
  CHECK(changed <= most);
  CHECK(HasThreadOfOurs(process.pid()));

  CHECK(Eventually([&] { return !HasThreadOfOurs(process.pid()); }));
  CHECK(Differences(before, Contents(process.pid(), ranges)) == 0);
  CHECK(RingsOf(process.pid()) == rings);
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  const Rows rows = ReadRows(folder + "/rec.bin");
  CHECK(rows.source() == "hooks");
  CHECK(!rows.rows.empty());
}

}  // namespace

TEST_CASE("After a recording libjvm's code is what it was, and our thread and ring are gone") {
  RequireNoTrace({}, 4 * 5);  // three jumps, and from 21 on one for copies of virtual threads' stacks
}

TEST_CASE("After a recording by vtables libjvm's constants are unchanged") {
  RequireNoTrace({RunfilePath("tests/support/refuse"), "membarrier"}, 18 * 8);  // slots
}

}  // namespace heaprec::testing
