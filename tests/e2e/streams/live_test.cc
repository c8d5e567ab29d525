// Sampled objects are tracked until they die (option live), beside every collector of the JDK.
//
// Load:      on a busy machine samples may find no place; the others of their interval stand for them.
// Statistic: the number of objects that are alive, against the program's own count, by the variance of
//            docs/streams.md#live-objects: 5.5 standard errors of some 4,000 samples; the normal's tails are
//            beyond with probability 4e-8.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

struct Tracked {
  std::string class_name;
  double weight = 0, size = 0, threshold = 0;
  uint64_t time_ns = 0;
};

// By which the weights of those that have a place are raised, by the number of their interval:
// docs/streams.md#live-objects.
std::map<uint64_t, double> RaisesOf(const json& events, const std::function<uint64_t(const json&)>& interval_of) {
  std::set<uint64_t> without_place;
  for (const json& event : events) {
    if (event["kind"] == "untracked") without_place.insert(event["sample"].get<uint64_t>());
  }
  std::map<uint64_t, double> all, placed;
  for (const json& event : events) {
    if (event.contains("sample")) continue;
    all[interval_of(event)] += event["weight_bytes"].get<double>();
    if (!without_place.contains(event["id"])) placed[interval_of(event)] += event["weight_bytes"].get<double>();
  }
  std::map<uint64_t, double> raises;
  double owed = 0;
  for (const auto& [interval, weight] : all) {
    owed += weight;
    if (placed.contains(interval)) raises[interval] = std::exchange(owed, 0) / placed[interval];
  }
  return raises;
}

// What `heaprec print` says of a recording, at its end.
struct Live {
  std::map<uint64_t, Tracked> alive;  // by id
  uint64_t births = 0, died = 0, released = 0, untracked = 0;
  uint64_t most = 0;  // tracked at a time

  double Objects(const std::string& class_name, double* variance = nullptr) const {
    double objects = 0;
    for (const auto& [id, one] : alive) {
      if (one.class_name != class_name) continue;
      const double weight = std::max(one.weight, one.threshold);
      objects += weight / one.size;
      if (variance != nullptr) *variance += weight / one.size * (weight / one.size - 1);
    }
    return objects;
  }
};

Live ReadLive(const std::string& recording) {
  json document = HeaprecJson(
      {"print", "--json", "--kind", "tlab,outside,died,evicted,untracked", "--stack-depth", "1", recording});
  json& events = document["events"];
  const uint64_t start_ns = document["recording"]["start_ns"], interval_ns = document["recording"]["interval_ns"];
  const auto interval_of = [&](const json& event) {
    return (event["time_ns"].get<uint64_t>() - start_ns) / interval_ns;
  };
  const std::map<uint64_t, double> raises = RaisesOf(events, interval_of);
  // Of one time births come first: a lifecycle event is never earlier than its sample.
  std::stable_sort(events.begin(), events.end(),
                   [](const json& a, const json& b) { return a["time_ns"] < b["time_ns"]; });
  Live live;
  for (const json& event : events) {
    const std::string kind = event["kind"];
    const uint64_t time_ns = event["time_ns"];
    if (!event.contains("sample")) {
      const auto raise = raises.find(interval_of(event));
      const double weight = event["weight_bytes"].get<double>() * (raise == raises.end() ? 1 : raise->second);
      live.alive[event["id"]] = {event["class"], weight, event["size"], 0, time_ns};
      ++live.births;
      live.most = std::max<uint64_t>(live.most, live.alive.size());
      continue;
    }
    REQUIRE(live.alive.erase(event["sample"].get<uint64_t>()) == 1);
    ++(kind == "died" ? live.died : kind == "evicted" ? live.released : live.untracked);
    if (kind != "evicted") continue;
    for (auto& [id, one] : live.alive) {
      if (one.time_ns < time_ns) one.threshold = std::max(one.threshold, event["threshold_bytes"].get<double>());
    }
  }
  return live;
}

void RequireCount(const Live& live, double truth) {
  double variance = 0;
  const double objects = live.Objects("e2e.Leak$Kept", &variance);
  INFO(objects << " of " << truth << ", standard error " << std::sqrt(variance) << ", " << live.alive.size()
               << " alive of " << live.births << " born, " << live.died << " died, " << live.released << " released");
  CHECK(std::abs(objects - truth) <= 5.5 * std::sqrt(variance));
  CHECK(std::sqrt(variance) < 0.05 * truth);
}

