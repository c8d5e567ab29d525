// A census (option census) against a program that knows what it has made, beside every collector of the JDK.
//
// Statistic: of a census that is drawn, the objects of two classes that are in every TLAB, against the program's own
//            count: 5.5 standard errors of some hundred walks; the normal's tails are beyond with probability 4e-8.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

constexpr char kSteps[] = "1000000";
constexpr int kThreads = 4;
// What a thread allocates behind its last look at its own count.
constexpr double kSlackBytes = 64 * 1024;

// What the program printed: "Small 4000000".
std::map<std::string, double> ToldBy(const std::string& out) {
  std::map<std::string, double> told;
  std::istringstream lines(out);
  std::string name;
  double number = 0;
  while (lines >> name) {
    if (lines >> number) told[name] = number;
    lines.clear();
  }
  return told;
}

json Census(const std::string& recording, const std::vector<std::string>& options = {}) {
  return HeaprecJson({"census", "--json", recording}, options);
}

json RowOf(const json& census, const std::string& name) {
  for (const json& row : census["rows"]) {
    if (row["name"] == name) return row;
  }
  return {{"objects", {{"value", 0.0}, {"low", 0.0}, {"high", 0.0}}}, {"bytes", {{"value", 0.0}}}, {"walks", 0}};
}

double ObjectsOf(const json& census, const std::string& class_name) {
  return RowOf(census, "e2e.Counted$" + class_name)["objects"]["value"];
}

const std::vector<std::string> kKinds{"Small", "Pair", "Small[]", "Pair[]"};

void RequireCounts(const json& census, const std::map<std::string, double>& told) {
  for (const std::string& kind : kKinds) {
    INFO(kind);
    REQUIRE(told.at(kind) > 0);
    CHECK(ObjectsOf(census, kind) == told.at(kind));
  }
}

void RequireThreads(const std::string& recording, const std::map<std::string, double>& told) {
  const json threads = Census(recording, {"--by", "thread"});
  for (int t = 0; t < kThreads; ++t) {
    const std::string name = "counted-" + std::to_string(t);
    const double bytes = RowOf(threads, name)["bytes"]["value"];
    INFO(name);
    CHECK(bytes >= told.at(name));
    CHECK(bytes <= told.at(name) + kSlackBytes);
  }
}

Java Counting(std::vector<std::string> flags, const std::string& options = "", const std::string& steps = kSteps) {
  flags.emplace_back("-Xmx400m");
  return {.flags = std::move(flags),
          .main = "e2e.Counted",
          .args = {steps, std::to_string(kThreads), "0"},
          .agent_options = options};
}

struct Exact {
  std::vector<std::string> flags;
  std::string options = "", steps = kSteps;
};

void RequireExact(const std::vector<Exact>& cases) {
  std::vector<JavaWithOptions> all;
  for (const Exact& one : cases) all.push_back({Counting(one.flags, "", one.steps), "census=all" + one.options});
  const std::vector<RecordedJava> recorded = RecordAll(all, 3);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [recording, outcome] = recorded[i];
    CAPTURE(cases[i].flags, cases[i].options, outcome.out, outcome.err);
    CHECK(outcome.err.find("heaprec") == std::string::npos);
    RequireVerified(recording);
    const auto told = ToldBy(outcome.out);
    const json census = Census(recording);
    INFO(census["recordings"].dump());
    CHECK(census["exact"] == true);
    RequireCounts(census, told);
    RequireThreads(recording, told);
  }
}

// Whether this JVM knows the flag.
bool IsTaken(const std::string& flag) {
  return Run(Command{{JavaHome() + "/bin/java", flag, "-version"}}).exit_code == 0;
}

void Touch(const std::string& path) { std::ofstream(path).put('\n'); }

}  // namespace

TEST_CASE("A census counts each object of each class, with every collector") {
  RequireExact({{{"-XX:+UseG1GC"}},
                {{"-XX:+UseSerialGC"}},
                {{"-XX:+UseParallelGC"}},
                {{"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"}},
                {{"-XX:+UseShenandoahGC"}}});
}

