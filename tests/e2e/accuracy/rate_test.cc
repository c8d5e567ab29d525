// The bound that holds whatever the application does, and that the recording fills it.
//
// Statistic: fill = samples / (cap x intervals) on a paced load, where the points of a second are a Poisson variable of
//            mean (rate + 3 sqrt(rate) + 3) at least, of which `rate` are kept. Over 3 seconds a fill below 0.9 at 20/s
//            has probability < 1e-4, below 0.95 at 150/s < 1e-5, and over 1 second at 10,000/s < 1e-12. After a step: a
//            second with less than 135 points where 300 are aimed at, probability < 1e-20.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

struct Recorded {
  std::string file;
  Rows rows;
};

struct Load {
  std::string options;
  std::vector<std::string> phases;
};

// Side by side, two at a time on as many cores.
std::vector<Recorded> Record(const std::vector<Load>& loads, size_t at_once = 2) {
  std::vector<JavaWithOptions> all;
  for (const Load& load : loads) all.push_back({{.main = "e2e.Load", .args = load.phases}, load.options});
  std::vector<Recorded> recorded;
  for (const auto& [file, outcome] : RecordAll(all, at_once)) recorded.push_back({file, ReadRows(file)});
  return recorded;
}

void RequireCap(const Rows& rows) {
  const auto counts = rows.PerInterval();
  REQUIRE(!counts.empty());
  CHECK(*std::max_element(counts.begin(), counts.end()) <= rows.cap());
}

void RequireBound(const Rows& rows) {
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  RequireCap(rows);
}

// What the cap promises in the user's words: samples per second of the recording.
void RequireAtMostPerSecond(const Rows& rows, uint64_t rate) {
  std::vector<uint64_t> counts;
  for (const Row& row : rows.rows) {
    const size_t second = row.time_ns / 1'000'000'000;
    counts.resize(std::max(counts.size(), second + 1));
    ++counts[second];
  }
  for (const uint64_t count : counts) CHECK(count <= rate);
}

// A load of two threads that is the same all the while, whatever else runs: a storm on a busy machine changes its speed
// by half within a second.
struct Paced {
  int ms, mb_per_second;  // of each thread
  std::vector<std::string> load() const { return {"2", std::to_string(ms), std::to_string(mb_per_second)}; }
};
constexpr Paced kPaced{6200, 100};

