// Every stack that the walker takes equals JVMTI's GetStackTrace on the same allocation, and an identity stands for one
// stack only. HEAPREC_STACKS: how many are compared over all modes (24,000). By hand, for hours:
//   bazel test //tests/hotspot:stacks_test --test_env=HEAPREC_STACKS=1000000 --test_env=JAVA_HOME=...
//   --test_timeout=7200
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::hotspot {
namespace {

// "compared=60000 different=0 ... what differs": the counts, and the rest of the line.
struct Verdict {
  uint64_t compared = 0, different = 0, unknown = 0, deep = 0;
  std::string line;
};

uint64_t StacksWanted() {
  const char* const stacks = getenv("HEAPREC_STACKS");  // NOLINT(concurrency-mt-unsafe)
  return stacks != nullptr ? std::strtoull(stacks, nullptr, 10) : 24'000;
}

uint64_t Count(const std::string& line, const std::string& name) {
  const size_t at = line.find(name + "=");
  return at == std::string::npos ? 0 : std::strtoull(line.c_str() + at + name.size() + 1, nullptr, 10);
}

Verdict Compare(const std::vector<std::string>& mode, uint64_t stacks) {
  const std::string file = testing::FreshFolder() + "/verdict";
  testing::Command command{{testing::JavaHome() + "/bin/java"}};
  command.args.insert(command.args.end(), mode.begin(), mode.end());
  for (const std::string& one :
       {"-agentpath:" + testing::RunfilePath("tests/hotspot/libstack_agent.so") + "=" + std::to_string(stacks) + "," +
            file,
        std::string("-cp"), testing::RunfilePath("tests/hotspot/stacks.jar"), std::string("Stacks")}) {
    command.args.push_back(one);
  }
  command.seconds = static_cast<int>(60 + stacks / 20);
  const testing::Outcome outcome = testing::Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  Verdict verdict;
  verdict.line = testing::ReadFile(file);
  verdict.line = verdict.line.substr(0, verdict.line.find('\n'));
  verdict.compared = Count(verdict.line, "compared");
  verdict.different = Count(verdict.line, "different");
  verdict.unknown = Count(verdict.line, "unknown");
  verdict.deep = Count(verdict.line, "deep");
  return verdict;
}

TEST_CASE("Walked stacks equal those of GetStackTrace in every mode of the JVM") {
  const std::vector<std::vector<std::string>> modes = {{},
                                                       {"-Xint"},
                                                       {"-XX:TieredStopAtLevel=1"},
                                                       {"-XX:-TieredCompilation"},
                                                       {"-XX:+UseSerialGC", "-XX:-UseCompressedClassPointers"}};
  const uint64_t each = StacksWanted() / modes.size();
  for (const std::vector<std::string>& mode : modes) {
    const Verdict verdict = Compare(mode, each);
    std::cout << (mode.empty() ? "" : mode.back()) << ": " << verdict.line << std::endl;
    CHECK(verdict.different == 0);
    CHECK(verdict.compared >= each);
    CHECK(verdict.deep > 0);  // their leaf sides are compared
    // Left to JVMTI: virtual threads whose frames are still partly in the heap.
    CHECK(verdict.unknown < verdict.compared / 10);
  }
}

}  // namespace
}  // namespace heaprec::hotspot
