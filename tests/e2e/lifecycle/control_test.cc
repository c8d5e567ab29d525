// Options, start and stop, late attach: what the user asks for happens, and whatever goes wrong, the JVM runs on.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/lifecycle/ends.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

const std::vector<std::string> kShort{"2", "300", "0"};
const std::string kShortOut = "running\ndone\n";

Outcome RunWith(const std::string& options, const std::string& folder, const std::vector<std::string>& load = kShort) {
  Command command = CommandOf({.main = "e2e.Load", .args = load, .agent_options = options});
  command.folder = folder;
  return Run(command);
}

size_t Lines(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "stdout" && name != "stderr") names.push_back(name);
  }
  return names;
}

void RequireRefusal(const std::string& options, const std::vector<std::string>& lists) {
  INFO(options);
  const std::string folder = FreshFolder();
  const Outcome outcome = RunWith(options, folder);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == kShortOut);
  CHECK(outcome.err.starts_with("heaprec: "));
  CHECK(Lines(outcome.err) == 1);
  for (const std::string& valid : lists) {
    INFO(outcome.err);
    CHECK(outcome.err.find(valid) != std::string::npos);
  }
  CHECK(FilesIn(folder).empty());

  const Outcome strict = RunWith(options + ",strict", folder);
  CHECK(strict.exit_code != 0);
  CHECK(strict.signal == 0);
  CHECK(strict.out.find("done") == std::string::npos);
}

std::string JavaTool(const std::string& name) { return JavaHome() + "/bin/" + name; }

Outcome Attach(const Process& process, const std::string& options) {
  // Not the 10 s that jcmd gives a JVM on a busy machine.
  return Run(Command{{JavaTool("jcmd"), "-J-Dsun.tools.attach.attachTimeout=60000", std::to_string(process.pid()),
                      "JVMTI.agent_load", AgentPath(), options}});
}

}  // namespace

TEST_CASE("The error for an unknown key is one line with the valid keys") {
  RequireRefusal("fil=rec.bin", {"fil", "file", "rate", "duration", "stackdepth", "strict"});
}

TEST_CASE("The error for a bad value is one line with the valid values") {
  RequireRefusal("file=rec.bin,rate=fast", {"fast", "rate", "150/s", "6/min"});
  RequireRefusal("file=rec.bin,source=magic", {"magic", "source", "auto", "hooks", "jvmti", "portable"});
}

TEST_CASE("The error for a file that cannot be created is one line") {
  RequireRefusal("file=no/such/folder/rec.bin", {"no/such/folder/rec.bin", "No such file"});
}

