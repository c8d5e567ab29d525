// What a recording says of the process' memory by owner, and of the JVM's settings.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
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

constexpr int64_t kMb = 1 << 20;
const std::string kTracks = "-XX:NativeMemoryTracking=summary";

std::string Print(const std::string& recording, const std::string& kind) {
  return OutputOf(HeaprecCommand({"print", "--kind", kind, "--json", recording}));
}

// Each snapshot with an account, oldest first; amounts as they were known then.
std::vector<json> AccountsIn(const std::string& recording) {
  std::vector<json> accounts;
  json known = json::object();
  const json printed = json::parse(Print(recording, "heap"));
  for (const json& event : printed["events"]) {
    if (!event.contains("account")) continue;
    known.update(event["account"]);
    accounts.push_back(known);
  }
  return accounts;
}

json Await(const std::string& recording, const std::string& item) {
  for (int i = 0; i < 600; ++i) {
    const auto accounts = AccountsIn(recording);
    if (!accounts.empty() && accounts.back().contains(item)) return accounts.back();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FAIL("no " << item);
  return {};
}

// Committed bytes as jcmd prints them.
std::map<std::string, int64_t> AskJcmd(pid_t pid) {
  const Outcome said = Run(Command{
      {JavaHome() + "/bin/jcmd", std::to_string(pid), "VM.native_memory", "summary", "scale=B"}, {}, {}, {}, 30});
  INFO(said.out << said.err);
  REQUIRE(said.exit_code == 0);
  std::map<std::string, int64_t> committed;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of("- "), end = line.find(" (reserved="), value = line.find("committed=");
    if (line.starts_with("-") && end != std::string::npos && value != std::string::npos) {
      committed[line.substr(begin, end - begin)] = std::atoll(line.c_str() + value + 10);
    }
  }
  return committed;
}

bool IsClose(int64_t value, int64_t truth) { return std::abs(value - truth) <= std::max(2 * kMb, truth / 20); }

}  // namespace

TEST_CASE("The owners' memory is what the JVM's own tracking says, with every collector") {
  for (const std::string gc : {"G1", "Serial", "Parallel", "Z"}) {
    INFO(gc);
    const std::string file = FreshFolder() + "/rec.bin";
    Process process(CommandOf({.flags = {kTracks, "-Xms96m", "-Xmx96m", "-XX:+Use" + gc + "GC"},
                               .main = "e2e.Owners",
                               .args = {"20", "24", "3", "40"},
                               .agent_options = "nmt=1s,file=" + file}));
    REQUIRE(process.WaitForOutput("running"));
    const auto asked = AskJcmd(process.pid());
    (void)Await(file, "mapped_used");
    (void)Await(file, "unexplained");
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    process.Kill(SIGKILL);
    (void)process.Finish();
    const json last = AccountsIn(file).back();
    RemoveRingsOf(process.pid());
    const auto is_close = [&](const char* item, int64_t truth) {
      INFO(item << ": " << last[item] << ", NMT " << truth);
      CHECK(IsClose(last[item], truth));
    };
    CHECK(last["heap_max"] == 96 * kMb);
    const int64_t classes = asked.contains("Metaspace") ? asked.at("Metaspace") : 0;
    INFO("metaspace " << classes);
    if (classes > 0) {
      // NMT's two categories have the JVM's own structures for classes, too.
      const int64_t metaspace = last["metaspace_committed"];
      CHECK(metaspace <= classes + asked.at("Class") + 2 * kMb);
      CHECK(metaspace >= classes - 2 * kMb);
    }
    is_close("code_committed", asked.at("Code"));
    is_close("collector_committed", asked.at("GC"));
    is_close("direct_used", 24 * kMb);
    CHECK(last["direct_buffers"] >= 24);
    CHECK(last["direct_max"] <= 96 * kMb);  // as Runtime.maxMemory, which leaves a survivor space out
    CHECK(last["direct_max"] >= 85 * kMb);
    CHECK(last["mapped_used"] == 3 * kMb);
    CHECK(last["mapped_buffers"] == 1);
    CHECK(last["class_space_committed"] > 0);
    CHECK(last["classes_loaded"] > 300);
    CHECK(last["thread_starts"] >= 40);
    CHECK(last["threads"] >= 40);
    CHECK(last["out_of_memory_errors"] == 0);
    if (gc == "Serial" || gc == "Parallel") CHECK(last["old_after_collection"] >= 20 * kMb);
    if (gc == "Z") CHECK(last["old_used"].is_null());
  }
}

