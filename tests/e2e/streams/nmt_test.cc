// Native memory beside the samples: the JVM's own categories are what jcmd prints, and exact counting beside the agent.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

constexpr int64_t kMb = 1 << 20;
const std::string kTracks = "-XX:NativeMemoryTracking=summary";

json SnapshotsIn(const std::string& recording) {
  const Outcome shown = Run(Command{{HeaprecPath(), "native", "--categories", "--json", recording}});
  INFO(shown.err);
  REQUIRE(shown.exit_code == 0);
  return json::parse(shown.out)["recordings"][0]["snapshots"];
}

// The longer a snapshot takes, the fewer there are: a busy machine has few.
void WaitForSnapshots(const std::string& recording, size_t count) {
  for (int i = 0; i < 600 && SnapshotsIn(recording).size() < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
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
  Command command{{HeaprecPath(), "record", "--native=exact", "-o", folder + "/rec.bin", "--", JavaHome() + "/bin/java",
                   "-Xmx64m", "-cp", ProgramsJar(), "e2e.Direct", "32"}};
  command.environment = {"HEAPREC_LIB=" + AgentPath()};
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const size_t at = outcome.err.find(folder + "/rec-native-");
  REQUIRE(at != std::string::npos);
  const std::string table = outcome.err.substr(at, outcome.err.find(':', at) - at);
  const Outcome shown = Run(Command{{HeaprecPath(), "native", "--by", "library", "--json", table}});
  REQUIRE(shown.exit_code == 0);
  const json document = json::parse(shown.out);
  CHECK(document["ended"] == true);
  CHECK(document["depth"] == 8);
  CHECK(document["total"]["live_bytes"] >= 32 * kMb);
  CHECK(Run(Command{{HeaprecPath(), "summary", folder + "/rec.bin"}}).exit_code == 0);
}

}  // namespace heaprec::testing
