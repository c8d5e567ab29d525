// heaprec.Heaprec.dump: a program copies its recording while that goes on.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

size_t LargeOnes(const Rows& rows) {
  return rows.Where([](const Row& row) { return row.size == (1 << 20) + 16; }).size();
}

// Each object of a megabyte is kept: lambda size > 10 (tests/e2e/lifecycle/endings_test.cc).
void RequireCopies(const std::string& options) {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.flags = {"-Xmx200m"},
                                   .main = "e2e.Dumps",
                                   .args = {folder, "3"},
                                   .agent_options = "file=" + folder + "/rec.bin,rate=20000" + options});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  size_t expected = 0;
  for (const char* name : {"copy.bin", "copy-1.bin", "copy-2.bin"}) {
    const std::string file = folder + "/" + name;
    INFO(file);
    CHECK(outcome.out.find("dump " + file + "\n") != std::string::npos);
    const Rows rows = ReadRows(file);
    CHECK(rows.summary["ended"] == "dump");
    CHECK(rows.summary["trustworthy"] == true);
    CHECK(LargeOnes(rows) == (expected += 50));
    RequireVerified(file);
  }
  CHECK(outcome.out.find("nowhere refused: heaprec: " + folder + "/no/copy.bin: No such file") != std::string::npos);
  CHECK(outcome.out.find("null refused: path\n") != std::string::npos);
  CHECK(outcome.out.find("late refused: heaprec: no recording is running") != std::string::npos);
  CHECK_FALSE(FileExists(folder + "/late.bin"));
  const Rows all = ReadRows(folder + "/rec.bin");
  CHECK(all.summary["ended"] == "stop");
  CHECK(all.summary["trustworthy"] == true);
  CHECK(LargeOnes(all) == expected + 50);
  RequireVerified(folder + "/rec.bin");
}

}  // namespace

TEST_CASE("A copy contains everything allocated before the request, and the recording continues") { RequireCopies(""); }

TEST_CASE("A copy is complete with live objects, without a ring, and with limits") {
  RequireCopies(",live=on");
  RequireCopies(",ring=off,exceptions=on");
  RequireCopies(",maxsize=10m");
  RequireCopies(",census=all,live=on");
}

// The JVM's start is a burst of native memory, and each copy is taken in it or soon after.
TEST_CASE("A copy is complete with native memory, also in the first second") {
  RequireCopies(",native=on,native.rate=5000");
}

TEST_CASE("A copy does not wait for the end of an interval of minutes") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.flags = {"-Xmx200m"},
                                   .main = "e2e.Dumps",
                                   .args = {folder, "1"},
                                   .agent_options = "file=" + folder + "/rec.bin,rate=10/h"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Rows rows = ReadRows(folder + "/copy.bin");
  CHECK(rows.summary["ended"] == "dump");
  CHECK(rows.rows.empty());
  RequireVerified(folder + "/copy.bin");
}

namespace {

// Labels in a real JVM: from Java and from C, of the thread that set them, and nothing without the agent.
//
// Objects of 1 to 7 MiB at a rate at which each is kept: tests/e2e/lifecycle/endings_test.cc says how sure that is.

using nlohmann::json;

// The labels of each object, by its megabytes; absent: none.
std::map<int, json> LabelsOf(const std::string& recording) {
  const json events = HeaprecJson({"print", "--json", recording})["events"];
  std::map<int, json> labels;
  for (const json& event : events) {
    const uint64_t size = event["size"];
    if (size < 1 << 20 || size % (1 << 20) != 0) continue;
    CHECK(event["thread"]["name"] == (size >> 20 < 6 ? "worker" : "main"));
    labels[static_cast<int>(size >> 20)] = event["thread"].value("labels", json());
  }
  return labels;
}

void RequireLabels(const std::string& recording) {
  const std::map<int, json> labels = LabelsOf(recording);
  const std::map<int, json> expected{
      {1, json()}, {2, {{"request", "42"}}}, {3, {{"request", "43"}, {"user", "ä"}}}, {4, {{"user", "ä"}}},
      {5, json()}, {6, {{"main", "yes"}}},   {7, {{"main", std::string(240, 'y')}}}};
  for (const auto& [megabytes, wanted] : expected) {
    INFO(megabytes);
    REQUIRE(labels.count(megabytes) == 1);
    CHECK(labels.at(megabytes) == wanted);
  }
}

}  // namespace

TEST_CASE("Heaprec.label labels the later allocations of its thread") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.main = "e2e.Labels", .agent_options = "file=" + folder + "/rec.bin,rate=20000"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  RequireLabels(folder + "/rec.bin");
}

TEST_CASE("heaprec_label of C labels the later allocations of its thread") {
  const std::string folder = FreshFolder(), library = RunfilePath("tests/e2e/api/liblabel_in_c.so");
  const Outcome outcome =
      Run(Java{.main = "e2e.Labels", .args = {library}, .agent_options = "file=" + folder + "/rec.bin,rate=20000"});
  CHECK(outcome.exit_code == 0);
  RequireLabels(folder + "/rec.bin");
  const Outcome plain = Run(Java{.main = "e2e.Labels", .args = {library}});
  CHECK(plain.exit_code == 0);
  CHECK(outcome.err == plain.err);  // from 24 on the JVM warns of every native library
}

TEST_CASE("Without the agent, labels do nothing; an agent that is loaded later is found") {
  const Outcome plain = Run(Java{.main = "e2e.Labels"});
  CHECK(plain.exit_code == 0);
  CHECK(plain.err.empty());

  const std::string folder = FreshFolder();
  Process process(CommandOf({.main = "e2e.Labels", .args = {"wait", folder + "/go"}}));
  REQUIRE(process.WaitForOutput("running"));
  RequireHeaprec(
      {"attach", std::to_string(process.pid()), "--lib", AgentPath(), "-o", folder + "/rec.bin", "--rate", "20000"});
  std::ofstream(folder + "/go") << "go";
  CHECK(process.Finish().exit_code == 0);
  RequireLabels(folder + "/rec.bin");
}