TEST_CASE("Resident memory of stacks and code, and little that nobody owns") {
  const std::string file = FreshFolder() + "/rec.bin";
  Process process(CommandOf({.flags = {kTracks, "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"},
                             .main = "e2e.Owners",
                             .args = {"8", "16", "0", "100"},
                             .agent_options = "file=" + file}));
  REQUIRE(process.WaitForOutput("running"));
  const auto asked = AskJcmd(process.pid());
  const json last = Await(file, "unexplained");
  process.Kill(SIGKILL);
  (void)process.Finish();
  RemoveRingsOf(process.pid());
  INFO(last.dump());
  CHECK(last["heap_resident"] == 64 * kMb);
  CHECK(last["stacks_resident"] > 0);
  // NMT takes the pages that guard a stack's end for committed; they are not resident.
  constexpr int64_t kGuards = 16 << 10;
  INFO("NMT " << asked.at("Thread"));
  CHECK(IsClose(last["stacks_resident"], asked.at("Thread") - kGuards * last["threads"].get<int64_t>()));
  CHECK(last["code_resident"] <= last["code_committed"]);
  const int64_t rss = last["rss_anon"].get<int64_t>() + last["rss_file"].get<int64_t>();
  CHECK(last["unexplained"] <= rss / 10 + 2 * kMb);
}

TEST_CASE("After kill -9 the last second's account is there") {
  const std::string file = FreshFolder() + "/rec.bin";
  Process process(CommandOf(
      {.flags = {"-Xmx64m"}, .main = "e2e.Owners", .args = {"1", "8", "0", "5"}, .agent_options = "file=" + file}));
  REQUIRE(process.WaitForOutput("running"));
  (void)Await(file, "direct_used");
  // Longer than ten seconds are not needed: the ring's snapshots are complete.
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  process.Kill(SIGKILL);
  (void)process.Finish();
  const auto accounts = AccountsIn(file);
  RemoveRingsOf(process.pid());
  REQUIRE(accounts.size() >= 3);
  const json& last = accounts.back();
  for (const char* item : {"rss_anon", "host_available", "threads", "descriptors", "code_committed", "direct_used"}) {
    INFO(item);
    CHECK(last[item] > 0);
  }
}

TEST_CASE("The header has the limits and options that decide, and who set them") {
  const std::string folder = FreshFolder(), file = folder + "/rec.bin";
  const Outcome outcome = Run(Java{.flags = {"-Xmx64m", "-XX:MaxDirectMemorySize=5000000", "-XX:ThreadStackSize=768",
                                             "-XX:+ExitOnOutOfMemoryError", "-XX:HeapDumpPath=/secret/place"},
                                   .main = "e2e.Ends",
                                   .args = {"wait-not"},
                                   .agent_options = "file=" + file});
  CHECK(outcome.err.empty());
  const std::string bytes = ReadFile(file);
  CHECK(bytes.find("MaxHeapSize") != std::string::npos);
  CHECK(bytes.find("/secret/place") == std::string::npos);
  // Value, then origin.
  CHECK(bytes.find(std::string("MaxDirectMemorySize\x07") + "5000000\x02") != std::string::npos);
  CHECK(bytes.find(std::string("ThreadStackSize\x03") + "768\x02") != std::string::npos);
  CHECK(bytes.find(std::string("ExitOnOutOfMemoryError\x04") + "true\x02") != std::string::npos);
  CHECK(bytes.find(std::string("HeapDumpPath\x04") + "true\x02") != std::string::npos);
  CHECK(bytes.find(std::string("GCTimeLimit\x02") + "98\x01") != std::string::npos);
}

