// What survives collections, under every collector of the JDK: one leak, and garbage beside it. All JVMs run at once.
//
// Statistic: growth and counts against the program's own, by intervals widened from 1.96 to 5.5 standard errors:
//            beyond with probability 4e-8 each.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

struct Collector {
  std::string name;
  std::vector<std::string> flags;
  bool is_generational_z = false;
  bool has_majors = true;  // a major collection a second, or no generations of which one keeps weak references
};

// Of those that this JDK has.
std::vector<Collector> Collectors() {
  const std::string unlock = "-XX:+UnlockExperimentalVMOptions";
  const std::vector<Collector> all{
      {"Serial", {"-XX:+UseSerialGC"}},
      {"Parallel", {"-XX:+UseParallelGC"}},
      {"G1", {"-XX:+UseG1GC"}},
      {"Z", {unlock, "-XX:+UseZGC"}},
      {"Z with generations", {"-XX:+UseZGC", "-XX:+ZGenerational", "-XX:ZCollectionInterval=0.4"}},
      {"Z, major collections often", {"-XX:+UseZGC", "-XX:ZCollectionIntervalMajor=0.4"}},
      {"Shenandoah", {unlock, "-XX:+UseShenandoahGC"}},
      {"generational Shenandoah", {unlock, "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"}},
  };
  std::vector<Collector> known;
  for (Collector one : all) {
    Command command{{JavaHome() + "/bin/java", "-Xmx64m", "-Xlog:gc+init"}};
    command.args.insert(command.args.end(), one.flags.begin(), one.flags.end());
    command.args.push_back("-version");
    const Outcome outcome = Run(command);
    const bool warns = outcome.err.find("gnoring option") != std::string::npos;
    if (outcome.exit_code != 0 || warns) continue;
    one.is_generational_z = one.name.find("Z") == 0 && outcome.out.find("Old Generation") != std::string::npos;
    one.has_majors = !one.is_generational_z || one.flags.back().find("Interval") != std::string::npos;
    known.push_back(one);
  }
  return known;
}

json Ask(const std::vector<std::string>& arguments, const std::string& recording) {
  return HeaprecJson(arguments, {"--json", recording});
}

// Something from `least` to `most`.
bool HoldsOneOf(const json& estimate, double least, double most) {
  const double value = estimate["value"], low = estimate["low"], high = estimate["high"];
  const double wider = 5.5 / 1.96;
  return value - wider * (value - low) <= most && least <= value + wider * (high - value);
}

bool Holds(const json& estimate, double truth) { return HoldsOneOf(estimate, truth, truth); }

const std::string kOptions = "rate=1000,live=8000,loglevel=error";

constexpr double kKept = 400'000, kBytes = 64 * kKept;

struct Rates {
  double low = std::numeric_limits<double>::infinity(), high = 0;
};

// The least and the largest rate of the leak, in bytes/s, over any second or more of the recording's first five, by
// what the program says. On a machine with nothing else to do they are the same.
Rates RatesOf(const std::string& said, const std::string& recording) {
  const double start_ms = Ask({"summary"}, recording)["recording"]["start_ns"].get<double>() / 1e6;
  const std::string heading = "progress ";
  const size_t at = said.find(heading);
  REQUIRE(at != std::string::npos);
  std::istringstream words(said.substr(at + heading.size()));
  std::vector<double> times_ms;
  for (double time; words >> time && time <= start_ms + 5000;) times_ms.push_back(time);
  REQUIRE(times_ms.size() > 1);
  Rates rates;
  for (size_t i = 0; i < times_ms.size(); ++i) {
    for (size_t j = i + 1; j < times_ms.size(); ++j) {
      const double ms = times_ms[j] - times_ms[i];
      if (ms < 1000) continue;
      const double rate = static_cast<double>(j - i) / 100 * kBytes / (ms / 1000);
      rates = {std::min(rates.low, rate), std::max(rates.high, rate)};
    }
  }
  return rates;
}

// Nothing of the garbage counts as old, and the leak, of a known rate, is found and measured.
void RequireLeak(const std::string& recording, const Rates& truth) {
  const json document = Ask({"leaks", "--by", "site", "--all", "--to", "5s"}, recording);
  INFO("by the program " << truth.low << " to " << truth.high << " bytes/s");
  INFO(document.dump(1).substr(0, 4000));
  CHECK(document["collections"] >= 3);
  const json leak = RowNamed(document["rows"], "e2e.Leak.keep");
  REQUIRE_FALSE(leak.is_null());
  CHECK(leak["leaks"] == true);
  CHECK(HoldsOneOf(leak["growth"], truth.low, truth.high));
  const json garbage = RowNamed(document["rows"], "e2e.Leak.discard");
  CHECK((garbage.is_null() || garbage["leaks"] == false));

  const json old = Ask({"live", "--by", "class", "--survived", "1"}, recording);
  CHECK(Holds(RowNamed(old["tables"][0]["rows"], "e2e.Leak$Kept")["objects"], kKept));
  const json discarded = RowNamed(old["tables"][0]["rows"], "e2e.Leak$Garbage");
  CHECK((discarded.is_null() || discarded["objects"]["low"] < 0.01 * kKept));

  size_t young = 0, all = 0;
  const json died = Ask({"live", "--garbage", "sample"}, recording);
  for (const json& trace : died["traces"]) {
    if (trace["class"] != "byte[]" && trace["class"] != "e2e.Leak$Garbage") continue;
    ++all;
    young += trace["survived"] == 0 ? 1 : 0;
  }
  INFO(young << " of " << all << " pieces of garbage died in their first collection");
  CHECK(all > 20);
  CHECK(young >= 0.9 * static_cast<double>(all));
}

