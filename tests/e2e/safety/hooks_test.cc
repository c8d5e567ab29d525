// What stands in the hooks' way in the field: a kernel that refuses, a debugger, another agent. It is met, recorded
// with its reason, and does no harm: neither to the program, nor to whoever was there before, nor to the numbers.
//
// Statistic: as truth_test.cc.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr const char* kOut = "allocated 1344000000\n";

std::string Squatter(const std::string& options) {
  return "-agentpath:" + RunfilePath("tests/hotspot/libsquatter.so") + "=" + options;
}

// A loop of three sizes, some of them outside of TLABs; `before` comes before the agent on the command line.
Command Loop(const std::string& recording, const std::vector<std::string>& before,
             const std::vector<std::string>& launcher, const std::string& options) {
  Java java{.main = "e2e.Sizes", .args = {"16", "0", "1", "6000", "100000"}};
  java.args.insert(java.args.end(), 500, "48");
  java.args.insert(java.args.end(), 100, "1000");
  java.flags = before;
  java.flags.push_back("-agentpath:" + AgentPath() + "=file=" + recording + ",rate=4000" + options);
  Command command = CommandOf(java);
  command.args.insert(command.args.begin(), launcher.begin(), launcher.end());
  return command;
}

struct Recorded {
  Outcome outcome;
  Rows rows;
  std::string reason;
};

Recorded Record(const std::vector<std::string>& before, const std::vector<std::string>& launcher = {},
                const std::string& options = "") {
  const std::string recording = FreshFolder() + "/rec.bin";
  Recorded recorded{.outcome = Run(Loop(recording, before, launcher, options)), .rows = {}, .reason = {}};
  INFO(recorded.outcome.err);
  REQUIRE(recorded.outcome.exit_code == 0);
  CHECK(recorded.outcome.out == kOut);
  recorded.rows = ReadRows(recording);
  recorded.reason = recorded.rows.summary["recording"]["source_reason"];
  return recorded;
}

void RequireTruth(const Rows& rows) {
  const auto ours =
      rows.Where([](const Row& row) { return row.stack.find("e2e.Sizes$Worker.run") != std::string::npos; });
  const double all = 100'000 + 500 * 48 + 100 * 1000;
  RequireShares(ours, {{100'000, 100'000 / all}, {48, 500 * 48 / all}, {1000, 100'000 / all}}, 0);
  const Total total = TotalOf(ours);
  INFO(total.bytes << " of " << 6000 * all);
  CHECK(total.Holds(6000 * all));
  CHECK(rows.trustworthy());
}

void RequireVtables(const Recorded& recorded, const std::string& because) {
  INFO(recorded.reason << recorded.outcome.err);
  CHECK(recorded.rows.source() == "hooks");
  CHECK(recorded.reason.find("by vtables: ") != std::string::npos);
  CHECK(recorded.reason.find(because) != std::string::npos);
  RequireTruth(recorded.rows);
}

uint64_t CallsOfSquatter(const Outcome& outcome) {
  const size_t at = outcome.err.find("squatter: ");
  return at != std::string::npos ? std::stoull(outcome.err.substr(at + 10)) : 0;
}

std::vector<std::string> Refusing(const std::string& what) { return {RunfilePath("tests/support/refuse"), what}; }

}  // namespace

TEST_CASE("If membarrier is refused, the hooks are in the vtables, and the numbers are correct") {
  const Recorded recorded = Record({}, Refusing("membarrier"));
  RequireVtables(recorded, "membarrier is refused");
  CHECK(recorded.outcome.err == "done\n");
}

TEST_CASE("Other calls that containers refuse change no number, and the recording names the replacement") {
  for (const std::string call : {"memfd_create", "perf_event_open", "process_vm_readv", "ptrace"}) {
    INFO(call);
    const Recorded recorded = Record({}, Refusing(call));
    CHECK(recorded.rows.source() == "hooks");
    CHECK(recorded.reason.rfind("the hooks passed their self-test", 0) == 0);
    CHECK(recorded.reason.ends_with("threads are read by a pipe (process_vm_readv: Operation not permitted)") ==
          (call == "process_vm_readv"));
    CHECK(recorded.outcome.err == "done\n");
    RequireTruth(recorded.rows);
  }
}

TEST_CASE("On a kernel that refuses process_vm_readv a census walks every TLAB to its end") {
  const Recorded recorded = Record({}, Refusing("process_vm_readv"), ",census=all");
  const nlohmann::json census = recorded.rows.summary["census"];
  INFO(census.dump());
  CHECK(census["missing_bytes"] == 0);
  CHECK(recorded.rows.summary["trustworthy"] == true);
}

TEST_CASE("If writable code is refused, the hooks are in the vtables, and the numbers are correct") {
  auto version = Refusing("writable-code");
  version.insert(version.end(), {JavaHome() + "/bin/java", "-version"});
  if (Run(Command{version}).exit_code != 0) {
    WARN("this JVM, from 25 on, needs writable code for itself and does not start without");
    return;
  }
  const Recorded recorded = Record({}, Refusing("writable-code"));
  RequireVtables(recorded, "mprotect of code is refused");
  CHECK(recorded.outcome.err == "done\n");
}

TEST_CASE("A debugger's breakpoint on the detoured functions stays, and the hooks are in the vtables") {
  const Recorded recorded = Record({Squatter("int3")});
  RequireVtables(recorded, "int3");
}

TEST_CASE("Another agent's jump in the detoured functions stays, and the hooks are in the vtables") {
  const Recorded recorded = Record({Squatter("jump")});
  RequireVtables(recorded, "the function starts with ");
  CHECK(CallsOfSquatter(recorded.outcome) > 1000);
}

TEST_CASE("Another agent's vtables and our detours do not disturb each other") {
  const Recorded recorded = Record({Squatter("vtables")});
  CHECK(recorded.rows.source() == "hooks");
  CHECK(recorded.reason.rfind("the hooks passed their self-test", 0) == 0);
  CHECK(CallsOfSquatter(recorded.outcome) > 1000);
  RequireTruth(recorded.rows);
}

TEST_CASE("If another agent uses both ways, the source is JVMTI, and the recording has both reasons") {
  const Recorded recorded = Record({Squatter("jump+vtables")});
  INFO(recorded.reason);
  CHECK(recorded.rows.source() == "jvmti");
  CHECK(recorded.reason.find("the function starts with ") != std::string::npos);
  CHECK(recorded.reason.find("vtable") != std::string::npos);
  CHECK(recorded.outcome.err.starts_with("heaprec: source=jvmti instead of auto: "));
  CHECK(CallsOfSquatter(recorded.outcome) > 1000);
  CHECK(!recorded.rows.rows.empty());
}

TEST_CASE("If another agent has the sampling capability, the agent says so and the JVM continues") {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Loop(recording, {Squatter("capability")}, {}, ""));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == kOut);
  CHECK(outcome.err.starts_with("heaprec: not recording: "));
  CHECK(outcome.err.find("another agent owns the SampledObjectAlloc capability") != std::string::npos);
  CHECK(!FileExists(recording));
}

namespace {

// What a recording leaves behind in a JVM that runs on: nothing that can be seen from outside.

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
