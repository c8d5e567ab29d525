// Advice: each rule finds what e2e.Advice allocates for it, and nothing else; in clean programs no rule finds anything.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

std::vector<std::string> NamesOf(const std::string& list) {
  const Outcome listed = Run(Java{.main = "e2e.Advice"});
  std::vector<std::string> names;
  std::istringstream lines(listed.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != list) continue;
    while (words >> word) names.push_back(word);
  }
  return names;
}

std::string RecordingOf(const std::string& folder, const std::string& name) { return folder + "/" + name + ".hrec"; }

void Record(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<Command> commands;
  for (const std::string& name : names) {
    commands.push_back(CommandOf(Java{.flags = {"-Xmx256m"},
                                      .main = "e2e.Advice",
                                      .args = {name},
                                      .agent_options = "rate=1000,file=" + RecordingOf(folder, name)}));
  }
  for (const Outcome& outcome : RunAll(commands, 2)) {
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
  }
}

json AdviceOf(const std::string& recording) { return HeaprecJson({"summary", "--json", recording}).at("advice"); }

TEST_CASE("Each rule finds its own program, and is the only one") {
  const std::vector<std::string> rules = NamesOf("rules");
  REQUIRE(rules.size() == 12);
  const std::string folder = FreshFolder();
  Record(folder, rules);
  for (const std::string& rule : rules) {
    const json advice = AdviceOf(RecordingOf(folder, rule));
    INFO(rule << ": " << advice.dump());
    REQUIRE(advice.size() == 1);
    CHECK(advice[0]["rule"] == rule);
    CHECK(advice[0]["frame"].get<std::string>().starts_with("e2e.Advice"));
    CHECK(advice[0]["line"] > 0);
    // The rest is the start of the JVM and, of varargs, what the called method allocates.
    CHECK(advice[0]["share"]["low"] > (rule == "varargs" ? 0.2 : 0.8));
    const Outcome over = Heaprec({"check", RecordingOf(folder, rule), "--budget", "rule:" + rule + "<5%", "--json"});
    CHECK(over.exit_code == 1);
    CHECK(json::parse(over.out)["checks"][0]["outcome"] == "exceeded");
  }
}

TEST_CASE("No rule finds anything in programs that have nothing to change") {
  const std::vector<std::string> clean = NamesOf("clean");
  REQUIRE(clean.size() >= 10);
  const std::string folder = FreshFolder();
  Record(folder, clean);
  for (const std::string& name : clean) {
    const json advice = AdviceOf(RecordingOf(folder, name));
    INFO(name << ": " << advice.dump());
    CHECK(advice.empty());
    const Outcome within = Heaprec({"check", RecordingOf(folder, name), "--budget", "rule:*<5%", "--json"});
    INFO(within.out << within.err);
    CHECK(within.exit_code == 0);
  }
}

}  // namespace
}  // namespace heaprec::testing