// Of the intervals in which the program kept its pace, as it did in those before; where a machine starves it the load
// is no steady one. Those of the first second, in which the program starts, do not count, nor does the last one, which
// is cut short. None: it kept its pace in less than half of them.
std::optional<double> FillAtPace(const Recorded& recorded, const Paced& paced) {
  constexpr double kOffPace = 0.15;
  const Outcome outcome = Heaprec({"sql", "--json", recorded.file,
                                   "select bytes, kept from intervals where stream = 'allocations' order by number"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const auto intervals = nlohmann::json::parse(outcome.out);
  const double seconds = static_cast<double>(recorded.rows.interval_ns()) * 1e-9;
  const double expected = seconds * 2e6 * paced.mb_per_second;
  const auto is_steady = [&](const auto& interval) {
    return std::abs(interval["bytes"].template get<double>() - expected) < kOffPace * expected;
  };
  const auto first = static_cast<size_t>(std::lround(1 / seconds));
  uint64_t steady = 0, kept = 0, all = 0;
  for (size_t i = first; i + 1 < intervals.size(); ++i, ++all) {
    if (!is_steady(intervals[i]) || (i > first && !is_steady(intervals[i - 1]))) continue;
    ++steady;
    kept += intervals[i]["kept"].get<uint64_t>();
  }
  INFO(outcome.out);
  REQUIRE(all >= 2);
  if (2 * steady < all) return std::nullopt;
  return static_cast<double>(kept) / static_cast<double>(steady * recorded.rows.cap());
}

// That the program used on average, from the first second of the recording to its last.
double CoresOf(const Recorded& recorded) {
  return HeaprecJson({"sql", "--json", recorded.file,
                      "select (max(process_ns) - min(process_ns)) * 1.0 / (max(time_ns) - min(time_ns)) as cores "
                      "from cpu_time"})[0]["cores"]
      .get<double>();
}

// The load's last phase lasts 4.3 s, to the end of the recording: two seconds after it has begun, each second is full.
void RequireRecovery(const Rows& rows) {
  RequireBound(rows);
  const auto duration = rows.summary["duration_ns"].get<uint64_t>();
  REQUIRE(duration > 4'300'000'000);
  const uint64_t recovered = duration - 2'300'000'000;
  size_t judged = 0;
  for (uint64_t second = recovered / 1'000'000'000 + 1; (second + 1) * 1'000'000'000 <= duration; ++second) {
    const auto kept = rows.Where([second](const Row& row) { return row.time_ns / 1'000'000'000 == second; });
    INFO("second " << second << " of " << duration);
    CHECK(kept.size() >= 135);
    ++judged;
  }
  CHECK(judged > 0);
}

const std::vector<std::string> kStorm{"2", "2200", "0"};
// Steps by 100, up and down, out of step with the seconds; then silence, and a burst.
const std::vector<std::string> kSteps{"2", "730", "3", "410", "300", "560", "3", "290", "300", "400", "-1", "350", "0"};

struct Steady {
  std::string options;
  double least_fill;
};

// Of each the first of a few recordings in which the program kept its pace. They wait most of the time, so the first
// are made side by side.
void RequireFill(const std::vector<Steady>& all, const Paced& paced) {
  std::vector<Load> loads;
  for (const Steady& steady : all) loads.push_back({steady.options, paced.load()});
  std::vector<Recorded> recorded = Record(loads, loads.size());
  for (size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].options);
    std::optional<double> fill = FillAtPace(recorded[i], paced);
    for (int attempt = 0; attempt < 4 && !fill; ++attempt) {
      RequireBound(recorded[i].rows);
      recorded[i] = std::move(Record({loads[i]}).front());
      fill = FillAtPace(recorded[i], paced);
    }
    RequireBound(recorded[i].rows);
    const std::string summary = recorded[i].rows.summary.dump();
    if (all[i].options.find("throttle=window") != std::string::npos) {
      RequireAtMostPerSecond(recorded[i].rows, 150);
      CHECK(summary.find("throttle=window") != std::string::npos);
    }
    REQUIRE(fill);  // else the machine did not let the program keep its pace
    CHECK(*fill >= all[i].least_fill);
  }
}

}  // namespace

TEST_CASE("A burst exceeds the rate in no second") {
  const std::vector<uint64_t> rates{20, 150, 10'000};
  std::vector<Load> loads;
  for (const uint64_t rate : rates) loads.push_back({"rate=" + std::to_string(rate), kStorm});
  loads.push_back({"rate=6/min", kStorm});
  const std::vector<Recorded> recorded = Record(loads);
  for (size_t i = 0; i < rates.size(); ++i) {
    const Rows& rows = recorded[i].rows;
    INFO("rate " << rates[i] << rows.reasons());
    // A machine that gives the drain no core for a moment lets the ring fill up. The recording says what it lost.
    const bool is_full = rows.Lost("ring_full") > 0;
    CHECK(rows.trustworthy() != (is_full && rows.reasons().find("of the bytes were lost") != std::string::npos));
    RequireCap(rows);
    RequireAtMostPerSecond(rows, rates[i]);
  }
  // One in ten seconds.
  const Rows& rows = recorded.back().rows;
  RequireBound(rows);
  CHECK(rows.interval_ns() == Approx(10e9));
  CHECK(rows.rows.size() == 1);
}

TEST_CASE("A steady load fills every second to the rate") {
  RequireFill({{"rate=20", 0.9}, {"rate=150", 0.95}, {"rate=150,throttle=window", 0.8}}, kPaced);
  RequireFill({{"rate=10000", 0.95}}, Paced{3200, 150});
}

TEST_CASE("Steps by a factor of 100 exceed the rate in no second") {
  const std::vector<uint64_t> rates{20, 150, 10'000};
  std::vector<Load> loads;
  for (const uint64_t rate : rates) loads.push_back({"rate=" + std::to_string(rate), kSteps});
  const std::vector<Recorded> recorded = Record(loads);
  for (size_t i = 0; i < rates.size(); ++i) {
    CAPTURE(rates[i]);
    RequireBound(recorded[i].rows);
    RequireAtMostPerSecond(recorded[i].rows, rates[i]);
  }
}

TEST_CASE("After a step every second is filled to the rate again") {
  // From nothing to full speed, from full speed to 10 MB/s, and from one thread to 200.
  const std::vector<Load> loads{{"rate=150", {"2", "1500", "-1", "4300", "0"}},
                                {"rate=150", {"2", "1500", "0", "4300", "5"}},
                                {"rate=150", {"1+199", "1500", "1", "4300", "1"}}};
  for (const Recorded& recorded : Record(loads)) RequireRecovery(recorded.rows);
}

// Of a load that is the same in every second, the b-th leaves 200 b / (b + 200 / 150) in all: 164 after 6 seconds. The
// total is held to four times its 95 % interval, 7.8 standard errors of the first stage: < 1e-7 with what the roundings
// of the intervals add.
TEST_CASE("maxsamples limits the whole recording, to its end") {
  const std::vector<Recorded> recorded =
      Record({{"rate=150,maxsamples=200", kPaced.load()}, {"rate=150,maxsamples=60,duration=5s", kPaced.load()}});
  {  // the duration is not known: weights grow
    const Rows& rows = recorded[0].rows;
    RequireBound(rows);
    CHECK(rows.rows.size() <= 200);
    CHECK(rows.rows.size() >= 150);
    CHECK(rows.summary["ended"] == "jvm exit");
    REQUIRE(rows.summary["duration_ns"].get<uint64_t>() > 6'000'000'000);
    CHECK(!rows.Where([](const Row& row) { return row.time_ns > 4'000'000'000; }).empty());
    const auto& raw = rows.summary["estimates"]["bytes_uncalibrated"];
    const double width = raw["high"].get<double>() - raw["low"].get<double>();
    INFO(raw.dump());
    CHECK(std::abs(raw["value"].get<double>() - rows.summary["allocated_bytes"].get<double>()) < 2 * width);
  }
  {  // it is known: they are spread evenly over it
    const Rows& rows = recorded[1].rows;
    RequireBound(rows);
    CHECK(rows.rows.size() <= 60);
    CHECK(rows.summary["ended"] == "duration");
    const auto counts = rows.PerInterval();
    REQUIRE(counts.size() >= 5);
    for (size_t second = 1; second < 5; ++second) CHECK(counts[second] == 10);  // 60 / 6: one to spare
  }
}

// 5,000 points a second for each busy core, from the second second on; a machine that gives the program less than 1.5
// cores shows no difference.
TEST_CASE("points=max counts more objects where several threads are busy") {
  const std::vector<std::string> busy{"4", "4200", "0"};
  const auto points = [](const Recorded& recorded) {
    return recorded.rows.summary["losses"]["points"].get<uint64_t>();
  };
  const Recorded usual = Record({{"rate=150", busy}}).front();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Recorded most = Record({{"points=max", busy}}).front();
    RequireBound(most.rows);
    CHECK(most.rows.summary.dump().find("points=max") != std::string::npos);
    if (CoresOf(most) < 1.5) continue;
    CHECK(static_cast<double>(points(most)) > 1.2 * static_cast<double>(points(usual)));
    return;
  }
  WARN("not compared: the machine never gave the program 1.5 cores");
}

namespace {

// A site and its share do not depend on how its methods ran: interpreted, compiled by C1, by C2, or by all in turns.
//
// Each share lies within five standard errors of that in the interpreter, by the intervals that heaprec prints: 30
// comparisons, a false alarm in fewer than 1 of 50,000 runs.

using nlohmann::json;

struct Share {
  double value = 0, error = 0;
};

// Of sites with at least a hundredth of all bytes.
std::map<std::string, Share> SharesOf(const std::vector<std::string>& flags) {
  const std::string recording = RecordJava({.flags = flags, .main = "e2e.Tiers", .args = {"100000"}}, "rate=2000").file;
  std::map<std::string, Share> shares;
  const json document = HeaprecJson({"top", "--by", "site", "--min-share", "1%", "--json", "--limit", "0", recording});
  for (const json& row : document["tables"][0]["rows"]) {
    const json& share = row["share"];
    shares[row["name"]] = {share["value"], (share["high"].get<double>() - share["low"].get<double>()) / 3.92};
  }
  return shares;
}

std::string NamesOf(const std::map<std::string, Share>& shares) {
  std::string names;
  for (const auto& [name, share] : shares) names += name + " ";
  return names;
}

}  // namespace

TEST_CASE("Sites have the same shares interpreted, compiled by C1, by C2, and in mixed mode") {
  const std::map<std::string, Share> interpreted = SharesOf({"-Xint"});
  CHECK(NamesOf(interpreted) ==
        "e2e.Tiers$Point.copy e2e.Tiers.captures e2e.Tiers.clonesArray e2e.Tiers.concatenates e2e.Tiers.constructs "
        "e2e.Tiers.copies e2e.Tiers.copiesRange e2e.Tiers.lambda$main$1 e2e.Tiers.reflects java.util.BitSet.clone ");
  for (const char* mode : {"-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-Xmixed"}) {
    const std::map<std::string, Share> shares = SharesOf({mode});
    INFO(mode);
    CHECK(NamesOf(shares) == NamesOf(interpreted));
    for (const auto& [name, share] : shares) {
      const Share& expected = interpreted.at(name);
      INFO(name << " " << share.value << ", interpreted " << expected.value);
      CHECK(std::abs(share.value - expected.value) < 5 * std::hypot(share.error, expected.error));
    }
  }
}

namespace {

// Virtual threads that yield: what the JVM copies their stacks into is counted apart, and charged to nobody. The truth
// is the program's own, and what a census counts object by object.
//
// Statistic: estimates of classes against the truth, by intervals widened from 1.96 to 5.5 standard errors: beyond with
//            probability 4e-8 each.

using nlohmann::json;

constexpr char kSmall[] = "e2e.Counted$Small";

// Objects made; 0: this JDK has no virtual threads.
double RunYields(const std::string& recording, const std::string& options, const std::vector<std::string>& flags) {
  Java java{.flags = flags, .main = "e2e.Yields", .args = {"200000"}};
  java.flags.push_back("-Xmx300m");
  java.agent_options = "file=" + recording + ",rate=2000" + options;
  const Outcome outcome = Run(java);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.out.find("Small ") == 0 ? std::stod(outcome.out.substr(6)) : 0;
}

json RowsBy(const std::string& verb, const std::string& recording) {
  const json document = HeaprecJson({verb, "--by", "class", "--limit", "0", "--json", recording});
  return verb == "top" ? document["tables"][0]["rows"] : document["rows"];
}

double ValueOf(const json& number) { return (number.is_object() ? number["value"] : number).get<double>(); }

bool Holds(const json& estimate, double truth) {
  const double value = estimate["value"], low = estimate["low"], high = estimate["high"];
  const double wider = 5.5 / 1.96, slack = 1e-3 * truth;
  return value - wider * (value - low) - slack <= truth && truth <= value + wider * (high - value) + slack;
}

void RequireTrustworthy(const json& summary) {
  INFO(summary.dump(1));
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["losses"]["lost"]["missed"]["bytes"] < 0.001 * summary["allocated_bytes"].get<double>());
}

}  // namespace

TEST_CASE("Stacks of virtual threads that yield are counted separately, and the recording is trustworthy") {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-XX:+UseG1GC"}, {"-XX:+UseParallelGC"}, {"-XX:+UseG1GC", "-XX:-UseCompressedOops"}}) {
    INFO(flags.back());
    const std::string recording = FreshFolder() + "/rec.bin";
    const double made = RunYields(recording, "", flags);
    if (made == 0) return;
    const json summary = ReadSummary(recording);
    RequireTrustworthy(summary);
    CHECK(summary["losses"]["stack_chunks"]["objects"] > 100'000);
    CHECK(Holds(RowNamed(RowsBy("top", recording), kSmall)["objects"], made));
  }
}

TEST_CASE("Reports show the counts of a census, also for rare classes") {
  const std::string recording = FreshFolder() + "/rec.bin";
  const double made = RunYields(recording, ",census=all", {"-XX:+UseG1GC"});
  if (made == 0) return;
  const json summary = ReadSummary(recording), counted = RowsBy("census", recording), shown = RowsBy("top", recording);
  RequireTrustworthy(summary);
  CHECK(ValueOf(RowNamed(counted, kSmall)["objects"]) == made);
  CHECK(ValueOf(RowNamed(counted, "jdk.internal.vm.StackChunk")["bytes"]) ==
        Approx(summary["losses"]["stack_chunks"]["bytes"].get<double>()).epsilon(0.001));
  CHECK(Holds(RowNamed(shown, kSmall)["objects"], made));
  int compared = 0;
  for (const json& row : shown) {
    const json truth = RowNamed(counted, row["name"]);
    if (truth.is_null() || row["samples"] < 5) continue;
    INFO(row.dump() << " of " << truth.dump());
    CHECK(Holds(row["bytes"], ValueOf(truth["bytes"])));
    ++compared;
  }
  CHECK(compared >= 5);
}

}  // namespace heaprec::testing