TEST_CASE(
    "A census is exact whatever the JVM makes of classes, references and code, and beside all else that is recorded") {
  std::vector<Exact> cases{{{"-XX:-UseCompressedClassPointers", "-XX:-UseCompressedOops"}},
                           {{"-XX:ObjectAlignmentInBytes=16"}},
                           {{"-Xint"}},
                           {{"-XX:+UseSerialGC", "-Xmn4m"}},
                           {{"-XX:TLABSize=16k", "-XX:-ResizeTLAB"}},
                           {{"-XX:+UseG1GC"}, ",exceptions=on,live=on,rate=1000"}};
  if (IsTaken("-XX:+UseCompactObjectHeaders")) cases.push_back({{"-XX:+UseCompactObjectHeaders"}});
  RequireExact(cases);
}

TEST_CASE("A census is exact with hundreds of thousands of walks per second, and without TLABs") {
  RequireExact({{{"-XX:TLABSize=2k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"}}, {{"-XX:-UseTLAB"}, "", "100000"}});
}

TEST_CASE("Stack chunks of virtual threads do not end a walk") {
  std::vector<JavaWithOptions> all;
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"-XX:+UseG1GC"},
                                             {"-XX:+UseG1GC", "-XX:-UseCompressedOops"},
                                             {"-XX:+UseShenandoahGC"},
                                             {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"}}) {
    all.push_back({{.flags = flags, .main = "e2e.Virtuals", .args = {"3000"}}, "census=all"});
  }
  for (const auto& [recording, outcome] : RecordAll(all, all.size())) {
    INFO(outcome.out << outcome.err);
    const json census = Census(recording);
    INFO(census["recordings"].dump());
    CHECK(census["exact"] == true);
    if (outcome.out == "none\n") continue;
    CHECK(ObjectsOf(census, "Small") == ToldBy(outcome.out).at("Small"));
  }
}

TEST_CASE("A census of a running JVM counts exactly what is allocated between its start and its stop") {
  for (const std::string collector : {"G1", "Serial", "Parallel", "Z", "Shenandoah"}) {
    INFO(collector);
    const std::string folder = FreshFolder();
    const std::string recording = folder + "/rec.bin";
    Java java{.flags = {"-XX:+UnlockExperimentalVMOptions", "-XX:+Use" + collector + "GC", "-Xmx400m"},
              .main = "e2e.Counted",
              .args = {kSteps, std::to_string(kThreads), "0", folder}};
    Process process(CommandOf(java));
    REQUIRE(process.WaitForOutput("ready"));
    const std::string pid = std::to_string(process.pid());
    RequireHeaprec({"attach", pid, "--set", "census=all", "--output", recording});
    Touch(folder + "/go");
    REQUIRE(process.WaitForOutput("done"));
    RequireHeaprec({"stop", pid});
    Touch(folder + "/end");
    const Outcome outcome = process.Finish();
    CHECK(outcome.exit_code == 0);
    RequireVerified(recording);
    const auto told = ToldBy(outcome.out);
    const json census = Census(recording);
    INFO(census["recordings"].dump());
    CHECK(census["exact"] == true);
    RequireCounts(census, told);
    CHECK(ObjectsOf(census, "Early") == 0);
    CHECK(ObjectsOf(census, "Late") == 0);
    RequireThreads(recording, told);
  }
}

TEST_CASE("A random census stays below its rate, and its intervals contain the truth") {
  constexpr int kPerSecond = 100;
  Java java = Counting({"-XX:TLABSize=64k", "-XX:-ResizeTLAB"});
  java.args = {kSteps, std::to_string(kThreads), "4000"};
  const auto [recording, outcome] = RecordJava(java, "census=100/s");
  RequireVerified(recording);
  const auto told = ToldBy(outcome.out);
  const json census = Census(recording);
  INFO(census["recordings"].dump());
  CHECK(census["exact"] == false);
  const json counters = census["recordings"][0];
  // Less than a tenth of all: else it is no sample.
  CHECK(counters["walks"].get<double>() < 0.1 * (counters["tlabs"].get<double>() + counters["outside"].get<double>()));
  CHECK(counters["walks"] > kPerSecond);
  for (const std::string kind : {"Small", "Pair"}) {
    const json objects = RowOf(census, "e2e.Counted$" + kind)["objects"];
    INFO(kind << ": " << objects.dump());
    // On a starved machine too few walks may have been drawn for an estimate: then there is no upper end.
    if (objects["high"].is_null()) {
      CHECK(objects["low"] <= told.at(kind));
      continue;
    }
    const double value = objects["value"], high = objects["high"];
    const double error = (high - value) / 1.96;
    INFO(kind << ": " << value << " of " << told.at(kind) << ", standard error " << error);
    // What a second had no room for is missing, and said to be.
    const double missing = counters["over_budget_bytes"].get<double>() / 6e8;
    CHECK(value - told.at(kind) < 5.5 * error);
    CHECK(told.at(kind) * (1 - missing) - value < 5.5 * error);
    CHECK(missing < 0.02);
    CHECK(error < 0.15 * value);
  }
  const json by_time = Census(recording, {"--by", "time"});
  for (const json& second : by_time["rows"]) {
    // A walk counts where it was published, which may be a moment later than where it was drawn.
    CHECK(second["walks"] <= kPerSecond + kThreads);
  }
}

