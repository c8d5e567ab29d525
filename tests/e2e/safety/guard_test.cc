// The allocation entries use no heap, no lock and no I/O: the agent linked with alloc_guard.cc aborts at the first use.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

std::string GuardedAgent() { return RunfilePath("tests/e2e/safety/libheaprec_guarded.so"); }

void RequireQuietGuard(const std::vector<std::string>& flags, const std::string& main,
                       const std::vector<std::string>& args, const std::string& options) {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Java{.flags = flags,
                                   .main = main,
                                   .args = args,
                                   .agent_options = "file=" + recording + "," + options,
                                   .agent = GuardedAgent()});
  INFO(outcome.err);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.find("alloc_guard") == std::string::npos);
  CHECK(!ReadRows(recording).rows.empty());
}

}  // namespace

TEST_CASE("Guard: using the heap in an entry point aborts the JVM and is named") {
  Command command = CommandOf({.flags = {"-XX:-CreateCoredumpOnCrash"},
                               .main = "e2e.Load",
                               .args = {"2", "300", "0"},
                               .agent_options = "file=" + FreshFolder() + "/rec.bin,rate=150",
                               .agent = GuardedAgent()});
  command.environment = {"HEAPREC_GUARD_BITES=1"};
  Process process(command);
  const pid_t pid = process.pid();
  const Outcome outcome = process.Finish();
  RemoveRingsOf(pid);
  CHECK(outcome.signal == SIGABRT);
  CHECK(outcome.err.find("alloc_guard: called by an allocation entry: malloc") != std::string::npos);
}

TEST_CASE("Under heavy load the entry points use no heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Load", {"8", "1500", "0"}, "rate=5000");
}

TEST_CASE("New stacks, classes and methods are recorded without heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Chains", {"1000"}, "rate=5000");
  RequireQuietGuard({}, "e2e.Kinds", {"1000"}, "rate=5000");
}

TEST_CASE("New threads are recorded without heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Churn", {"1500", "21504"}, "rate=5000");
  RequireQuietGuard({}, "e2e.Sizes", {"16", "64", "4", "50", "48", "1000", "20000"}, "rate=5000");
  RequireQuietGuard({}, "e2e.Threads", {"200"}, "rate=5000");
}

TEST_CASE("Thrown exceptions are recorded without heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Throws", {"4", "20000", "0"}, "rate=150,exceptions=on,exceptions.rate=5000");
}

TEST_CASE("Without TLABs every allocation calls an entry point, and none uses heap, lock or I/O") {
  RequireQuietGuard({"-XX:-UseTLAB"}, "e2e.Load", {"2", "800", "0"}, "rate=1000");
}

TEST_CASE("A full ring blocks no entry point") { RequireQuietGuard({}, "e2e.Load", {"8", "1500", "0"}, "rate=200000"); }

TEST_CASE("The JVMTI source's entry points use no heap, lock or I/O") {
  RequireQuietGuard({}, "e2e.Load", {"4", "800", "0"}, "rate=5000,source=jvmti");
}

namespace {

// libheaprec.so loads beside anything: it shows Agent_* and the labels' functions and nothing else, and needs glibc's
// libraries and nothing else; all products load with glibc 2.17.

std::string OutputOf(const std::vector<std::string>& args) {
  const Outcome outcome = Run(Command{args});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.out;
}

std::set<std::string> Matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

// Bazel's runfiles are links, which some tools do not follow.
std::string Agent() { return AgentPath(); }

const std::string kNative = "recorder/libheaprec-native.so";

}  // namespace

// capset, setns and unshare replace libc's if the library is preloaded (recorder/agent/program/preload_entry.cc).
TEST_CASE("The agent exports only the symbols for the JVM, heaprec.jar, the headers of include/ and preloading") {
  CHECK(Matches(OutputOf({"nm", "-D", "--defined-only", Agent()}), std::regex(R"( [A-Z] (\S+))")) ==
        std::set<std::string>{"Agent_OnAttach", "Agent_OnLoad", "Agent_OnUnload", "Java_heaprec_Heaprec_ask0",
                              "Java_heaprec_Heaprec_dump0", "Java_heaprec_Heaprec_label0",
                              "Java_heaprec_Heaprec_sample0", "Java_heaprec_Heaprec_traces0",
                              "Java_heaprec_Probe_begin0", "Java_heaprec_Probe_end0", "capset", "heaprec_label",
                              "heaprec_sample_allocations", "heaprec_visit_traces", "setns", "unshare"});
}

TEST_CASE("The products need only glibc's libraries, including those that were separate until 2.34") {
  for (const std::string& product : {Agent(), RunfilePath(kNative), HeaprecPath()}) {
    INFO(product);
    const auto needed = Matches(OutputOf({"readelf", "-d", product}), std::regex(R"(Shared library: \[(\S+)\])"));
    for (const char* library : {"libc.so.6", "libpthread.so.0", "libdl.so.2"}) CHECK(needed.count(library) == 1);
    for (const std::string& library : needed) {
      INFO(library);
      CHECK(std::set<std::string>{"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "ld-linux-x86-64.so.2"}
                .count(library) == 1);
    }
  }
}

TEST_CASE("Symbols that the agent does not define are libc's, and are bound at load") {
  // Weak ones (the profiling hooks of zstd, the linker's own) may be missing.
  const std::string undefined = OutputOf({"nm", "-D", "--undefined-only", Agent()});
  std::istringstream lines(undefined);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    const bool weak = line.find(" w ") != std::string::npos;
    CHECK((weak || line.find("@GLIBC_") != std::string::npos));
  }
  const std::string dynamic = OutputOf({"readelf", "-d", Agent()});
  CHECK(dynamic.find("NOW") != std::string::npos);
  CHECK(dynamic.find("NODELETE") != std::string::npos);
}