constexpr int kKept = 3'000'000;  // 192 MB

Java Leaking(std::vector<std::string> flags) {
  flags.emplace_back("-Xmx600m");
  return {.flags = std::move(flags), .main = "e2e.Leak", .args = {std::to_string(kKept), "130", "6"}};
}

// Of 130 MB garbage nothing may be left, of the leak all; more than the reservoir holds, so that some are released.
void RequireLeak(const Live& live) {
  RequireCount(live, kKept);
  CHECK(live.released > 0);
  CHECK(live.died > 0);
  CHECK(live.untracked < live.births / 2);
  CHECK(live.Objects("e2e.Leak$Garbage") < 0.02 * kKept);
}

}  // namespace

TEST_CASE("A leak is estimated from the tracked objects, with every collector and without hooks") {
  const std::string unlock = "-XX:+UnlockExperimentalVMOptions", tracked = "rate=2000,live=10000";
  const std::vector<JavaWithOptions> cases{
      {Leaking({"-XX:+UseG1GC"}), tracked},         {Leaking({"-XX:+UseParallelGC"}), tracked},
      {Leaking({"-XX:+UseSerialGC"}), tracked},     {Leaking({unlock, "-XX:+UseZGC"}), tracked},
      {Leaking({"-XX:+UseShenandoahGC"}), tracked}, {Leaking({}), tracked + ",source=jvmti"},
      {Leaking({"-Xcheck:jni"}), "rate=200,live"},  // it has nothing to complain about
      {Leaking({}), "rate=200,live=off"},
  };
  const std::vector<RecordedJava> recorded = RecordAll(cases, 4);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [recording, outcome] = recorded[i];
    CAPTURE(cases[i].java.flags, cases[i].options, outcome.err);
    CHECK(outcome.out == "kept 3000000\n");
    CHECK(outcome.err.empty());
    RequireVerified(recording);
    const Live live = ReadLive(recording);
    if (cases[i].options.starts_with(tracked)) RequireLeak(live);
    if (cases[i].options.ends_with("live=off")) CHECK((live.died == 0 && live.released == 0 && live.untracked == 0));
  }
}

TEST_CASE("After kill -9 the live objects are unchanged") {
  const std::string recording = FreshFolder() + "/rec.bin";
  Java java = Leaking({});
  java.agent_options = "file=" + recording + ",rate=2000,live=10000";
  java.args.push_back("60");
  Process process(CommandOf(java));
  REQUIRE(process.WaitForOutput("kept"));
  process.Kill(SIGKILL);
  (void)process.Finish();
  RequireVerified(recording);
  RequireCount(ReadLive(recording), kKept);
  RemoveRingsOf(process.pid());
}

TEST_CASE("A stopped recording leaves no weak reference, and the next one starts afresh") {
  const std::string folder = FreshFolder();
  Process process(CommandOf({.flags = {"-Xmx256m"}, .main = "e2e.Load", .args = {"2", "600000", "20"}}));
  REQUIRE(process.WaitForOutput("running"));
  const std::string pid = std::to_string(process.pid());
  // Global references as the JVM counts them.
  const auto weak_references = [&] {
    const Outcome dump = Run(Command{{JavaHome() + "/bin/jcmd", pid, "Thread.print"}});
    const std::string key = "JNI global refs: ", weak = "weak refs: ";
    const size_t at = dump.out.find(weak, dump.out.find(key));
    INFO(dump.out.substr(0, 2000));
    REQUIRE(at != std::string::npos);
    return std::atoi(dump.out.c_str() + at + weak.size());  // NOLINT(cert-err34-c)
  };
  const int before = weak_references();
  for (int cycle = 0; cycle < 5; ++cycle) {
    const std::string recording = folder + "/rec" + std::to_string(cycle) + ".bin";
    RequireHeaprec({"attach", pid, "-q", "-o", recording, "--rate", "2000", "--set", "live=300"});
    const int during = weak_references();
    CHECK(during <= before + 300);
    RequireHeaprec({"stop", "-q", pid});
    CHECK(weak_references() <= before + 5);
    RequireVerified(recording);
  }
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
}

}  // namespace heaprec::testing