// HEAPREC_CENSUS_RUNS=40: how many recordings. Statistic: 95 % of the intervals hold, and those of one recording go
// together: all of 3 recordings miss with probability 1e-4, both of 2 with 2.5e-3, more than 15 % of those of 40 with
// 3e-3. On a starved machine most have no upper end, and one alone says nothing.
TEST_CASE("Intervals of a second with 20 walks contain the truth, or have no upper end") {
  const char* const given = getenv("HEAPREC_CENSUS_RUNS");  // NOLINT(concurrency-mt-unsafe): a test
  const int runs = given != nullptr ? std::atoi(given) : 3;
  int with = 0, held = 0, all = 0;
  for (int run = 0; run < runs; ++run) {
    Java java = Counting({"-XX:TLABSize=64k", "-XX:-ResizeTLAB"});
    java.args = {"1000000", "2", "900"};
    const auto [recording, outcome] = RecordJava(java, "census=20/s");
    const auto told = ToldBy(outcome.out);
    const json census = Census(recording);
    for (const std::string kind : {"Small", "Pair", "Small[]"}) {
      const json objects = RowOf(census, "e2e.Counted$" + kind)["objects"];
      const double truth = static_cast<double>(told.at(kind));
      ++all;
      if (objects["high"].is_null()) continue;
      ++with;
      held += objects["low"] <= truth && objects["high"] >= truth ? 1 : 0;
    }
  }
  WARN(held << " of " << with << " intervals hold the truth; " << all - with << " estimates have no upper end");
  if (with > 3) CHECK(held >= (runs < 20 ? 0.3 : 0.85) * with);
}

