// What cannot fail on this machine fails in this agent (faults.cc): it is said, it is recorded, and nothing is left.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

std::string FaultyAgent() { return RunfilePath("tests/e2e/safety/libheaprec_faulty.so"); }

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE(
    "After a walk that is not what JVMTI says none is made for a while: said once, counted, no wrong stack kept") {
  const std::string recording = FreshFolder() + "/rec.bin";
  Command command = CommandOf({.main = "e2e.Chains",
                               .args = {"1500"},
                               .agent_options = "file=" + recording + ",rate=2000",
                               .agent = FaultyAgent()});
  command.environment = {"HEAPREC_FAULT_WALK=40"};
  const Outcome outcome = Run(command);
  CHECK(outcome.exit_code == 0);
  CHECK(Count(outcome.err, "a walked stack differs from GetStackTrace") == 1);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  const Rows rows = ReadRows(recording);
  CHECK(rows.trustworthy());
  const auto& stacks = rows.summary["losses"]["stacks"];
  // Known identities need no second look, so that more than 40 are walked; a thread each may be found wrong at once.
  CHECK(stacks["walked"] >= 39);
  CHECK(stacks["from_jvmti"] > 0);
  CHECK(stacks["mismatches"] >= 1);
  CHECK(stacks["mismatches"] <= 16);
  bool noted = false;
  for (const auto& note : rows.summary["notes"])
    noted = noted || note.get<std::string>().find("GetStackTrace") != std::string::npos;
  CHECK(noted);
  // The frame that was made up has no method: it is named nowhere.
  const auto wrong = rows.Where([](const Row& row) { return row.stack.find("[unknown]") != std::string::npos; });
  CHECK(wrong.empty());
}

TEST_CASE("After 1,024 stacks from GetStackTrace stacks are walked again, if they agree") {
  const std::string recording = FreshFolder() + "/rec.bin";
  Command command = CommandOf({.main = "e2e.Load",
                               .args = {"1", "3000", "50"},
                               .agent_options = "file=" + recording + ",rate=2000",
                               .agent = FaultyAgent()});
  command.environment = {"HEAPREC_FAULT_WALK=40", "HEAPREC_FAULT_WALKS=1"};
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto stacks = ReadSummary(recording)["losses"]["stacks"];
  INFO(stacks);
  CHECK(stacks["mismatches"] == 1);
  CHECK(stacks["from_jvmti"] >= 1024);
  CHECK(stacks["from_jvmti"] < 1200);
  CHECK(stacks["walked"] > 400);
}

TEST_CASE("If the drain's thread cannot be created, nothing is recorded or left behind, and the next attempt works") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.Load", .args = {"2", "60000", "50"}});
  // The first two are to open the file and to read buffers and mappings, which do not need them.
  command.environment = {"HEAPREC_FAULT_THREADS=3"};
  Process process(command);
  REQUIRE(process.WaitForOutput("running"));
  const std::string pid = std::to_string(process.pid());
  const auto heaprec = [&](const std::string& verb, const std::string& file) {
    return Run(Command{
        {HeaprecPath(), verb, pid, "--lib", FaultyAgent(), "-q", "--set", "live=off", "-o", folder + "/" + file}});
  };
  const Outcome refused = heaprec("attach", "never.bin");
  CHECK(refused.exit_code == 5);
  CHECK(refused.err.find("no thread heaprec-drain") != std::string::npos);
  CHECK_FALSE(FileExists(folder + "/never.bin"));
  CHECK(RingsOf(process.pid()).empty());
  CHECK(heaprec("attach", "rec.bin").exit_code == 0);
  CHECK(RingsOf(process.pid()).size() == 1);
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  CHECK(ReadRows(folder + "/rec.bin").trustworthy());
}

TEST_CASE("A probe that begins while an ending recording removes its hooks lists every object") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.ProbedLate",
                               .args = {folder + "/removal", "2000", "1000"},
                               .agent_options = "file=" + folder + "/rec.bin,duration=300ms",
                               .agent = FaultyAgent()});
  command.environment = {"HEAPREC_FAULT_REMOVAL=" + folder + "/removal"};
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "arrays 1000 whole true\n");
}

TEST_CASE("A start without memory is refused with a reply, and another agent can use the JVM's sampler") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.Load", .args = {"2", "60000", "50"}});
  command.environment = {"HEAPREC_FAULT_STARTS=1"};
  Process process(command);
  REQUIRE(process.WaitForOutput("running"));
  const std::string pid = std::to_string(process.pid());
  const Outcome refused = Heaprec({"attach", pid, "--lib", FaultyAgent(), "-q", "-o", folder + "/never.bin"});
  CHECK(refused.exit_code == 5);
  INFO(refused.err);
  CHECK(refused.err.find("out of memory") != std::string::npos);
  CHECK_FALSE(FileExists(folder + "/never.bin"));
  const Outcome other = Run(Command{{JavaHome() + "/bin/jcmd", "-J-Dsun.tools.attach.attachTimeout=60000", pid,
                                     "JVMTI.agent_load", RunfilePath("tests/hotspot/libsquatter.so"), "capability"}});
  INFO(other.out << other.err);
  CHECK(other.out.find("return code: 0") != std::string::npos);
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
}

}  // namespace heaprec::testing
