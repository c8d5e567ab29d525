// The agent beside every collector and compiler of the JDK: nothing seen from outside changes, and the numbers are
// true.
//
// Statistic: the total of all bytes and of each size against the program's own count, by Bernstein's bound
//            (tests/support/estimates.h); n about 300 to 4,000: a true one is refused with probability 6e-7.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

// One round of the program: small objects many times, so that each size has many samples.
const std::map<uint64_t, int> kRound{{48, 200}, {200, 50}, {1000, 10}, {6000, 2}, {64'000, 1}};

struct Shape {
  int threads = 2, generations = 1, rounds = 1600;
};

bool IsOurs(const Row& row) { return row.stack.find("e2e.Sizes$Worker.run") != std::string::npos; }

Java Program(const std::vector<std::string>& flags, const Shape& shape) {
  Java java{.flags = flags, .main = "e2e.Sizes"};
  java.args = {"0", std::to_string(shape.threads), std::to_string(shape.generations), std::to_string(shape.rounds)};
  for (const auto& [size, times] : kRound) java.args.insert(java.args.end(), times, std::to_string(size));
  return java;
}

// A point that fell is in the recording, or its loss has a name: here there is none but `missed`, points in objects for
// which the JVM posts no event: one to three at its start. Their weight is known, and of no account.
void RequireNoLoss(const Rows& rows) {
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  for (const char* reason : {"ring_full", "lanes_busy", "oversized", "write_failed"}) {
    INFO(reason);
    CHECK(rows.Lost(reason) == 0);
  }
  const auto& counters = rows.summary["losses"];
  CHECK(counters["lost"]["missed"]["bytes"].get<double>() <= 1e-3 * counters["candidate_bytes"].get<double>());
  CHECK(counters["points"] ==
        counters["committed"].get<uint64_t>() + counters["thinned"].get<uint64_t>() + rows.Lost("missed"));
  CHECK(counters["committed"] == counters["written"].get<uint64_t>() + counters["second_stage"].get<uint64_t>());
  CHECK(counters["written"] == rows.rows.size());
}

void RequireTotal(const std::vector<Row>& rows, double truth) {
  const Total total = TotalOf(rows);
  INFO(total.bytes << " of " << truth << " +- " << total.Slack(truth) << ", n " << total.samples);
  CHECK(total.Holds(truth));
  CHECK(total.Slack(truth) < 0.6 * truth);
}

void RequireTruth(const Rows& rows, const Shape& shape) {
  const double rounds = static_cast<double>(shape.rounds) * shape.threads * shape.generations;
  double all = 0;
  for (const auto& [size, times] : kRound) {
    const double truth = rounds * times * static_cast<double>(size);
    all += truth;
    INFO("size " << size);
    RequireTotal(rows.Where([size = size](const Row& row) { return IsOurs(row) && row.size == size; }), truth);
  }
  RequireTotal(rows.Where(IsOurs), all);
}

void RequireHarmless(const std::vector<std::string>& flags, const Shape& shape = {}) {
  const std::string recording = FreshFolder() + "/rec.bin";
  Java java = Program(flags, shape);
  const Outcome without = Run(java);
  java.agent_options = "file=" + recording + ",rate=4000";
  const Outcome with = Run(java);
  INFO(without.err << with.err);
  REQUIRE(without.exit_code == 0);
  CHECK(with.exit_code == 0);
  CHECK(with.out == without.out);
  CHECK(with.err == without.err);
  const Rows rows = ReadRows(recording);
  CHECK(rows.source() == "hooks");
  RequireNoLoss(rows);
  RequireTruth(rows, shape);
}

}  // namespace

TEST_CASE("Recordings with G1 are correct and do not disturb it") { RequireHarmless({"-XX:+UseG1GC"}); }

TEST_CASE("Recordings with Serial are correct and do not disturb it") { RequireHarmless({"-XX:+UseSerialGC"}); }

TEST_CASE("Recordings with Parallel are correct and do not disturb it") { RequireHarmless({"-XX:+UseParallelGC"}); }

TEST_CASE("Recordings with Z are correct and do not disturb it") {
  RequireHarmless({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC"});
}

TEST_CASE("Recordings with Shenandoah are correct and do not disturb it") { RequireHarmless({"-XX:+UseShenandoahGC"}); }

TEST_CASE("Recordings with Epsilon are correct and do not disturb it") {
  RequireHarmless({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xmx1g", "-Xlog:disable"});
}

TEST_CASE("Recordings of the interpreter alone are correct") { RequireHarmless({"-Xint"}); }

TEST_CASE("Recordings of C1 alone are correct") { RequireHarmless({"-XX:TieredStopAtLevel=1"}); }

TEST_CASE("Recordings of C2 alone are correct") { RequireHarmless({"-XX:-TieredCompilation"}); }

// Code of Serial and Parallel would allocate inline there before JDK 20.
TEST_CASE("Recordings without TLABs are correct") {
  for (const char* collector : {"-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC"}) {
    INFO(collector);
    RequireHarmless({collector, "-XX:-UseTLAB"});
  }
}

TEST_CASE("Recordings without TLABs and without hooks are correct") {
  for (const char* collector : {"-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC"}) {
    INFO(collector);
    const std::string recording = FreshFolder() + "/rec.bin";
    Java java = Program({collector, "-XX:-UseTLAB"}, {});
    java.agent_options = "file=" + recording + ",rate=4000,source=jvmti";
    const Outcome outcome = Run(java);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.err == "done\n");  // the program's own
    RequireTruth(ReadRows(recording), {});
    const nlohmann::json summary = ReadSummary(recording);
    CHECK(summary["losses"]["lost"]["missed"]["bytes"] < 0.01 * summary["allocated_bytes"].get<double>());
  }
}

TEST_CASE("Recordings with TLABs of 4 KB are correct") {
  RequireHarmless({"-XX:-ResizeTLAB", "-XX:TLABSize=4k", "-XX:MinTLABSize=4k"});
}

TEST_CASE("Recordings without compressed class pointers are correct") {
  RequireHarmless({"-XX:-UseCompressedClassPointers", "-Xlog:disable"});  // 25 warns, with the time
}

TEST_CASE("-Xcheck:jni reports nothing") { RequireHarmless({"-Xcheck:jni"}); }

TEST_CASE("Recordings of a thousand short-lived threads, 64 at once, are correct") {
  RequireHarmless({}, Shape{.threads = 64, .generations = 16, .rounds = 3});
}

}  // namespace heaprec::testing
