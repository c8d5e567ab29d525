// How a process ends: events with code, sender, message and stack, and a program that notices nothing of it. What `why`
// makes of each end: tests/e2e/ends.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
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

std::vector<json> EventsIn(const std::string& recording, const std::string& event) {
  std::vector<json> events;
  const json printed = HeaprecJson({"print", "--kind", "event", "--json", recording});
  for (const json& one : printed["events"]) {
    if (one["event"] == event) events.push_back(one);
  }
  return events;
}

// What `heaprec why` says of it: verdict, text, certainty, evidence, missing.
json WhyOf(const std::string& recording) {
  json why = HeaprecJson({"why", "--json", recording})["why"];
  UNSCOPED_INFO(why.dump(1));
  return why;
}

bool Says(const json& text, const std::string& part) { return text.dump().find(part) != std::string::npos; }

bool HasFrame(const json& event, const std::string& method) {
  return event["stack"].dump().find(method) != std::string::npos;
}

struct Ended {
  Outcome plain, recorded;
  std::string file = FreshFolder() + "/rec.bin";
};

// The same program with and without the agent: it prints the same and ends the same way.
Ended EndsAs(Java java) {
  Ended ended;
  ended.plain = Run(java);
  java.agent_options = "file=" + ended.file;
  ended.recorded = Run(java);
  CHECK(ended.recorded.exit_code == ended.plain.exit_code);
  CHECK(ended.recorded.signal == ended.plain.signal);
  CHECK(ended.recorded.out == ended.plain.out);
  CHECK(ended.recorded.err == ended.plain.err);
  return ended;
}

}  // namespace

TEST_CASE("System.exit and Runtime.halt: the code, and who called") {
  for (const auto& [how, code] : {std::pair("exit", 7), {"halt", 8}}) {
    INFO(how);
    const Ended ended = EndsAs({.flags = {"-Xmx128m"}, .main = "e2e.Ends", .args = {how}});
    CHECK(ended.recorded.exit_code == code);
    const auto exits = EventsIn(ended.file, "exit");
    REQUIRE(exits.size() == 1);
    CHECK(exits[0]["code"] == code);
    CHECK(exits[0]["call"] == how);
    CHECK(HasFrame(exits[0], "Ends.main"));
    CHECK(exits[0]["thread"].dump().find("main") != std::string::npos);
  }
  const Ended ended = EndsAs({.flags = {"-Xmx128m"}, .main = "e2e.Ends", .args = {"return"}});
  CHECK(EventsIn(ended.file, "exit").empty());
}

TEST_CASE("An exhausted heap: the error before the JVM ends itself, and what filled the heap") {
  for (const std::string flag : {"-XX:+ExitOnOutOfMemoryError", "-XX:-ExitOnOutOfMemoryError"}) {
    for (const std::string gc : {"G1", "Serial", "Parallel", "Z"}) {
      INFO(flag << " " << gc);
      const Ended ended = EndsAs({.flags = {"-Xmx24m", flag, "-XX:+Use" + gc + "GC"}, .main = "e2e.Exhaust"});
      const auto errors = EventsIn(ended.file, "error");
      REQUIRE(errors.size() >= 1);
      CHECK(errors[0]["class"] == "java.lang.OutOfMemoryError");
      CHECK(errors[0]["count"] == 1);
      CHECK(errors[0]["message"] == "Java heap space");
      CHECK(errors[0].contains("ends_jvm") == (flag == "-XX:+ExitOnOutOfMemoryError"));
      CHECK(HasFrame(errors[0], "Exhaust.main"));
      const auto full = EventsIn(ended.file, "heap full");
      REQUIRE(full.size() >= 1);
      CHECK(full.back()["max"] >= 10 << 20);
      CHECK(full.back()["used"] > full.back()["max"].get<int64_t>() / 2);
      // The kernel's name of it is java.
      if (flag == "-XX:+ExitOnOutOfMemoryError") CHECK(Says(WhyOf(ended.file)["evidence"], "in thread main"));
    }
  }
}

// The samples that are live at the error are in the ring before the JVM ends. 2 of 3 parts of the heap are sessions:
// their share of 400 samples or more has a deviation of 9 %.
TEST_CASE("What filled the heap is in the recording of a JVM that is killed at its OutOfMemoryError") {
  for (const std::string flag : {"-XX:+ExitOnOutOfMemoryError", "-XX:OnOutOfMemoryError=kill -9 %p"}) {
    INFO(flag);
    const std::string file = FreshFolder() + "/rec.bin";
    const Outcome ended = Run(
        Java{.flags = {"-Xmx48m", flag}, .main = "e2e.Exhaust", .args = {"slowly"}, .agent_options = "file=" + file});
    CHECK((ended.signal == SIGKILL || ended.exit_code == 3));
    double sessions = 0;  // bytes; the last line may be cut off
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of("0123456789") == std::string::npos && !line.empty())
        sessions = std::max(sessions, std::stod(line));
    }
    const json full = HeaprecJson({"why", "--json", file})["heap_full"];
    INFO(full.dump(1));
    REQUIRE(full["live"].size() >= 2);
    CHECK(full["live"][0]["name"] == "long[] at e2e.Exhaust$Session.<init>");
    CHECK(full["live"][1]["name"] == "int[] at e2e.Exhaust.other");
    CHECK(std::abs(full["live"][0]["bytes"]["value"].get<double>() / sessions - 1) < 0.5);
  }
}

