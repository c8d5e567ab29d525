// The bound that holds whatever the application does, and that the recording fills it.
//
// Statistic: fill = samples / (rate x whole seconds) on a paced load, where the points of a second are a Poisson
// variable
//            of mean (rate + 3 sqrt(rate) + 3) at least, of which `rate` are kept. Over 5 seconds a fill below 0.9 at
//            20/s or below 0.95 at 150/s has probability < 1e-7, and over 2 seconds at 10,000/s < 1e-12. After a step:
//            a second with less than 135 points where 300 are aimed at, probability < 1e-20.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

Rows RecordingOf(const std::string& options, const std::vector<std::string>& load) {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome =
      Run(Java{.main = "e2e.Load", .args = load, .agent_options = "file=" + recording + "," + options});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return ReadRows(recording);
}

void RequireBound(const Rows& rows) {
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  const auto counts = rows.PerInterval();
  REQUIRE(!counts.empty());
  CHECK(*std::max_element(counts.begin(), counts.end()) <= rows.cap());
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

// Of the whole seconds after the first, in which the program starts; the last one is cut short.
double Fill(const Rows& rows, double rate) {
  const uint64_t seconds = rows.summary["duration_ns"].get<uint64_t>() / 1'000'000'000;
  REQUIRE(seconds >= 3);
  const auto counted = rows.Where([seconds](const Row& row) {
    const uint64_t second = row.time_ns / 1'000'000'000;
    return second >= 1 && second < seconds;
  });
  return static_cast<double>(counted.size()) / (rate * static_cast<double>(seconds - 1));
}

// The load's last phase lasts 4.3 s, to the end of the recording: two seconds after it has begun, each second is full.
void RequireRecovery(const std::vector<std::string>& load) {
  const Rows rows = RecordingOf("rate=150", load);
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
// A storm on a busy machine changes its speed by half within a second; this is the same whatever else runs.
const std::vector<std::string> kPaced{"2", "6200", "100"};
// Steps by 100, up and down, out of step with the seconds; then silence, and a burst.
const std::vector<std::string> kSteps{"2", "730", "3", "410", "300", "560", "3", "290", "300", "400", "-1", "350", "0"};

}  // namespace

TEST_CASE("A storm overfills no second, at any rate") {
  for (const uint64_t rate : {20, 150, 10'000}) {
    INFO("rate " << rate);
    const Rows rows = RecordingOf("rate=" + std::to_string(rate), kStorm);
    RequireBound(rows);
    RequireAtMostPerSecond(rows, rate);
  }
}

TEST_CASE("A steady load at rate=20 fills every second") {
  const Rows rows = RecordingOf("rate=20", kPaced);
  RequireBound(rows);
  CHECK(Fill(rows, 20) >= 0.9);
}

TEST_CASE("A steady load at rate=150 fills every second") {
  const Rows rows = RecordingOf("rate=150", kPaced);
  RequireBound(rows);
  CHECK(Fill(rows, 150) >= 0.95);
}

TEST_CASE("A steady load at rate=10000 fills every second") {
  const Rows rows = RecordingOf("rate=10000", {"2", "3200", "150"});
  RequireBound(rows);
  CHECK(Fill(rows, 10'000) >= 0.95);
}

TEST_CASE("A storm at rate=6/min gets one sample in ten seconds") {
  const Rows rows = RecordingOf("rate=6/min", kStorm);
  RequireBound(rows);
  CHECK(rows.interval_ns() == Approx(10e9));
  CHECK(rows.rows.size() == 1);
}

TEST_CASE("Steps by a factor of 100 at rate=20 overfill no second") {
  const Rows rows = RecordingOf("rate=20", kSteps);
  RequireBound(rows);
  RequireAtMostPerSecond(rows, 20);
}

TEST_CASE("Steps by a factor of 100 at rate=150 overfill no second") {
  const Rows rows = RecordingOf("rate=150", kSteps);
  RequireBound(rows);
  RequireAtMostPerSecond(rows, 150);
}

TEST_CASE("Steps by a factor of 100 at rate=10000 overfill no second") {
  const Rows rows = RecordingOf("rate=10000", kSteps);
  RequireBound(rows);
  RequireAtMostPerSecond(rows, 10'000);
}

TEST_CASE("After a step from nothing to full speed every second is full again") {
  RequireRecovery({"2", "1500", "-1", "4300", "0"});
}

TEST_CASE("After a step from full speed to 10 MB/s every second is full again") {
  RequireRecovery({"2", "1500", "0", "4300", "5"});
}

TEST_CASE("After a step from one thread to 200 every second is full again") {
  RequireRecovery({"1+199", "1500", "1", "4300", "1"});
}

// Of a load that is the same in every second, the b-th leaves 200 b / (b + 200 / 150) in all: 164 after 6 seconds. The
// total is held to four times its 95 % interval, 7.8 standard errors of the first stage: < 1e-7 with what the roundings
// of the intervals add.
TEST_CASE("maxsamples=200 bounds the whole recording, which goes on to its end with larger weights") {
  const Rows rows = RecordingOf("rate=150,maxsamples=200", kPaced);
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

TEST_CASE("maxsamples=60 of a recording whose duration is known are spread evenly over it") {
  const Rows rows = RecordingOf("rate=150,maxsamples=60,duration=5s", kPaced);
  RequireBound(rows);
  CHECK(rows.rows.size() <= 60);
  CHECK(rows.summary["ended"] == "duration");
  const auto counts = rows.PerInterval();
  REQUIRE(counts.size() >= 5);
  for (size_t second = 1; second < 5; ++second) CHECK(counts[second] == 10);  // 60 / 6: one to spare
}

TEST_CASE("throttle=window records too, within the same bound, and the recording says so") {
  const Rows rows = RecordingOf("rate=150,throttle=window", kPaced);
  RequireBound(rows);
  RequireAtMostPerSecond(rows, 150);
  CHECK(Fill(rows, 150) >= 0.8);
  CHECK(rows.summary.dump().find("throttle=window") != std::string::npos);
}

}  // namespace heaprec::testing
