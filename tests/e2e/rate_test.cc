// The bound that holds whatever the application does, and that the recording fills it.
//
// Statistic: fill = samples / (rate x whole seconds) on a paced load, where the points of a second are a Poisson
// variable
//            of mean (rate + 3 sqrt(rate) + 3) at least, of which `rate` are kept. Over 5 seconds a fill below 0.9 at
//            20/s or below 0.95 at 150/s has probability < 1e-7, and over 2 seconds at 10,000/s < 1e-12.
#include <algorithm>
#include <catch2/catch.hpp>
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

TEST_CASE("samples=50 bounds the whole recording, exactly") {
  const Rows rows = RecordingOf("rate=150,samples=50", {"2", "1800", "0"});
  RequireBound(rows);
  CHECK(rows.rows.size() == 50);
  CHECK(rows.summary["ended"] == "samples");
}

}  // namespace heaprec::testing