TEST_CASE("Errors of Java code: direct buffers, and the program's own") {
  const Ended direct =
      EndsAs({.flags = {"-Xmx64m", "-XX:MaxDirectMemorySize=8m"}, .main = "e2e.Owners", .args = {"0", "64", "0", "0"}});
  auto errors = EventsIn(direct.file, "error");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0]["class"] == "java.lang.OutOfMemoryError");
  CHECK(HasFrame(errors[0], "Bits.reserveMemory"));
  CHECK(HasFrame(errors[0], "Owners.main"));
  CHECK(EventsIn(direct.file, "heap full").empty());
  const Ended own = EndsAs({.flags = {"-Xmx128m"}, .main = "e2e.Ends", .args = {"throw"}});
  errors = EventsIn(own.file, "error");
  REQUIRE(errors.size() == 1);
  CHECK(HasFrame(errors[0], "Ends.main"));
}

TEST_CASE("An uncaught exception of the main thread: class, message and stack; not with -Xcheck:jni") {
  for (const bool is_checked : {false, true}) {
    Java java{.flags = {"-Xmx128m"}, .main = "e2e.Ends", .args = {"throw"}};
    if (is_checked) java.flags.emplace_back("-Xcheck:jni");
    const Ended ended = EndsAs(java);
    CHECK(ended.recorded.exit_code == 1);
    const auto uncaught = EventsIn(ended.file, "uncaught exception");
    const json why = WhyOf(ended.file);
    REQUIRE(uncaught.size() == (is_checked ? 0 : 1));
    CHECK(Says(why["missing"], "-Xcheck:jni") == is_checked);
    CHECK(why["verdict"] == "out_of_memory");
    CHECK(why["certainty"] == (is_checked ? "probable" : "certain"));
    if (is_checked) continue;
    CHECK(uncaught[0]["class"] == "java.lang.OutOfMemoryError");
    CHECK(uncaught[0]["message"] == "the program's own");
    CHECK(uncaught[0]["stack"]["frames"].size() == 1);
    CHECK(HasFrame(uncaught[0], "Ends.main"));
    CHECK(uncaught[0]["thread"].dump().find("main") != std::string::npos);
  }
}

TEST_CASE("SIGTERM: who sent it; never with -Xrs") {
  for (const bool reduced : {false, true}) {
    const std::string file = FreshFolder() + "/rec.bin";
    Java java{.flags = {"-Xmx64m"}, .main = "e2e.Ends", .args = {"wait"}, .agent_options = "file=" + file};
    if (reduced) java.flags.emplace_back("-Xrs");
    Process process(CommandOf(java));
    REQUIRE(process.WaitForOutput("running"));
    process.Kill(SIGTERM);
    const Outcome outcome = process.Finish();
    CHECK(outcome.err.empty());
    const auto signals = EventsIn(file, "signal");
    const json why = WhyOf(file);
    RemoveRingsOf(process.pid());
    if (reduced) {
      CHECK(outcome.signal == SIGTERM);
      CHECK(signals.empty());
      CHECK(why["verdict"] == "killed");
      CHECK(Says(why["missing"], "-Xrs"));
      continue;
    }
    CHECK(outcome.exit_code == 128 + SIGTERM);
    REQUIRE(signals.size() == 1);
    CHECK(signals[0]["signal"] == SIGTERM);
    CHECK(signals[0]["sender_pid"] == getpid());
    CHECK(signals[0]["message"].get<std::string>().starts_with("ends_test"));
    const auto exits = EventsIn(file, "exit");
    REQUIRE(exits.size() == 1);
    CHECK(exits[0]["code"] == 128 + SIGTERM);
  }
}

TEST_CASE("SIGKILL: killed from outside, also after recover") {
  const std::string file = FreshFolder() + "/rec.bin", copy = file + ".copy";
  Process process(
      CommandOf({.flags = {"-Xmx64m"}, .main = "e2e.Ends", .args = {"wait"}, .agent_options = "file=" + file}));
  REQUIRE(process.WaitForOutput("running"));
  process.Kill(SIGKILL);
  (void)process.Finish();
  CHECK(Heaprec({"recover", "-o", copy, file}).exit_code == 0);
  RemoveRingsOf(process.pid());
  CHECK(WhyOf(copy)["verdict"] == "killed");
}

TEST_CASE("Threads by the site that starts them, also after kill -9") {
  const Ended ended = EndsAs({.flags = {"-Xmx64m", "-Xlog:disable"}, .main = "e2e.Starts", .args = {"300", "10"}});
  const auto sums = [](const std::string& file, const std::string& method) {
    std::pair<int, int> sums{0, 0};
    for (const json& row : EventsIn(file, "thread starts")) {
      if (!HasFrame(row, method + "\"")) continue;
      sums.first += row["started"].get<int>();
      sums.second += row["failed"].get<int>();
    }
    return sums;
  };
  const auto many = sums(ended.file, "Starts.spawn");
  CHECK(many.first <= 300);
  CHECK(many.first >= 300 * 7 / 9 - 1);
  CHECK(many.second == 0);
  CHECK(sums(ended.file, "Starts.spawnOne") == std::pair(1, 0));
  CHECK(sums(ended.file, "Starts.spawnTooLarge") == std::pair(0, 1));
  CHECK(EventsIn(ended.file, "thread starts").size() < 60);

  const std::string file = FreshFolder() + "/rec.bin";
  Process process(CommandOf(
      {.flags = {"-Xmx64m"}, .main = "e2e.Starts", .args = {"40", "600000"}, .agent_options = "file=" + file}));
  REQUIRE(process.WaitForOutput("running"));
  process.Kill(SIGKILL);
  (void)process.Finish();
  CHECK(sums(file, "Starts.spawn").first >= 30);
  RemoveRingsOf(process.pid());
}

}  // namespace heaprec::testing