TEST_CASE("duration=2s ends the recording, and the program continues") {
  const std::string folder = FreshFolder();
  const Outcome outcome = RunWith("file=rec.bin,rate=150,duration=2s", folder, {"2", "3500", "0"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == kShortOut);
  CHECK(outcome.err.empty());
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  CHECK(rows.summary["ended"] == "duration");
  CHECK(!rows.rows.empty());
  for (const Row& row : rows.rows) CHECK(row.time_ns <= rows.summary["duration_ns"].get<uint64_t>());
}

TEST_CASE("delay=1s starts the recording later, and a JVM that ends earlier leaves no file") {
  const std::string folder = FreshFolder();
  CHECK(RunWith("file=early.bin,rate=150,delay=1s", folder, {"2", "100", "0"}).exit_code == 0);
  CHECK(FilesIn(folder).empty());
  const Outcome outcome = RunWith("file=rec.bin,rate=150,delay=1s", folder, {"2", "2800", "0"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  CHECK(!rows.rows.empty());
  CHECK(rows.summary["duration_ns"].get<uint64_t>() < 2'800'000'000);
}

TEST_CASE("loglevel selects the messages: info names the recording, off prints nothing even after a failure") {
  const std::string folder = FreshFolder();
  const Outcome info = RunWith("file=rec.bin,loglevel=info", folder);
  CHECK(info.out == kShortOut);
  CHECK(info.err.find("rec.bin") != std::string::npos);
  CHECK(info.err.find("source=hooks") != std::string::npos);
  const Outcome off = RunWith("loglevel=off,file=no/such/folder/rec.bin", folder);
  CHECK(off.exit_code == 0);
  CHECK(off.out == kShortOut);
  CHECK(off.err.empty());
}

TEST_CASE("jcmd loads the agent into a JVM under load, which is recorded and continues") {
  const std::string folder = FreshFolder();
  Process process(CommandOf({.main = "e2e.Load", .args = {"4", "600000", "0"}}));
  REQUIRE(process.WaitForOutput("running"));
  const Outcome loaded = Attach(process, "\"file=" + folder + "/rec.bin,rate=2000\"");
  INFO(loaded.out << loaded.err);
  CHECK(loaded.out.find("return code: 0") != std::string::npos);
  const Outcome again = Attach(process, "\"file=" + folder + "/second.bin\"");
  INFO(again.out << again.err);
  CHECK(again.out.find("return code: 0") == std::string::npos);
  CHECK(!FileExists(folder + "/second.bin"));
  process.Kill(SIGTERM);
  const Outcome outcome = process.Finish();
  CHECK(outcome.exit_code == 128 + SIGTERM);
  CHECK(outcome.out == "running\n");
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.source() == "hooks");
  CHECK(rows.trustworthy());
  CHECK(rows.rows.size() > 100);  // while the second jcmd was on its way
  const double counted = rows.summary["allocated_bytes"];
  CHECK(rows.summary["estimates"]["bytes_uncalibrated"]["value"].get<double>() == Approx(counted).epsilon(0.5));
}

TEST_CASE("Options with colons need no quotes for jcmd, and a JVM can be recorded again") {
  const std::string folder = FreshFolder();
  Process process(CommandOf({.main = "e2e.Load", .args = {"4", "600000", "0"}}));
  REQUIRE(process.WaitForOutput("running"));
  const Outcome first = Attach(process, "file:" + folder + "/first.bin,rate:150,duration:500ms");
  CHECK(first.out.find("return code: 0") != std::string::npos);
  Outcome second;
  for (int i = 0; i < 40 && second.out.find("return code: 0") == std::string::npos; ++i) {
    second = Attach(process, "file:" + folder + "/second.bin,rate:150");
  }
  INFO(second.out << second.err);
  CHECK(second.out.find("return code: 0") != std::string::npos);
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  for (const char* name : {"/first.bin", "/second.bin"}) {
    const Rows rows = ReadRows(folder + name);
    INFO(name << rows.reasons());
    CHECK(rows.source() == "hooks");
    CHECK(rows.trustworthy());
    CHECK(!rows.rows.empty());
  }
  CHECK(ReadSummary(folder + "/first.bin")["ended"] == "duration");
}

TEST_CASE("A full disk loses samples, which are counted when there is space again, and nothing else") {
  // The limit stands for the disk: the kernel refuses the write the same way, with EFBIG for ENOSPC.
  const std::string folder = FreshFolder();
  Java java{.flags = {"-XX:-UsePerfData"}, .main = "e2e.Load", .args = {"4", "6200", "0"}};
  java.agent_options = "file=" + folder + "/rec.bin,rate=10000,ring=off";
  Command command = CommandOf(java);
  command.largest_file_bytes = 48 << 10;
  Process process(command);
  REQUIRE(process.WaitForOutput("running"));
  usleep(4'500'000);  // what waits is bounded: 1 MiB, half of a lane
  CHECK(std::filesystem::file_size(folder + "/rec.bin") <= size_t{48} << 10);
  process.LiftFileLimit();
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == kShortOut);
  CHECK(Lines(outcome.err) == 2);
  const Rows rows = ReadRows(folder + "/rec.bin");
  INFO(rows.reasons());
  RequireWriteLossesCounted(rows);
}

TEST_CASE("With full shared memory there is no ring, but a recording") {
  const std::string folder = FreshFolder();
  Java java{.flags = {"-XX:-UsePerfData"}, .main = "e2e.Load", .args = {"2", "1200", "0"}};
  java.agent_options = "file=" + folder + "/rec.bin,rate=150";
  Command command = CommandOf(java);
  command.largest_file_bytes = 64 << 10;  // the ring is larger
  const Outcome outcome = Run(command);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == kShortOut);
  INFO(outcome.err);
  CHECK(outcome.err.find("cannot create the shared ring") != std::string::npos);
  CHECK(Lines(outcome.err) == 1);
  const Rows rows = ReadRows(folder + "/rec.bin");
  CHECK(rows.trustworthy());
  CHECK(rows.rows.size() > 100);
}

namespace {

// Many recordings in one JVM, one after another: what each of them took is given back.
// HEAPREC_CYCLES: how many (200 by default).

// A recording that is never freed holds 1.2 MB of tables that were written to, and a mapping of 4 MB.
constexpr int kSettled = 20;  // cycles after which the JVM itself has what it needs for attaching

int Cycles() {
  const char* const text = getenv("HEAPREC_CYCLES");  // NOLINT(concurrency-mt-unsafe): a test
  return text != nullptr ? std::atoi(text) : 200;     // NOLINT(cert-err34-c)
}

struct Held {
  uint64_t resident_kb = 0, mappings = 0, descriptors = 0, threads = 0;
};

uint64_t NumberOf(const std::string& status, const std::string& field) {
  const size_t at = status.find("\n" + field + ":");
  REQUIRE(at != std::string::npos);
  return std::strtoull(status.c_str() + at + field.size() + 2, nullptr, 10);
}

Held HeldBy(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string status = ReadFile(folder + "/status"), maps = ReadFile(folder + "/maps");
  Held held;
  held.resident_kb = NumberOf(status, "VmRSS");
  held.threads = NumberOf(status, "Threads");
  held.mappings = static_cast<uint64_t>(std::count(maps.begin(), maps.end(), '\n'));
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(folder + "/fd")) ++held.descriptors;
  return held;
}

}  // namespace