// e2e.Leak under each collector. More JVMs at a time would slow each other down.
std::vector<RecordedJava> Record(const std::vector<Collector>& collectors, const std::vector<std::string>& args,
                                 const std::vector<std::string>& flags) {
  std::vector<JavaWithOptions> all;
  for (const Collector& collector : collectors) {
    Java java{.flags = collector.flags, .main = "e2e.Leak", .args = args};
    java.flags.insert(java.flags.end(), {"-Xmx128m", "-XX:-UseAdaptiveSizePolicy"});
    java.flags.insert(java.flags.end(), flags.begin(), flags.end());
    all.push_back({java, kOptions});
  }
  const std::vector<RecordedJava> recorded = RecordAll(all, 3);
  for (const auto& [file, outcome] : recorded) CHECK(outcome.out == "kept 400000\n");
  return recorded;
}

}  // namespace

TEST_CASE("A leak is found and measured in the same way with every collector, and garbage does not look like one") {
  std::vector<Collector> collectors = Collectors();
  std::erase_if(collectors, [](const Collector& one) { return !one.has_majors; });
  REQUIRE(collectors.size() >= 5);
  const auto recorded = Record(collectors, {"400000", "2000", "6"}, {"-Xmn30m", "-De2e.progress=true"});
  for (size_t i = 0; i < collectors.size(); ++i) {
    CAPTURE(collectors[i].name);
    RequireLeak(recorded[i].file, RatesOf(recorded[i].outcome.err, recorded[i].file));
  }
}

TEST_CASE("Garbage in the old generation is no leak once that generation was collected") {
  std::vector<Collector> collectors = Collectors();
  std::erase_if(collectors, [](const Collector& one) {
    return one.name != "Serial" && one.name != "Parallel" && one.name != "G1";
  });
  const auto recorded = Record(collectors, {"400000", "800", "6"}, {"-Xmn10m", "-De2e.round=20000"});
  for (size_t i = 0; i < collectors.size(); ++i) {
    CAPTURE(collectors[i].name);
    const json document = Ask({"leaks", "--by", "site", "--all", "--to", "5s"}, recorded[i].file);
    INFO(document.dump(1).substr(0, 4000));
    CHECK(document["old_collections"] >= 3);
    CHECK(RowNamed(document["rows"], "e2e.Leak.keep")["leaks"] == true);
    const json queue = RowNamed(document["rows"], "e2e.Leak$Garbage.<init>");
    REQUIRE_FALSE(queue.is_null());
    CHECK(queue["leaks"] == false);
    CHECK(queue["bytes"]["value"] > 1e6);  // how many survive depends on when the last collection was
  }
}

TEST_CASE("Objects that generational ZGC has not checked yet give a range, never a single value") {
  for (const Collector& collector : Collectors()) {
    if (collector.name.find("Z") != 0) continue;
    INFO(collector.name);
    Java java{.flags = collector.flags, .main = "e2e.Settled", .args = {"200000", "100", "3"}};
    java.flags.push_back("-Xmx1g");
    const json document = Ask({"live", "--by", "class"}, RecordJava(java, kOptions).file);
    const json kept = RowNamed(document["tables"][0]["rows"], "e2e.Settled$Kept");
    INFO(document.dump(1).substr(0, 4000));
    CHECK(document["of_majors"] == collector.is_generational_z);
    CHECK(kept["objects"]["value"].is_null() == collector.is_generational_z);
    if (!collector.is_generational_z) continue;
    CHECK(kept["objects"]["low"] <= 200'000);
    CHECK(kept["objects"]["high"] >= 200'000);
    CHECK(Holds(kept["known_objects"], 200'000));
    const json garbage = RowNamed(document["tables"][0]["rows"], "byte[]");
    CHECK(garbage["bytes"]["value"].is_null());
    CHECK(document["live"]["bytes"]["value"].is_null());
    CHECK(garbage["known_bytes"]["value"] < 0.2 * 64 * 200'000);
  }
}

}  // namespace heaprec::testing