namespace {

// heaprec.Probe: object for object what a thread allocates, against programs whose objects are known.
//
// HEAPREC_PROGRAMS=1000: how many random programs under each collector.

std::string Programs() {
  const char* const value = getenv("HEAPREC_PROGRAMS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? value : "100";
}

void RequireExact(std::vector<std::string> flags) {
  INFO(flags.front());
  flags.emplace_back("-Xmx256m");
  const Outcome outcome =
      Run(Java{.flags = flags, .main = "e2e.Probed", .args = {Programs(), AgentPath(), "programs alone"}});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.ends_with("failures 0\n"));
}

}  // namespace

TEST_CASE("A probe lists every object of its thread in order: changes of TLABs, outside objects, collections") {
  RequireExact({"-XX:+UseG1GC"});
  RequireExact({"-XX:+UseSerialGC"});
  RequireExact({"-XX:+UseParallelGC"});
  RequireExact({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"});
  RequireExact({"-XX:+UseShenandoahGC"});
  RequireExact({"-Xint"});
  RequireExact({"-XX:-UseCompressedClassPointers", "-XX:-UseCompressedOops"});
  RequireExact({"-Xcheck:jni"});
}

TEST_CASE("A probe shows what escape analysis removes, and a wrong assertion fails") {
  const Outcome outcome = Run(Java{.main = "e2e.Probed", .args = {"1", AgentPath()}});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.find("boxing interpreted 24000 compiled 0\n") != std::string::npos);
  CHECK(outcome.out.ends_with("allocated 120 B in 1 objects: 1 byte[] (120 B), not 0 B\n"));
}

TEST_CASE("Probes and a recording do not disturb each other") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.main = "e2e.Probed",
                                   .args = {Programs(), "-", "programs alone"},
                                   .agent_options = "file=" + folder + "/rec.bin,duration=1s"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.ends_with("failures 0\n"));
  const Outcome summary = Heaprec({"summary", folder + "/rec.bin"});
  INFO(summary.out);
  CHECK(summary.out.find("trustworthy: no") == std::string::npos);
}

TEST_CASE("A probe that ran out of memory is not whole; one with many objects counts all") {
  const Outcome outcome = Run(Java{.flags = {"-Xmx24m", "-Xint", "-XX:+UseSerialGC"},
                                   .main = "e2e.ProbedFull",
                                   .agent_options = "file=" + FreshFolder() + "/rec.bin"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out ==
        "held true failures 1 whole false\nnext whole true\n"
        "12000000 B in 100000 objects; the first 65536: 65536 byte[] (7864320 B)\nlisted 65536 whole false\n");
}

TEST_CASE("Without the agent, creating a probe fails with a message") {
  const Outcome outcome = Run(Java{.main = "e2e.Probed", .args = {"1"}});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err.find("heaprec: cannot load the agent: there is no libheaprec.so for ") != std::string::npos);
}

namespace {

// A program that records itself through heaprec.Heaprec.

constexpr char kNoAgent[] =
    "heaprec: the agent is not loaded; call Heaprec.load(), or start the JVM with -javaagent:heaprec.jar\n";

void RequireBoth(const std::string& folder, const std::string& out) {
  for (const char* name : {"first", "second"}) {
    const std::string file = folder + "/" + name + ".bin";
    INFO(out);
    CHECK(out.find("start " + file + "\nagain refused: heaprec: already recording into " + file + "\nstop " + file) !=
          std::string::npos);
    const Rows rows = ReadRows(file);
    CHECK(rows.summary["ended"] == "stop");
    const auto large = rows.Where([](const Row& row) { return row.size == (1 << 20) + 16; });
    CHECK(large.size() == 50);  // each is kept with 1 - exp(-lambda size), lambda size > 10
  }
  CHECK(out.find("stop refused: heaprec: no recording is running\nwrong refused: heaprec: unknown option `no`") !=
        std::string::npos);
  CHECK(out.ends_with("after idle\n"));
}

}  // namespace

TEST_CASE("A program that loads the library can record itself repeatedly") {
  for (const std::string thread : {"", "virtual"}) {
    CAPTURE(thread);
    const std::string folder = FreshFolder();
    Java java{.flags = {"-Xmx200m"}, .main = "e2e.Itself", .args = {folder, AgentPath()}};
    if (!thread.empty()) java.args.push_back(thread);
    const Outcome outcome = Run(java);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out.starts_with(std::string("before refused: ") + kNoAgent));
    RequireBoth(folder, outcome.out);
    CHECK(ReadRows(folder + "/second.bin").summary["recording"]["source"] == "hooks");
  }
}

TEST_CASE("A JVM with the agent can record itself after its recording has ended") {
  const std::string folder = FreshFolder();
  Java java{.flags = {"-Xmx200m"}, .main = "e2e.Itself", .args = {folder}};
  java.agent_options = "file=" + folder + "/agent.bin,delay=1h";
  const Outcome waiting = Run(java);
  INFO(waiting.out << waiting.err);
  CHECK(waiting.exit_code == 0);
  CHECK(waiting.out.starts_with("before waiting\nstart refused: heaprec: a recording is waiting for its delay"));
}

TEST_CASE("A program without library and agent gets an error and continues") {
  const Outcome outcome = Run(Java{.main = "e2e.Itself", .args = {FreshFolder()}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.ends_with(std::string("after refused: ") + kNoAgent));
}

}  // namespace heaprec::testing