TEST_CASE("Recordings that have ended need no memory, mapping, descriptor, thread or ring") {
  const std::string folder = FreshFolder();
  Process process(CommandOf(
      {.flags = {"-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"}, .main = "e2e.Load", .args = {"2", "600000", "20"}}));
  REQUIRE(process.WaitForOutput("running"));
  const std::string pid = std::to_string(process.pid());
  Held settled;
  for (int cycle = 0; cycle < Cycles(); ++cycle) {
    RequireHeaprec({"attach", pid, "-q", "-o", folder + "/rec.bin"});
    RequireHeaprec({"stop", "-q", pid});
    if (cycle == kSettled) settled = HeldBy(process.pid());
    if (cycle + 1 < Cycles()) std::filesystem::remove(folder + "/rec.bin");
  }
  const Held held = HeldBy(process.pid());
  std::ostringstream growth;
  growth << "resident " << settled.resident_kb << " -> " << held.resident_kb << " kB, mappings " << settled.mappings
         << " -> " << held.mappings << ", descriptors " << settled.descriptors << " -> " << held.descriptors
         << ", threads " << settled.threads << " -> " << held.threads;
  WARN(growth.str());
  CHECK(held.resident_kb < settled.resident_kb + 32 * 1024);
  CHECK(held.mappings < settled.mappings + 50);
  CHECK(held.descriptors < settled.descriptors + 10);
  CHECK(held.threads < settled.threads + 10);
  CHECK(RingsOf(process.pid()).empty());
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  CHECK(ReadRows(folder + "/rec.bin").summary["ended"] == "stop");
}

// Files within bounds, in a real JVM: read, dumped and tracked while they are replaced.

TEST_CASE("A JVM with maxage=10s can be dumped at any time, and its file is never older") {
  const std::string folder = FreshFolder();
  const std::string recording = folder + "/rec.bin";
  Process java(CommandOf(
      {.main = "e2e.Load", .args = {"2", "60000", "200"}, .agent_options = "file=" + recording + ",maxage=10s"}));
  REQUIRE(java.WaitForFile(recording));
  for (int second = 0; second < 15; ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const std::string dump = folder + "/dump" + std::to_string(second);
    const Outcome outcome = Heaprec({"dump", "-q", "-o", dump, std::to_string(java.pid())});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    const Outcome print = Heaprec({"summary", dump});
    INFO(print.out);
    CHECK(print.exit_code == 0);
    CHECK(print.out.find("trustworthy: no") == std::string::npos);
    RequireVerified(dump);
  }
  java.Kill(SIGKILL);
  (void)java.Finish();
  const Outcome summary = Heaprec({"summary", recording});
  INFO(summary.out);
  CHECK(summary.exit_code == 0);
  CHECK(summary.out.find("trustworthy: no") == std::string::npos);
  RemoveRingsOf(java.pid());
}

}  // namespace heaprec::testing
