// heaprec escape: the known demonstrations of escape analysis, on the JDK of the test; and that no recording turns it
// off.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

Outcome Escape(std::vector<std::string> methods, const std::vector<std::string>& java) {
  Command command{{HeaprecPath(), "escape"}};
  command.args.insert(command.args.end(), methods.begin(), methods.end());
  command.args.insert(command.args.end(), {"--", JavaHome() + "/bin/java"});
  command.args.insert(command.args.end(), java.begin(), java.end());
  return Run(command);
}

// By mode.
std::map<std::string, json> ModesOf(const json& document, size_t method) {
  std::map<std::string, json> modes;
  for (const json& mode : document["methods"][method]["modes"]) modes[mode["mode"]] = mode;
  return modes;
}

// Bytes of a million calls that box a long.
int64_t BytesOfBoxing(const std::string& agent_options, const std::vector<std::string>& flags = {}) {
  const Outcome outcome = Run(Java{.flags = flags, .main = "e2e.Demos", .args = {}, .agent_options = agent_options});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  constexpr std::string_view kTold = "a million calls ";
  REQUIRE(outcome.out.starts_with(kTold));
  return std::strtoll(outcome.out.c_str() + kTold.size(), nullptr, 10);
}

}  // namespace

TEST_CASE("Objects that escape analysis removes are missing after C2, and those that escape are there") {
  const std::string demos = "e2e.Demos.";
  const Outcome outcome = Escape({demos + "boxing", demos + "iterator", demos + "concatenation", demos + "escapes",
                                  demos + "everyThird", demos + "prints", "--json"},
                                 {"-cp", ProgramsJar()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const json document = json::parse(outcome.out);
  for (const size_t method : {0, 1}) {
    auto modes = ModesOf(document, method);
    INFO(document["methods"][method].dump());
    for (const char* mode : {"interpreter", "c1", "c2_without"}) {
      CHECK(modes[mode]["objects"] == 1);
      CHECK(modes[mode]["bytes"] >= 16);
      CHECK(modes[mode]["classes"][0]["class"] == (method == 0 ? "java.lang.Long" : "java.util.ArrayList$Itr"));
    }
    CHECK(modes["c2"]["objects"] == 0);
    CHECK(modes["c2"]["bytes"] == 0);
  }
  auto concatenation = ModesOf(document, 2);
  CHECK(concatenation["c2"]["bytes"] < concatenation["interpreter"]["bytes"]);
  auto escapes = ModesOf(document, 3);
  for (const auto& [name, mode] : escapes) {
    CHECK(mode["objects"] == 1);
    CHECK(mode["bytes"] == escapes["interpreter"]["bytes"]);
    CHECK(mode["classes"][0]["class"] == "int[]");
  }
  auto third = ModesOf(document, 4);
  CHECK(third["c2"]["objects"] == 0);
  CHECK(third["c2"]["typical_calls"] < 140);
  CHECK(third["c2"]["mean_bytes"] >= 24);
  CHECK(ModesOf(document, 5)["c2"]["bytes"] == 0);
}

TEST_CASE("A method that cannot be called is reported, and the others are measured") {
  const Outcome outcome =
      Escape({"e2e.Demos.boxing", "e2e.Demos.fails", "e2e.Demos.withParameters", "e2e.Demos.none", "no.Class.here"},
             {"-cp", ProgramsJar()});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 2);
  // As docs/guide/exact-counts.md has it.
  CHECK(outcome.out.find("bytes and objects that a call allocates\n\n"
                         "interpreter  objects  C1  objects  C2 without  objects  C2  objects  method, class\n") !=
        std::string::npos);
  CHECK(outcome.out.find("e2e.Demos.fails: java.lang.IllegalStateException: as it should") != std::string::npos);
  CHECK(outcome.out.find("e2e.Demos.withParameters has parameters") != std::string::npos);
  CHECK(outcome.out.find("e2e.Demos has no method `none`\n") != std::string::npos);
  CHECK(outcome.out.find("java.lang.Long") != std::string::npos);
  const std::string no_class = "there is no class `no.Class` on the class path";
  CHECK(outcome.out.find(no_class) != std::string::npos);
  CHECK(outcome.out.find(no_class) == outcome.out.rfind(no_class));  // once
  CHECK(Escape({"e2e.Demos.fails"}, {"-cp", ProgramsJar()}).exit_code == 1);
}

TEST_CASE("A misspelled method costs one JVM and one line with the most similar name") {
  const std::string folder = FreshFolder(), starts = folder + "/starts", java = folder + "/java";
  std::ofstream(java) << "#!/bin/sh\necho >> " << starts << "\nexec " << JavaHome() << "/bin/java \"$@\"\n";
  chmod(java.c_str(), 0755);
  const Outcome outcome = Heaprec({"escape", "e2e.Demos.boxin", "--", java, "-cp", ProgramsJar()});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "heaprec: escape: e2e.Demos has no method `boxin`; did you mean `boxing`?\n");
  CHECK(std::filesystem::file_size(starts) == 1);
}

TEST_CASE("A lambda is measured alone, and its class is one row in all modes") {
  const Outcome outcome = Escape({"e2e.Demos.runsLambda", "--json"}, {"-cp", ProgramsJar()});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  for (const auto& [name, mode] : ModesOf(json::parse(outcome.out), 0)) {
    INFO(name);
    CHECK(mode["stable"] == true);
    CHECK(mode["typical_calls"] > 180);
    CHECK(mode["objects"] == (name == "c2" ? 0 : 1));
    if (name != "c2") CHECK(mode["classes"][0]["class"] == "e2e.Demos$$Lambda");
  }
}

TEST_CASE("The error names the reason if java cannot be run") {
  const auto refused = [](const std::vector<std::string>& java, int exit_code, const std::string& why) {
    const Outcome outcome = Escape({"e2e.Demos.boxing"}, java);
    INFO(outcome.err);
    CHECK(outcome.exit_code == exit_code);
    CHECK(outcome.err.find(why) != std::string::npos);
    CHECK(outcome.out.empty());
  };
  refused({"-cp", "x", "e2e.Demos"}, 2, "`e2e.Demos` is a main class");
  refused({"-jar", "x.jar"}, 2, "`-jar` selects a main class");
  refused({"-cp"}, 2, "`-cp` has no value");
  refused({"-XX:+NoSuchFlag"}, 5, "-Xint: java ended with exit code 1");
}

TEST_CASE("Recordings never turn escape analysis off") {
  const std::string file = "file=" + FreshFolder() + "/rec.bin,rate=1000";
  constexpr int64_t kNone = 1'000'000;  // a byte of each call; boxes are 16 at least
  CHECK(BytesOfBoxing("", {"-XX:-DoEscapeAnalysis"}) >= 16'000'000);
  CHECK(BytesOfBoxing("") < kNone);
  CHECK(BytesOfBoxing(file) < kNone);
  CHECK(BytesOfBoxing(file + ",live,exceptions=on") < kNone);
  CHECK(BytesOfBoxing(file + ",source=jvmti,stacks=jvmti") < kNone);
}

}  // namespace heaprec::testing
