// heaprec.Heaprec.dump: a program copies its recording while that goes on.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

size_t LargeOnes(const Rows& rows) {
  return rows.Where([](const Row& row) { return row.size == (1 << 20) + 16; }).size();
}

void RequireVerified(const std::string& file) {
  const Outcome outcome = Run(Command{{HeaprecPath(), "verify", file}});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code == 0);
}

// Each object of a megabyte is kept: lambda size > 10 (tests/e2e/lifecycle/endings_test.cc).
void RequireCopies(const std::string& options) {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.flags = {"-Xmx200m"},
                                   .main = "e2e.Dumps",
                                   .args = {folder, "3"},
                                   .agent_options = "file=" + folder + "/rec.bin,rate=20000" + options});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  size_t expected = 0;
  for (const char* name : {"copy.bin", "copy-1.bin", "copy-2.bin"}) {
    const std::string file = folder + "/" + name;
    INFO(file);
    CHECK(outcome.out.find("dump " + file + "\n") != std::string::npos);
    const Rows rows = ReadRows(file);
    CHECK(rows.summary["ended"] == "dump");
    CHECK(rows.summary["trustworthy"] == true);
    CHECK(LargeOnes(rows) == (expected += 50));
    RequireVerified(file);
  }
  CHECK(outcome.out.find("nowhere refused: heaprec: " + folder + "/no/copy.bin: No such file") != std::string::npos);
  CHECK(outcome.out.find("null refused: path\n") != std::string::npos);
  CHECK(outcome.out.find("late refused: heaprec: no recording is running") != std::string::npos);
  CHECK_FALSE(FileExists(folder + "/late.bin"));
  const Rows all = ReadRows(folder + "/rec.bin");
  CHECK(all.summary["ended"] == "stop");
  CHECK(all.summary["trustworthy"] == true);
  CHECK(LargeOnes(all) == expected + 50);
  RequireVerified(folder + "/rec.bin");
}

}  // namespace

TEST_CASE("A copy contains everything allocated before the request, and the recording continues") { RequireCopies(""); }

TEST_CASE("A copy is complete with live objects, without a ring, and with limits") {
  RequireCopies(",live=on");
  RequireCopies(",ring=off,exceptions=on");
  RequireCopies(",maxsize=10m");
  RequireCopies(",census=all,live=on");
}

// The JVM's start is a burst of native memory, and each copy is taken in it or soon after.
TEST_CASE("A copy is complete with native memory, also in the first second") {
  RequireCopies(",native=on,native.rate=5000");
}

TEST_CASE("A copy does not wait for the end of an interval of minutes") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Java{.flags = {"-Xmx200m"},
                                   .main = "e2e.Dumps",
                                   .args = {folder, "1"},
                                   .agent_options = "file=" + folder + "/rec.bin,rate=10/h"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Rows rows = ReadRows(folder + "/copy.bin");
  CHECK(rows.summary["ended"] == "dump");
  CHECK(rows.rows.empty());
  RequireVerified(folder + "/copy.bin");
}

}  // namespace heaprec::testing
