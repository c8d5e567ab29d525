// 32 threads of a JVM that allocate native memory in all ways at once, while others come and go and processes are
// started: under one recording, and while recordings begin and end. $HEAPREC_STRESS_SECONDS: for each collector; 3 by
// default, and then G1 only.
//
// Statistic: a total by six standard deviations of its interval; chance alone is so far off once in 500 million times.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::native {
namespace {

using nlohmann::json;
using testing::Command;
using testing::FreshFolder;
using testing::HeaprecPath;
using testing::Outcome;
using testing::Run;
using testing::RunfilePath;

constexpr double kSigmas = 6, kSigmasOfInterval = 1.96;
constexpr const char* kThreads = "32";

const char* SecondsOrNull() { return getenv("HEAPREC_STRESS_SECONDS"); }  // NOLINT(concurrency-mt-unsafe): one thread
std::string Seconds() { return SecondsOrNull() != nullptr ? SecondsOrNull() : "3"; }
std::vector<std::string> Collectors() {
  if (SecondsOrNull() == nullptr) return {"G1"};
  return {"G1", "Serial", "Parallel", "Z", "Shenandoah"};
}

// Source files together, so that each knows the other.
std::string Compiled() {
  static const std::string folder = [] {
    const std::string made = FreshFolder();
    const Outcome outcome =
        Run(Command{{testing::JavaHome() + "/bin/javac", "-d", made, RunfilePath("tests/native/Native.java"),
                     RunfilePath("tests/native/NativeStress.java")}});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return made;
  }();
  return folder;
}

Command StressOf(const std::string& collector, const std::string& agent_options) {
  // Threads in deflate() keep G1 and Parallel from collecting; up to JDK 21 others then run out of memory after two
  // attempts (JDK-8192647).
  Command command{{testing::JavaHome() + "/bin/java", "-Xmx512m", "-XX:+UnlockExperimentalVMOptions",
                   "-XX:+UnlockDiagnosticVMOptions", "-XX:+IgnoreUnrecognizedVMOptions",
                   "-XX:GCLockerRetryAllocationCount=1000000", "-XX:+Use" + collector + "GC", "-cp", Compiled()}};
  if (!agent_options.empty()) command.args.push_back("-agentpath:" + testing::AgentPath() + "=" + agent_options);
  for (const std::string& one :
       {std::string("NativeStress"), RunfilePath("tests/native/libnative_jni.so"), Seconds(), std::string(kThreads)}) {
    command.args.push_back(one);
  }
  command.seconds = std::atoi(Seconds().c_str()) + 60;  // NOLINT(cert-err34-c)
  return command;
}

json JsonOf(const std::vector<std::string>& args) {
  Command command{{HeaprecPath()}};
  command.args.insert(command.args.end(), args.begin(), args.end());
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.out.empty() ? json() : json::parse(outcome.out);
}

double ChurnedBy(const Outcome& outcome) {
  INFO(outcome.err);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.find("heaprec:") == std::string::npos);
  const std::string before = "running\nchurned ";
  REQUIRE(outcome.out.starts_with(before));
  return std::stod(outcome.out.substr(before.size()));
}

// A machine on which 32 threads leave the drain no time loses samples. The recording says so, and claims nothing.
void CheckChurn(const std::string& file, double truth) {
  const json native = JsonOf({"native", "--json", file});
  if (!native["scan"]["trustworthy"].get<bool>()) {
    WARN("not judged: " << native["scan"]["reasons"]);
    const json& lost = native["scan"]["recordings"][0]["losses"]["malloc"]["lost"]["ring_full"];
    CHECK(lost["points"].get<uint64_t>() > 0);
    return;
  }
  for (const json& row : native["rows"]) {
    if (row["name"] != "libnative_jni.so.Java_Native_churn") continue;
    const json& bytes = row["allocated"]["bytes"];
    const double value = bytes["value"],
                 side = std::max(bytes["high"].get<double>() - value, value - bytes["low"].get<double>());
    CAPTURE(value, side, truth);
    CHECK(std::abs(value - truth) <= side * kSigmas / kSigmasOfInterval);
    CHECK(row["live"]["bytes"]["value"] == 0);
    return;
  }
  FAIL("nothing was churned");
}

}  // namespace

TEST_CASE("Threads and processes come and go while all allocate: the total is right, and freed blocks are dead") {
  for (const std::string& collector : Collectors()) {
    CAPTURE(collector);
    const std::string file = FreshFolder() + "/rec.bin";
    const double truth = ChurnedBy(Run(StressOf(collector, "file=" + file + ",native=on,native.rate=2000")));
    CheckChurn(file, truth);
    JsonOf({"verify", "-q", file});
  }
}

TEST_CASE("Recordings begin and end while all threads allocate") {
  for (const std::string& collector : Collectors()) {
    CAPTURE(collector);
    const std::string folder = FreshFolder();
    testing::Process process(StressOf(collector, ""));
    REQUIRE(process.WaitForOutput("running"));
    const std::string pid = std::to_string(process.pid());
    Command attach{
        {HeaprecPath(), "attach", pid, "-q", "--set", "native=on,native.rate=500", "-o", folder + "/%t.bin"}};
    attach.environment = {"HEAPREC_LIB=" + testing::AgentPath()};
    int recordings = 0;
    while (Run(attach).exit_code == 0) {
      ++recordings;
      if (Run(Command{{HeaprecPath(), "stop", "-q", pid}}).exit_code != 0) break;
    }
    CHECK(recordings > 0);
    ChurnedBy(process.Finish());
  }
}

}  // namespace heaprec::native