TEST_CASE(
    "A copy that a program makes of its recording has each object that was made before, and the whole each once") {
  std::vector<std::string> folders;
  std::vector<Command> commands;
  for (const std::string collector : {"G1", "Serial", "Z"}) {
    const std::string folder = folders.emplace_back(FreshFolder());
    commands.push_back(CommandOf(Java{.flags = {"-XX:+UnlockExperimentalVMOptions", "-XX:+Use" + collector + "GC"},
                                      .main = "e2e.Recounted",
                                      .args = {folder, "3", "100003"},
                                      .agent_options = "file=" + folder + "/rec.bin,census=all"}));
  }
  const std::vector<Outcome> outcomes = RunAll(commands, commands.size());
  for (size_t run = 0; run < outcomes.size(); ++run) {
    const std::string& folder = folders[run];
    CAPTURE(run, outcomes[run].out, outcomes[run].err);
    REQUIRE(outcomes[run].exit_code == 0);
    for (int i = 0; i < 3; ++i) {
      const std::string copy = folder + "/copy-" + std::to_string(i) + ".bin";
      CHECK(ObjectsOf(Census(copy), "Small") == (i + 1) * 100'003);
      RequireVerified(copy);
    }
    CHECK(ObjectsOf(Census(folder + "/rec.bin"), "Small") == 400'012);
    RequireVerified(folder + "/rec.bin");
  }
}

// HEAPREC_SECONDS=600: how long under each collector.
TEST_CASE("A census works while threads and classes come and go, with collections and heap histograms") {
  const char* const seconds = getenv("HEAPREC_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  struct Running {
    std::string collector, recording;
    Process process;
  };
  std::vector<Running> all;
  for (const std::string collector : {"G1", "Serial", "Parallel", "Z", "Shenandoah"}) {
    const std::string recording = FreshFolder() + "/rec.bin";
    Java java{.flags = {"-XX:+UnlockExperimentalVMOptions", "-XX:+Use" + collector + "GC", "-Xmx400m"},
              .main = "e2e.Busy",
              .args = {"3", seconds != nullptr ? seconds : "2"},
              .agent_options = "file=" + recording + ",census=all"};
    Command command = CommandOf(java);
    command.seconds = seconds != nullptr ? std::atoi(seconds) : 2;  // NOLINT(cert-err34-c): of the test's own
    all.push_back({collector, recording, Process(command)});
    (void)Run(
        Command{{JavaHome() + "/bin/jcmd", std::to_string(all.back().process.pid()), "GC.class_histogram", "-all"}});
  }
  for (auto& [collector, recording, process] : all) {
    const Outcome outcome = process.Finish();
    INFO(collector << outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    RequireVerified(recording);
    const auto told = ToldBy(outcome.out);
    const json census = Census(recording);
    INFO(census["recordings"].dump());
    CHECK(census["recordings"][0]["aborted"] == 0);
    CHECK(census["recordings"][0]["unvisited"] == 0);
    CHECK(census["recordings"][0]["lost"] == 0);
    RequireCounts(census, told);
    CHECK(ObjectsOf(census, "Early") == told.at("Early"));
    CHECK(ObjectsOf(census, "Late") == told.at("Late"));
  }
}

TEST_CASE("The census of a killed JVM is in its ring, and complete in a flushed copy") {
  const std::string recording = FreshFolder() + "/rec.bin", folder = FreshFolder();
  Java java = Counting({"-XX:+UseG1GC"}, "file=" + recording + ",census=all");
  java.args.push_back(folder);
  Process process(CommandOf(java));
  REQUIRE(process.WaitForOutput("ready"));
  Touch(folder + "/go");
  REQUIRE(process.WaitForOutput("done"));
  const std::string copy = folder + "/copy.bin";
  RequireHeaprec({"dump", "--flush", std::to_string(process.pid()), "-o", copy});
  process.Kill(9);
  const Outcome outcome = process.Finish();
  const json census = Census(recording), in_copy = Census(copy);
  INFO(census["recordings"].dump());
  const auto told = ToldBy(outcome.out);
  for (const std::string& kind : kKinds) CHECK(ObjectsOf(in_copy, kind) == told.at(kind));
  // But for the TLABs that were in use: a thread that is joined may be about to give up its last.
  for (const std::string& kind : kKinds) {
    INFO(kind);
    CHECK(ObjectsOf(census, kind) <= told.at(kind));
    CHECK(ObjectsOf(census, kind) > 0.98 * told.at(kind));
  }
  RequireVerified(recording);
  RemoveRingsOf(process.pid());
}

// The blocks that only the ring had say nothing of what the census counted.
TEST_CASE("A span of a killed recording with a census passes verify") {
  const std::string folder = FreshFolder(), recording = folder + "/rec.bin", part = folder + "/part.bin";
  Process process(CommandOf(Java{.flags = {"-Xmx400m"},
                                 .main = "e2e.Busy",
                                 .args = {"3", "60"},
                                 .agent_options = "file=" + recording + ",census=20/s"}));
  std::this_thread::sleep_for(std::chrono::seconds(5));
  process.Kill(9);
  (void)process.Finish();
  for (const auto& [from, to] : {std::pair("0s", "2s"), {"1s", "3s"}, {"2s", "4s"}, {"1s", "1h"}}) {
    CAPTURE(from, to);
    RequireHeaprec({"trim", "-f", "--from", from, "--to", to, "-o", part, recording});
    RequireVerified(part);
  }
  RemoveRingsOf(process.pid());
}

TEST_CASE("If a census is impossible, the recording is made without one and gives the reason") {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Counting({"-XX:+UseG1GC"}, "file=" + recording + ",census=all,source=jvmti"));
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.find("no census: source=jvmti installs no hooks") != std::string::npos);
  const Outcome census = Heaprec({"census", recording});
  CHECK(census.exit_code == 3);
  CHECK(census.err.find("installs no hooks") != std::string::npos);
}

}  // namespace heaprec::testing
