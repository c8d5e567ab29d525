// Starts a real JVM with the agent of jvm_agent.cc and reads its verdict.
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::hotspot {
namespace {

struct Verdict {
  int good = 0;
  std::string bad;
};

Verdict Run(const std::vector<std::string>& options) {
  const std::string file = testing::FreshFolder() + "/verdict";
  testing::Command command{{testing::JavaHome() + "/bin/java"}};
  command.args.insert(command.args.end(), options.begin(), options.end());
  for (const std::string& one : {"-agentpath:" + testing::RunfilePath("tests/hotspot/libjvm_agent.so") + "=" + file,
                                 testing::RunfilePath("tests/hotspot/Churn.java"), file}) {
    command.args.push_back(one);
  }
  command.seconds = 600;  // by hand with many cycles
  const testing::Outcome outcome = testing::Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  Verdict verdict;
  std::istringstream lines(testing::ReadFile(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("OK ")) {
      ++verdict.good;
    } else {
      verdict.bad += line + "\n";
    }
  }
  return verdict;
}

void CheckGood(const std::vector<std::string>& options) {
  constexpr int kChecks = 26;  // of the agent
  const Verdict verdict = Run(options);
  CHECK(verdict.bad.empty());
  CHECK(verdict.good == kChecks);
}

TEST_CASE("Names, bytes, forced events, points and live patching agree with JVMTI with every collector") {
  for (const char* const collector : {"G1", "Serial", "Parallel", "Z", "Shenandoah"}) {
    CheckGood({"-XX:+UnlockExperimentalVMOptions", std::string("-XX:+Use") + collector + "GC"});
  }
}

TEST_CASE("Names, bytes and points agree with JVMTI in the interpreter, without TLABs, and with wide class pointers") {
  for (const char* const option : {"-Xint", "-XX:-UseTLAB", "-XX:-UseCompressedClassPointers"}) CheckGood({option});
}

TEST_CASE("-Xcheck:jni reports nothing") { CheckGood({"-Xcheck:jni"}); }

}  // namespace
}  // namespace heaprec::hotspot
