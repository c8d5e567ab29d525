// 32 threads of a JVM that allocate native memory in all ways at once, while others come and go and processes are
// started: under one recording, and while recordings begin and end. $HEAPREC_STRESS_SECONDS: for each collector; 3 by
// default, and then G1 only.
#include <cstdlib>

#include "tests/native/native_run.h"

namespace heaprec::testing {
namespace {

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
        Run(Command{{JavaHome() + "/bin/javac", "-d", made, Built("Native.java"), Built("NativeStress.java")}});
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return made;
  }();
  return folder;
}

Command StressOf(const std::string& collector, const std::string& agent_options) {
  // Threads in deflate() keep G1 and Parallel from collecting; up to JDK 21 others then run out of memory after two
  // attempts (JDK-8192647).
  Command command{{JavaHome() + "/bin/java", "-Xmx512m", "-XX:+UnlockExperimentalVMOptions",
                   "-XX:+UnlockDiagnosticVMOptions", "-XX:+IgnoreUnrecognizedVMOptions",
                   "-XX:GCLockerRetryAllocationCount=1000000", "-XX:+Use" + collector + "GC", "-cp", Compiled()}};
  if (!agent_options.empty()) command.args.push_back("-agentpath:" + AgentPath() + "=" + agent_options);
  for (const std::string& one :
       {std::string("NativeStress"), Built("libnative_jni.so"), Seconds(), std::string(kThreads)}) {
    command.args.push_back(one);
  }
  command.seconds = std::atoi(Seconds().c_str()) + 60;  // NOLINT(cert-err34-c)
  return command;
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
  const json native = Read({"native", "--json", file});
  if (!native["scan"]["trustworthy"].get<bool>()) {
    WARN("not judged: " << native["scan"]["reasons"]);
    const json& lost = native["scan"]["recordings"][0]["losses"]["malloc"]["lost"]["ring_full"];
    CHECK(lost["points"].get<uint64_t>() > 0);
    return;
  }
  const json row = RowOf(native, "libnative_jni.so.Java_Native_churn");
  CheckIsAbout(row["allocated"]["bytes"], truth);
  CHECK(row["live"]["bytes"]["value"] == 0);
}

}  // namespace

TEST_CASE("Threads and processes come and go while all allocate: the total is right, and freed blocks are dead") {
  for (const std::string& collector : Collectors()) {
    CAPTURE(collector);
    const std::string file = FreshFolder() + "/rec.bin";
    const double truth = ChurnedBy(Run(StressOf(collector, "file=" + file + ",native=on,native.rate=2000")));
    CheckChurn(file, truth);
    CheckVerified(file);
  }
}

TEST_CASE("Recordings begin and end while all threads allocate") {
  for (const std::string& collector : Collectors()) {
    CAPTURE(collector);
    const std::string folder = FreshFolder();
    Process process(StressOf(collector, ""));
    REQUIRE(process.WaitForOutput("running"));
    const std::string pid = std::to_string(process.pid());
    Command attach{
        {HeaprecPath(), "attach", pid, "-q", "--set", "native=on,native.rate=500", "-o", folder + "/%t.bin"}};
    attach.environment = {"HEAPREC_LIB=" + AgentPath()};
    int recordings = 0;
    while (Run(attach).exit_code == 0) {
      ++recordings;
      if (Run(Command{{HeaprecPath(), "stop", "-q", pid}}).exit_code != 0) break;
    }
    CHECK(recordings > 0);
    ChurnedBy(process.Finish());
  }
}

}  // namespace heaprec::testing