namespace {

// Native memory beside the samples: the JVM's own categories are what jcmd prints, and exact counting beside the agent.

json SnapshotsIn(const std::string& recording) {
  return HeaprecJson({"native", "--categories", "--json", recording})["recordings"][0]["snapshots"];
}

// The longer a snapshot takes, the fewer there are: a busy machine has few.
void WaitForSnapshots(const std::string& recording, size_t count) {
  for (int i = 0; i < 600 && SnapshotsIn(recording).size() < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

TEST_CASE("The recorded NMT categories equal those of jcmd at the time") {
  const std::string file = FreshFolder() + "/rec.bin";
  Process process(CommandOf({.flags = {kTracks, "-Xms64m", "-Xmx64m"},
                             .main = "e2e.Load",
                             .args = {"1", "300000", "0"},
                             .agent_options = "nmt=1s,file=" + file}));
  REQUIRE(process.WaitForOutput("running"));
  // The classes are loaded, and jcmd runs between two snapshots.
  WaitForSnapshots(file, 2);
  const auto asked = AskJcmd(process.pid());
  WaitForSnapshots(file, SnapshotsIn(file).size() + 1);
  process.Kill(SIGKILL);  // what was committed is there
  (void)process.Finish();
  json snapshots = SnapshotsIn(file);
  RemoveRingsOf(process.pid());
  REQUIRE(snapshots.size() >= 3);
  snapshots.erase(snapshots.size() - 1);  // the kill may have cut it short
  REQUIRE(asked.size() >= 10);
  for (const auto& [name, committed] : asked) {
    int64_t least = INT64_MAX, most = 0;
    for (const json& snapshot : snapshots) {
      if (!snapshot.contains("categories") || !snapshot["categories"].contains(name)) continue;
      const int64_t value = snapshot["categories"][name]["committed"];
      least = std::min(least, value);
      most = std::max(most, value);
    }
    INFO(name << ": jcmd " << committed << ", recorded " << least << " to " << most);
    // A snapshot of its own takes memory too, and the compiler's arenas come and go within one.
    CHECK(committed >= least - 2 * kMb - least / 20);
    CHECK(committed <= most + 2 * kMb + most / 20);
  }
  for (const json& snapshot : snapshots) {
    CHECK(snapshot["rss"] >= snapshot["pss"]);
    CHECK(snapshot["pss"] >= snapshot["private"]);
    CHECK(snapshot["private"] > 10 * kMb);
  }
  CHECK(snapshots.back()["categories"]["Java Heap"]["committed"] == 64 * kMb);
}

TEST_CASE("A JVM without NMT is not queried, unless the process's memory is requested") {
  const std::string folder = FreshFolder();
  const auto snapshots = [&](const std::string& options, const std::vector<std::string>& flags) {
    const std::string file = folder + "/rec-" + std::to_string(options.size()) + std::to_string(flags.size()) + ".bin";
    const Outcome outcome = Run(Java{
        .flags = flags, .main = "e2e.Load", .args = {"1", "2500", "0"}, .agent_options = options + "file=" + file});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.empty());
    return SnapshotsIn(file);
  };
  for (const json& snapshot : snapshots("", {}))
    CHECK_FALSE((snapshot.contains("categories") || snapshot.contains("pss")));
  for (const json& snapshot : snapshots("nmt=off,", {kTracks})) CHECK_FALSE(snapshot.contains("pss"));
  const json of_process = snapshots("nmt=1s,", {});
  REQUIRE_FALSE(of_process.empty());
  for (const json& snapshot : of_process) CHECK((snapshot.contains("pss") && !snapshot.contains("categories")));
  const json by_itself = snapshots("", {kTracks});
  REQUIRE_FALSE(by_itself.empty());
  CHECK(by_itself[0]["categories"].contains("Total"));
}

TEST_CASE("record --native=exact writes a table beside the recording, and prints its name") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Heaprec({"record", "--native=exact", "-o", folder + "/rec.bin", "--",
                                   JavaHome() + "/bin/java", "-Xmx64m", "-cp", ProgramsJar(), "e2e.Direct", "32"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const size_t at = outcome.err.find(folder + "/rec-native-");
  REQUIRE(at != std::string::npos);
  const std::string table = outcome.err.substr(at, outcome.err.find(':', at) - at);
  const json document = HeaprecJson({"native", "--by", "library", "--json", table});
  CHECK(document["ended"] == true);
  CHECK(document["depth"] == 8);
  CHECK(document["total"]["live_bytes"] >= 32 * kMb);
  CHECK(Heaprec({"summary", folder + "/rec.bin"}).exit_code == 0);
}

}  // namespace heaprec::testing