TEST_CASE("No product needs a glibc newer than 2.17") {
  for (const std::string& product : {Agent(), RunfilePath(kNative), HeaprecPath()}) {
    INFO(product);
    const auto versions = Matches(OutputOf({"objdump", "-T", product}), std::regex(R"(GLIBC_2\.(\d+))"));
    CHECK(versions.size() > 3);
    for (const std::string& minor : versions) CHECK(std::stoi(minor) <= 17);
  }
}

namespace {

// While a recording starts or ends, the JVM delivers no more objects than at its default interval.
//
// Statistic: of 100 MB at the default interval of 512 KiB 191 deliveries are expected; 2,000 would take 1 GB. At 512
//            bytes there are more than 100,000.

constexpr uint64_t kMax = 2000;

struct Deliveries {
  uint64_t at_start = 0, at_end = 0;
};

Deliveries CountedIn(const std::string& folder) {
  Deliveries counted;
  const std::string bytes = ReadFile(folder + "/deliveries");
  REQUIRE(bytes.size() == sizeof(counted));
  std::memcpy(&counted, bytes.data(), sizeof(counted));
  return counted;
}

// Two threads allocate 50 MB/s each, and what the agent does while a recording starts or ends takes a second.
Command Load(const std::string& folder, int ms, const std::string& options) {
  Command command = CommandOf({.main = "e2e.Load",
                               .args = {"2", std::to_string(ms), "50"},
                               .agent_options = "file=" + folder + "/rec.bin,delay=200ms," + options,
                               .agent = RunfilePath("tests/e2e/safety/libheaprec_deliveries.so")});
  command.environment = {"HEAPREC_DELIVERIES=" + folder + "/deliveries", "HEAPREC_DELIVERIES_MS=1000"};
  return command;
}

void RequireFew(const std::string& folder) {
  const Rows rows = ReadRows(folder + "/rec.bin");
  CHECK(rows.trustworthy());
  CHECK(rows.rows.size() > 50);
  const Deliveries counted = CountedIn(folder);
  CHECK(counted.at_start < kMax);
  CHECK(counted.at_end < kMax);
  CHECK(counted.at_start + counted.at_end > 0);  // the count counts
}

}  // namespace

TEST_CASE("While no source is active, few objects are delivered") {
  const std::string source = GENERATE("auto", "jvmti");
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Load(folder, 4000, "duration=1s,source=" + source));
  INFO(source << "; " << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "running\ndone\n");
  RequireFew(folder);
}

TEST_CASE("While the JVM exits, few objects are delivered") {
  const std::string folder = FreshFolder();
  Process process(Load(folder, 60000, "source=auto"));
  REQUIRE(process.WaitForFile(folder + "/rec.bin"));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  process.Kill(SIGTERM);
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 128 + SIGTERM);
  RequireFew(folder);
}

TEST_CASE("After a command that ran out of memory few objects are delivered, and the application continues") {
  const std::string folder = FreshFolder();
  Process process(Load(folder, 60000, "source=auto"));
  REQUIRE(process.WaitForFile(folder + "/rec.bin"));
  std::ofstream(folder + "/deliveries.fail") << "";
  const Outcome asked = Run(Command{{JavaHome() + "/bin/jcmd", std::to_string(process.pid()), "JVMTI.agent_load",
                                     RunfilePath("tests/e2e/safety/libheaprec_deliveries.so"), "status"}});
  INFO(asked.out << asked.err);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const Deliveries counted = CountedIn(folder);
  CHECK(counted.at_start < kMax);
  CHECK(counted.at_start > 0);
  process.Kill(SIGTERM);
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 128 + SIGTERM);
  CHECK(outcome.err == "heaprec: not recording: out of memory\n");
}

namespace {

// The agent's heap within a JVM, beside the ring, whatever is recorded: every stack new, every class, every thread.
//
// HEAPREC_MEMORY_SECONDS=120: for how long.

constexpr int64_t kMaxHeap = 8 << 20;

int Seconds() {
  const char* const value = getenv("HEAPREC_MEMORY_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? atoi(value) : 10;
}

}  // namespace

TEST_CASE("The agent's heap stays below 8 MiB at the default rate, whatever is recorded") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.flags = {"-Xmx256m"},
                               .main = "e2e.Varied",
                               .args = {std::to_string(1000 * Seconds())},
                               .agent_options = "file=" + folder + "/rec.bin",
                               .agent = RunfilePath("tests/e2e/safety/libheaprec_counted.so")});
  command.environment = {"HEAPREC_HEAP_FILE=" + folder + "/heap"};
  command.seconds = Seconds();
  Process process(command);
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "done\n");
  const std::string counted = ReadFile(folder + "/heap");
  int64_t most = 0;
  REQUIRE(counted.size() == sizeof(most));
  std::memcpy(&most, counted.data(), sizeof(most));
  const size_t samples = ReadRows(folder + "/rec.bin").rows.size();
  WARN("heap: at most " << most << " bytes; " << samples << " samples");
  CHECK(most < kMaxHeap);
  CHECK(most > 1 << 20);  // the buffers alone: the count counts
  CHECK(samples > 50 * static_cast<size_t>(Seconds()));
}

}  // namespace heaprec::testing
