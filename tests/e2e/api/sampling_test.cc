// include/heaprec_sampling.h: another agent samples through the library, which need not be an agent itself.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
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

namespace {

// A program that samples itself through heaprec.Heaprec, and asks for what lives and what died.

// What e2e.Traces tells of a list of traces.
struct Told {
  int all = 0, kept = 0, dropped = 0, other = 0, wrong = 0;
  double weight = 0;
};

Told ToldOf(const std::string& out, const std::string& name) {
  const size_t at = ("\n" + out).find("\n" + name + " ");
  INFO(name << " in:\n" << out);
  REQUIRE(at != std::string::npos);
  Told told;
  REQUIRE(sscanf(out.c_str() + at + name.size(), " %d kept %d dropped %d other %d wrong %d weight %lf", &told.all,
                 &told.kept, &told.dropped, &told.other, &told.wrong, &told.weight) == 6);
  return told;
}

Outcome Sampled(const std::vector<std::string>& flags, const std::string& every, const std::string& tracked) {
  std::vector<std::string> all = flags;
  all.emplace_back("-Xmx300m");
  return Run(Java{.flags = all, .main = "e2e.Traces", .args = {AgentPath(), every, tracked}});
}

// Each array is sampled with 1 - exp(-2): of 400 that are kept 346 on average. Not between 300 and 386 with 1e-8
// (Chernoff), with room for some that the JVM does not deliver.
void RequireTraces(const std::vector<std::string>& flags) {
  const Outcome outcome = Sampled(flags, "50000", "4000");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out.starts_with("before refused: heaprec: cannot load the agent: there is no libheaprec.so for "));
  CHECK(outcome.out.find("\ninvalid refused: everyBytes: 0\nstart done\n") != std::string::npos);
  CHECK(outcome.out.find("recording refused: heaprec: the application samples through heaprec") != std::string::npos);
  const Told live = ToldOf(outcome.out, "live");
  CHECK(live.kept >= 300);
  CHECK(live.kept <= 386);
  CHECK(live.dropped == 0);
  CHECK(live.other >= live.kept / 3);
  CHECK(live.other <= live.kept * 2 / 3);
  CHECK(live.wrong == 0);
  CHECK(live.weight == Approx(live.kept * 100'000 / 0.8646647).epsilon(1e-6));
  for (const char* garbage : {"recent", "sampled"}) {
    const Told dead = ToldOf(outcome.out, garbage);
    CHECK(dead.all == 200);
    CHECK(dead.kept == 0);
    CHECK(dead.dropped > 100);
    CHECK(dead.wrong == 0);
  }
  const Told stopped = ToldOf(outcome.out, "stopped");
  CHECK(stopped.all == 0);
  CHECK(outcome.out.find(" B) at ") != std::string::npos);
  // Twenty samplings with room for 65,536 objects, 90 MB each, are not kept.
  const size_t resident = outcome.out.find("\nresident ");
  REQUIRE(resident != std::string::npos);
  CHECK(atoi(outcome.out.c_str() + resident + strlen("\nresident ")) < 1'000'000);
  CHECK(outcome.out.ends_with("still 400\n"));
}

}  // namespace

TEST_CASE("A program gets its live and its dead objects, with stacks") {
  RequireTraces({"-XX:+UseG1GC"});
  RequireTraces({"-XX:+UseParallelGC", "-Xcheck:jni"});
  RequireTraces({"-XX:+UseSerialGC", "-Xint"});
}

TEST_CASE("Never more objects are tracked than requested") {
  const Outcome outcome = Sampled({}, "50000", "10");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Told live = ToldOf(outcome.out, "live");
  CHECK(live.all > 0);
  CHECK(live.all <= 10);
}

// -Xbatch: calls wait for the compiler.
TEST_CASE("A trace says whether the interpreter, C1, C2 or a native method allocated") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> modes = {
      {{"-Xint"}, "long[] by native code\nint[] by the interpreter\n"},
      {{"-Xbatch", "-XX:TieredStopAtLevel=1"}, "int[] by C1\n"},
      {{"-Xbatch", "-XX:-TieredCompilation"}, "int[] by C2\n"}};
  for (const auto& [flags, expected] : modes) {
    const Outcome outcome = Run(Java{.flags = flags, .main = "e2e.Traces", .args = {"codes", AgentPath()}});
    INFO(flags.back() << ":\n" << outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out.ends_with(expected));
    CHECK(outcome.out.find("int[] by ") == outcome.out.rfind("int[] by "));
  }
}

TEST_CASE("Dead objects of unloaded classes keep the names of their frames") {
  const Outcome outcome = Run(Java{.flags = {"-Xmx200m"}, .main = "e2e.Unloaded", .args = {AgentPath(), "3"}});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out.find("unloaded true") != std::string::npos);
  for (const char* garbage : {"recent", "sampled"}) {
    int named = 0, unknown = 0;
    const size_t at = outcome.out.find(std::string(garbage) + " named ");
    REQUIRE(at != std::string::npos);
    REQUIRE(sscanf(outcome.out.c_str() + at + strlen(garbage), " named %d unknown %d", &named, &unknown) == 2);
    CHECK(named > 100);
    CHECK(unknown == 0);
  }
}

// Of 200 MiB with a mean distance of 16 MiB: 12.5 samples are expected, each of 16 MiB, and more than 62 of them with
// a chance of 1e-20. A sample point that was drawn with the old mean, 16 KiB, would be one for each thread, 3.1 GiB.
TEST_CASE("Sums of weights are unbiased after a second call with another interval") {
  const Outcome outcome = Run(Java{.flags = {"-Xmx600m"}, .main = "e2e.Traces", .args = {"again", AgentPath()}});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  int kept = 0;
  double weight = 0;
  REQUIRE(sscanf(outcome.out.c_str(), "kept %d weight %lf", &kept, &weight) == 2);
  CHECK(kept == 200 * 64);
  CHECK(weight < 1e9);
}

TEST_CASE("While a recording runs, or another agent samples, sampling is refused") {
  const std::string folder = FreshFolder();
  const Outcome recorded =
      Run(Java{.main = "e2e.Traces", .args = {"-", "50000", "10"}, .agent_options = "file=" + folder + "/rec.bin"});
  INFO(recorded.out << recorded.err);
  CHECK(recorded.out.find("start refused: heaprec: a recording is running") != std::string::npos);
  CHECK(FileExists(folder + "/rec.bin"));
  const std::string sampler =
      "-agentpath:" + RunfilePath("tests/e2e/api/libsampling_agent.so") + "=" + AgentPath() + ":50000:10";
  const Outcome sampled = Run(Java{.flags = {sampler}, .main = "e2e.Traces", .args = {AgentPath(), "50000", "10"}});
  INFO(sampled.out << sampled.err);
  CHECK(sampled.out.find("start refused: heaprec: another client already samples through heaprec") !=
        std::string::npos);
  CHECK(sampled.out.find("live 0 ") != std::string::npos);  // what another one follows is not its business
}

}  // namespace heaprec::testing
