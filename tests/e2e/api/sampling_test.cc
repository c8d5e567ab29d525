// include/heaprec_sampling.h: another agent samples through the library, which need not be an agent itself.
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

// The numbers of the line that begins with `name`, in order.
std::vector<int> Numbers(const std::string& out, const std::string& name) {
  const size_t at = ("\n" + out).find("\n" + name + " ");
  INFO(name << " in:\n" << out);
  REQUIRE(at != std::string::npos);
  std::vector<int> numbers;
  const std::string line = out.substr(at, out.find('\n', at) - at);
  for (size_t i = 0; i < line.size(); ++i) {
    const bool begins = isdigit(line[i]) != 0 && i > 0 && line[i - 1] == ' ';
    if (begins) numbers.push_back(atoi(line.c_str() + i));
  }
  return numbers;
}

Outcome Sampled(const std::string& options, std::vector<std::string> flags) {
  flags.emplace_back("-Xmx300m");
  flags.push_back("-agentpath:" + RunfilePath("tests/e2e/api/libsampling_agent.so") + "=" + AgentPath() + ":" +
                  options);
  return Run(Java{.flags = flags, .main = "e2e.Followed"});
}

// 2,200 arrays of 100,000 bytes, and little else that is large: with 50,000 bytes between samples each is sampled.
// There is room for all of them: on a busy machine a collector may leave more than 1,000 before it finds one dead.
void RequireAll(const std::vector<std::string>& flags) {
  const Outcome outcome = Sampled("50000:4000", flags);
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("kept 200\n") != std::string::npos);
  CHECK(Numbers(outcome.out, "invalid") == std::vector{1});
  CHECK(Numbers(outcome.out, "started") == std::vector{0});
  const auto told =
      Numbers(outcome.out, "samples");  // samples, early, late, kept, dropped, without_stack, without_code
  CHECK(told[0] >= 2178);
  CHECK(told[1] == 0);
  CHECK(told[2] <= told[0] / 100);  // dropped by the JVM: as it collects
  CHECK(told[3] >= 198);
  CHECK(told[4] >= 1980);
  CHECK(told[5] <= told[0] / 10);
  CHECK(told[6] <= told[5]);
  const auto live = Numbers(outcome.out, "live");  // all, kept, dropped, without_context, bad_times
  CHECK(live[1] == told[3]);
  CHECK(live[2] == 0);
  CHECK(live[3] == 0);
  CHECK(live[4] == 0);
  for (const char* garbage : {"recent", "sampled"}) {
    const auto dead = Numbers(outcome.out, garbage);
    CHECK(dead[0] == 200);
    CHECK(dead[1] == 0);
    CHECK(dead[2] > 100);
    CHECK(dead[3] == 0);
    CHECK(dead[4] == 0);
  }
}

}  // namespace

TEST_CASE("Another agent gets an object each so many bytes of a thread, what lives of them, and what does not") {
  RequireAll({"-XX:+UseG1GC"});
  RequireAll({"-XX:+UseSerialGC"});
  RequireAll({"-XX:+UseParallelGC", "-Xcheck:jni"});
  RequireAll({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"});
  RequireAll({"-XX:+UseShenandoahGC"});
}

TEST_CASE("At most the requested number of objects is tracked, by default none") {
  const Outcome few = Sampled("50000:10", {"-XX:+UseG1GC"});
  INFO(few.out << few.err);
  REQUIRE(few.exit_code == 0);
  const int live = Numbers(few.out, "live")[0];
  CHECK(live <= 10);
  CHECK(live > 0);
  const Outcome none = Sampled("50000:0", {});
  INFO(none.out << none.err);
  CHECK(Numbers(none.out, "live")[0] == 0);
  CHECK(Numbers(none.out, "recent")[0] == 0);
}

TEST_CASE("The function can be replaced, and sampling can end") {
  const Outcome outcome = Sampled("50000:100", {});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(Numbers(outcome.out, "replaced") == std::vector{0});
  const auto stopped = Numbers(outcome.out, "stopped");
  REQUIRE(stopped.size() == 3);
  CHECK(stopped[0] == 0);
  CHECK(stopped[1] == 0);
  CHECK(stopped[2] >= 1);
  CHECK(outcome.out.rfind("live 0 ") != std::string::npos);  // its references are given back
}

TEST_CASE("Sampling is refused while a recording runs, and the other way round") {
  const std::string folder = FreshFolder();
  const std::string sampler =
      "-agentpath:" + RunfilePath("tests/e2e/api/libsampling_agent.so") + "=" + AgentPath() + ":50000:10";
  const Outcome recorded =
      Run(Java{.flags = {sampler}, .main = "e2e.Followed", .agent_options = "file=" + folder + "/rec.bin"});
  INFO(recorded.out << recorded.err);
  CHECK(recorded.exit_code == 0);
  // Agents start in the order of the command line: one of the two was told.
  const bool sampled = recorded.out.find("started 0") != std::string::npos;
  CHECK((recorded.err.find("another agent samples through heaprec") != std::string::npos) == sampled);
  CHECK((recorded.out.find("started 2") != std::string::npos) == !sampled);
  CHECK(FileExists(folder + "/rec.bin") == !sampled);
}

}  // namespace heaprec::testing
