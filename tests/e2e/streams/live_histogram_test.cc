// What `heaprec live` says of a moment, against a histogram of the heap that the JVM makes at that moment.
//
// Statistic: of each class at each of three moments, 5.5 standard errors by the interval (95 %: 1.96 to a side); with
// the
//            normal's tails, 12 comparisons for each collector are refused with probability 5e-7 in all.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
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

// Classes of e2e.Keeps, as jcmd and as heaprec write them.
const std::map<std::string, std::string>& Classes() {
  static const auto* classes = new std::map<std::string, std::string>{
      {"e2e.Keeps$Small", "e2e.Keeps$Small"}, {"e2e.Keeps$Node", "e2e.Keeps$Node"}, {"[J", "long[]"}};
  return *classes;
}

struct Counted {
  double bytes = 0, objects = 0;
};

struct Moment {
  int64_t epoch_ns = 0;
  std::map<std::string, Counted> truth;  // by class, as heaprec writes it
};

Outcome Jcmd(pid_t pid, const std::string& what) {
  return Run(Command{{JavaHome() + "/bin/jcmd", std::to_string(pid), what}});
}

// "   1:        400000       12800000  e2e.Keeps$Small", of a heap that was collected. Not by the histogram itself:
// that some collectors do not announce.
Moment HistogramOf(pid_t pid) {
  REQUIRE(Jcmd(pid, "GC.run").exit_code == 0);
  const Outcome outcome = Jcmd(pid, "GC.class_histogram");
  INFO(outcome.out.substr(0, 500) << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  Moment moment;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, name;
    Counted counted;
    if (!(words >> number >> counted.objects >> counted.bytes >> name)) continue;
    const auto known = Classes().find(name);
    if (known != Classes().end()) moment.truth[known->second] = counted;
  }
  // Who looks for the dead does so some times a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  moment.epoch_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return moment;
}

json LiveAt(const std::string& recording, const std::string& at) {
  return HeaprecJson({"live", "--by", "class", "--json", "--at", at, recording});
}

void RequireNear(const json& estimate, double truth) {
  const double value = estimate["value"], low = estimate["low"], high = estimate["high"];
  const double side = truth > value ? high - value : value - low;
  INFO(value << " (" << low << " to " << high << "), truth " << truth);
  CHECK(std::abs(value - truth) <= side * 5.5 / 1.96);
}

void RequireAgreement(const Moment& moment, const json& live) {
  for (const auto& [name, truth] : moment.truth) {
    INFO(name << ": " << truth.objects << " objects, " << truth.bytes << " bytes");
    json found;
    for (const json& row : live["tables"][0]["rows"]) {
      if (row["name"] == name) found = row;
    }
    if (truth.bytes < 1e6) {  // let go of, but for what the JVM has of the class itself
      CHECK((found.is_null() || found["bytes"]["low"] < truth.bytes + 1e6));
      continue;
    }
    REQUIRE_FALSE(found.is_null());
    RequireNear(found["bytes"], truth.bytes);
    RequireNear(found["objects"], truth.objects);
  }
}

void RequireHistograms(const std::vector<std::string>& flags) {
  const std::string recording = FreshFolder() + "/rec.bin";
  Java java{.flags = flags, .main = "e2e.Keeps", .args = {"8"}};
  java.flags.push_back("-Xmx400m");
  java.agent_options = "file=" + recording + ",rate=1000,live=on";
  Process process(CommandOf(java));
  std::vector<Moment> moments;
  for (const char* phase : {"phase 1", "phase 2", "phase 3"}) {
    REQUIRE(process.WaitForOutput(phase));
    moments.push_back(HistogramOf(process.pid()));
    REQUIRE(moments.back().truth.size() >= 2);
  }
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  for (const Moment& moment : moments) RequireAgreement(moment, LiveAt(recording, std::to_string(moment.epoch_ns)));
}

}  // namespace

TEST_CASE("live agrees with heap histograms, with G1") { RequireHistograms({"-XX:+UseG1GC"}); }

TEST_CASE("live agrees with heap histograms, with Parallel") { RequireHistograms({"-XX:+UseParallelGC"}); }

TEST_CASE("live agrees with heap histograms, with Shenandoah") { RequireHistograms({"-XX:+UseShenandoahGC"}); }

TEST_CASE("live agrees with heap histograms, with Z") { RequireHistograms({"-XX:+UseZGC"}); }

}  // namespace heaprec::testing
