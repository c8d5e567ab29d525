// Labels in a real JVM: from Java and from C, of the thread that set them, and nothing without the agent.
//
// Objects of 1 to 7 MiB at a rate at which each is kept: tests/e2e/lifecycle/endings_test.cc says how sure that is.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

// The labels of each object, by its megabytes; absent: none.
std::map<int, json> LabelsOf(const std::string& recording) {
  const Outcome outcome = Run(Command{{HeaprecPath(), "print", "--json", recording}});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json events = json::parse(outcome.out)["events"];
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
  const Outcome attached = Run(Command{{HeaprecPath(), "attach", std::to_string(process.pid()), "--lib", AgentPath(),
                                        "-o", folder + "/rec.bin", "--rate", "20000"}});
  INFO(attached.err);
  REQUIRE(attached.exit_code == 0);
  std::ofstream(folder + "/go") << "go";
  CHECK(process.Finish().exit_code == 0);
  RequireLabels(folder + "/rec.bin");
}

}  // namespace heaprec::testing
