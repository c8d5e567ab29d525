// Starts a real JVM with the agent of jvm_agent.cc and reads its verdict.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/hotspot/jdk.h"

namespace heaprec::hotspot {
namespace {

struct Verdict {
  int good = 0;
  std::string bad;
};

Verdict Run(const std::string& options) {
  const std::string file = TestFolder() + "/verdict";
  std::filesystem::remove(file);
  const std::string command = JavaHome() + "/bin/java " + options +
                              " -agentpath:" + std::filesystem::current_path().string() +
                              "/tests/hotspot/libjvm_agent.so=" + file + " tests/hotspot/Churn.java " + file;
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe,cert-env33-c)
  Verdict verdict;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("OK ", 0) == 0)
      ++verdict.good;
    else
      verdict.bad += line + "\n";
  }
  return verdict;
}

constexpr int kChecks = 26;  // of the agent

TEST_CASE("Names, bytes, forced events, points and live patching agree with JVMTI with every collector") {
  for (const char* const collector : {"G1", "Serial", "Parallel", "Z", "Shenandoah"}) {
    const Verdict verdict = Run(std::string("-XX:+UnlockExperimentalVMOptions -XX:+Use") + collector + "GC");
    CHECK(verdict.bad.empty());
    CHECK(verdict.good == kChecks);
  }
}

TEST_CASE("Names, bytes and points agree with JVMTI in the interpreter, without TLABs, and with wide class pointers") {
  for (const char* const options : {"-Xint", "-XX:-UseTLAB", "-XX:-UseCompressedClassPointers"}) {
    const Verdict verdict = Run(options);
    CHECK(verdict.bad.empty());
    CHECK(verdict.good == kChecks);
  }
}

TEST_CASE("-Xcheck:jni reports nothing") {
  const Verdict verdict = Run("-Xcheck:jni");
  CHECK(verdict.bad.empty());
  CHECK(verdict.good == kChecks);
}

}  // namespace
}  // namespace heaprec::hotspot
