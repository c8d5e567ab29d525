// The agent beside every collector and compiler of the JDK: nothing seen from outside changes, and the numbers are
// true.
//
// Statistic: total bytes and the bytes of each size against the program's own count, z = (estimate - truth) / sigma
// with
//            sigma from the samples (tests/support/estimates.h); n about 1,000 to 6,000; refused past 5.2 sigma: 2e-7
//            each.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

using namespace heaprec::testing;

namespace {

const std::vector<uint64_t> kSizes{48, 1000, 20'000};

struct Shape {
  int threads = 2, generations = 1, rounds = 8000;
  uint64_t header = 16;
};

bool IsOurs(const Row& row) { return row.stack.find("e2e.Sizes$Worker.run") != std::string::npos; }

Java Program(const std::vector<std::string>& flags, const Shape& shape) {
  Java java{.flags = flags, .main = "e2e.Sizes"};
  java.args = {std::to_string(shape.header), std::to_string(shape.threads), std::to_string(shape.generations),
               std::to_string(shape.rounds)};
  for (const uint64_t size : kSizes) java.args.push_back(std::to_string(size));
  return java;
}

// A point that fell is in the recording, or its loss has a name: here there is none but `missed`, points in objects for
// which the JVM posts no event (those of its compiler threads). Their weight is known, and of no account.
void RequireNoLoss(const Rows& rows) {
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  for (const char* reason : {"ring_full", "lanes_busy", "oversized", "write_failed"}) {
    INFO(reason);
    CHECK(rows.Lost(reason) == 0);
  }
  const auto& books = rows.summary["losses"];
  CHECK(books["lost"]["missed"]["bytes"].get<double>() <= 1e-3 * books["candidate_bytes"].get<double>());
  CHECK(books["points"] == books["committed"].get<uint64_t>() + books["thinned"].get<uint64_t>() + rows.Lost("missed"));
  CHECK(books["committed"] == books["written"].get<uint64_t>() + books["second_stage"].get<uint64_t>());
  CHECK(books["written"] == rows.rows.size());
}

void RequireTruth(const Rows& rows, const Shape& shape) {
  const auto ours = rows.Where(IsOurs);
  const double rounds = static_cast<double>(shape.rounds) * std::max(shape.threads, 1) * shape.generations;
  double truth = 0;
  for (const uint64_t size : kSizes) {
    const auto of_size = rows.Where([size](const Row& row) { return IsOurs(row) && row.size == size; });
    const Total total = TotalOf(of_size);
    truth += rounds * static_cast<double>(size);
    INFO("size " << size << ": " << total.bytes << " of " << rounds * static_cast<double>(size) << ", sigma "
                 << total.sigma << ", n " << total.samples);
    CHECK(total.Holds(rounds * static_cast<double>(size)));
  }
  const Total total = TotalOf(ours);
  INFO("all: " << total.bytes << " of " << truth << ", sigma " << total.sigma << ", n " << total.samples);
  CHECK(total.Holds(truth));
  CHECK(total.samples > 500);
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

TEST_CASE("G1 is recorded truly and left unharmed") { RequireHarmless({"-XX:+UseG1GC"}); }

TEST_CASE("Serial is recorded truly and left unharmed") { RequireHarmless({"-XX:+UseSerialGC"}); }

TEST_CASE("Parallel is recorded truly and left unharmed") { RequireHarmless({"-XX:+UseParallelGC"}); }

TEST_CASE("Z is recorded truly and left unharmed") { RequireHarmless({"-XX:+UseZGC"}); }

TEST_CASE("Shenandoah is recorded truly and left unharmed") { RequireHarmless({"-XX:+UseShenandoahGC"}); }

TEST_CASE("Epsilon is recorded truly and left unharmed") {
  RequireHarmless({"-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-Xmx1g", "-Xlog:disable"});
}

TEST_CASE("The interpreter alone is recorded truly") { RequireHarmless({"-Xint"}); }

TEST_CASE("C1 alone is recorded truly") { RequireHarmless({"-XX:TieredStopAtLevel=1"}); }

TEST_CASE("C2 alone is recorded truly") { RequireHarmless({"-XX:-TieredCompilation"}); }

TEST_CASE("A heap without TLABs is recorded truly") { RequireHarmless({"-XX:-UseTLAB"}); }

TEST_CASE("TLABs of 4 KB are recorded truly") {
  RequireHarmless({"-XX:-ResizeTLAB", "-XX:TLABSize=4k", "-XX:MinTLABSize=4k"});
}

TEST_CASE("A JVM without compressed class pointers is recorded truly") {
  RequireHarmless({"-XX:-UseCompressedClassPointers"}, Shape{.header = 24});
}

TEST_CASE("A JVM under -Xcheck:jni has nothing to complain about") { RequireHarmless({"-Xcheck:jni"}); }

TEST_CASE("A thousand threads with short lives, 64 at once, are recorded truly") {
  RequireHarmless({}, Shape{.threads = 64, .generations = 16, .rounds = 20});
}
