// exceptions=on: all that is thrown is counted, a bounded and unbiased part of it is sampled, and nothing of it is
// mixed with the allocations.
//
// Statistic: the share of a site of the sampled throws, as tests/support/estimates.h has it for bytes (5.5 sigma;
// refused
//            with 4e-8).
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

struct ThrowsRun {
  Rows rows;
  Outcome outcome;
};

ThrowsRun RunThrows(const std::vector<std::string>& args, const std::string& options) {
  const auto [recording, outcome] = RecordJava({.main = "e2e.Throws", .args = args}, "rate=50" + options);
  return {ReadRows(recording), outcome};
}

bool IsThrown(const Row& row) { return row.kind == "exception"; }

// Throws in place of bytes, so that the statistics of bytes can be asked.
std::vector<Row> ThrownIn(const Rows& rows) {
  std::vector<Row> thrown = rows.Where(IsThrown);
  for (Row& row : thrown) {
    CHECK(row.size == 0);
    CHECK(row.weight_bytes == 0);
    CHECK(row.probability == Approx(1 / row.weight_objects));
    row.weight_bytes = row.weight_objects;
  }
  return thrown;
}

uint64_t CountedIn(const Rows& rows) { return rows.summary["exceptions"]["thrown"]; }

void RequireCap(const Rows& rows, uint64_t rate) {
  const auto& header = rows.summary["recording"]["exceptions"];
  std::map<uint64_t, uint64_t> per_interval;
  for (const Row& row : rows.Where(IsThrown)) ++per_interval[row.time_ns / header["interval_ns"].get<uint64_t>()];
  for (const auto& [interval, count] : per_interval) {
    INFO("interval " << interval);
    CHECK(count <= rate);
  }
  CHECK(header["interval_cap"] == rate);
}

constexpr char kWorker[] = "e2e.Throws$Worker.";

}  // namespace

TEST_CASE("Thrown exceptions are counted exactly, and classes and sites have the right shares") {
  const ThrowsRun none = RunThrows({"3", "0", "0"}, ",exceptions=on,exceptions.rate=400");
  const ThrowsRun run = RunThrows({"3", "30000", "10000"}, ",exceptions=on,exceptions.rate=400");
  CHECK(none.outcome.out == "caught 0\n");
  CHECK(run.outcome.out == "caught 90000\n");
  CHECK(run.outcome.err.empty());
  INFO(run.rows.reasons());
  CHECK(run.rows.trustworthy());
  // The JDK throws some itself as it starts: as many with as without ours.
  CHECK(CountedIn(run.rows) - CountedIn(none.rows) == 90'000);

  std::vector<Row> ours = ThrownIn(run.rows);
  std::erase_if(ours, [](const Row& row) { return row.stack.find(kWorker) == std::string::npos; });
  CHECK(ours.size() > 800);
  for (const auto& [site, share] :
       std::map<std::string, double>{{"illegal", .1}, {"io", .3}, {"often", .5}, {"seldom", .1}}) {
    const Share estimate = ShareOf(
        ours, [&](const Row& row) { return row.stack.find(std::string(kWorker) + site + ":") != std::string::npos; });
    INFO(site << " " << estimate.value << " (" << estimate.low << " to " << estimate.high << ")");
    CHECK(estimate.Holds(share));
  }
  for (const auto& [name, share] : std::map<std::string, double>{
           {"java.lang.IllegalStateException", .1}, {"java.io.IOException", .3}, {"e2e.Throws$Custom", .6}}) {
    const Share estimate = ShareOf(ours, [&name](const Row& row) { return row.class_name == name; });
    INFO(name << " " << estimate.value);
    CHECK(estimate.Holds(share));
  }
  for (int i = 0; i < 3; ++i) {
    const Share thread = ShareOf(ours, [i](const Row& row) { return row.thread == "throws-" + std::to_string(i); });
    CHECK(thread.Holds(1.0 / 3));
  }
  RequireCap(run.rows, 400);
}

TEST_CASE("A rethrown exception counts once, a preallocated one each time") {
  const ThrowsRun none = RunThrows({"again", "0"}, ",exceptions=on");
  const ThrowsRun run = RunThrows({"again", "20000"}, ",exceptions=on");
  CHECK(run.outcome.out == "caught 60000\n");
  const uint64_t ours = CountedIn(run.rows) - CountedIn(none.rows);
  INFO(ours << " counted");
  // The collector moves few of them between two throws.
  CHECK(ours >= 40'000);
  CHECK(ours <= 40'400);
}

TEST_CASE("Many exceptions exceed the rate in no second, and the weights add up to the thrown exceptions") {
  const ThrowsRun run = RunThrows({"2", "150000", "0"}, ",exceptions=on,exceptions.rate=100");
  CHECK(run.outcome.out == "caught 300000\n");
  INFO(run.rows.reasons());
  CHECK(run.rows.trustworthy());
  RequireCap(run.rows, 100);
  const Total total = TotalOf(ThrownIn(run.rows));
  INFO(total.bytes << " of " << CountedIn(run.rows));
  CHECK(total.Holds(static_cast<double>(CountedIn(run.rows))));
  // The bound and the totals of the allocations are as without exceptions.
  const std::vector<Row> allocations = run.rows.Where([](const Row& row) { return !IsThrown(row); });
  CHECK(run.rows.summary["samples"] == allocations.size());
  CHECK(run.rows.summary["max_in_interval"] <= 50);
}

TEST_CASE(
    "Exceptions are off by default: no event, nothing of them in the recording, and their capability is not held") {
  const std::string folder = FreshFolder();
  // As fast as it can: on JDK 11, 1,000 throws a second need no new TLAB in 300 ms, and the late recording stays empty.
  Command command = CommandOf(
      {.main = "e2e.Throws", .args = {"1", "forever", "0"}, .agent_options = "file=off.bin,rate=50,duration=300ms"});
  command.folder = folder;
  Process process(command);
  REQUIRE(process.WaitForOutput("running"));
  // A JVM gives the capability only at its start. Had the agent taken it then, it would have it now.
  const auto attach = [&process, &folder] {
    return Run(Command{{JavaHome() + "/bin/jcmd", std::to_string(process.pid()), "JVMTI.agent_load", AgentPath(),
                        "\"file=" + folder + "/late.bin,exceptions=on,duration=300ms\""}});
  };
  for (int tries = 0; tries < 100 && !FileExists(folder + "/late.bin"); ++tries) {
    (void)attach();
    usleep(100'000);
  }
  usleep(600'000);
  process.Kill(SIGTERM);
  const Outcome outcome = process.Finish();
  CHECK(outcome.err.find("exceptions are not recorded: ") != std::string::npos);
  for (const char* name : {"/off.bin", "/late.bin"}) {
    const Rows rows = ReadRows(folder + name);
    CHECK(rows.Where(IsThrown).empty());
    CHECK(CountedIn(rows) == 0);
    CHECK(rows.summary["recording"]["exceptions"]["interval_ns"] == 0);
    CHECK(rows.summary["recording"]["exceptions"]["unavailable_reason"].get<std::string>().empty() ==
          (name == std::string("/off.bin")));
    CHECK(!rows.rows.empty());
  }
}

TEST_CASE("A stack overflow is recorded on the little stack that is left") {
  const ThrowsRun run = RunThrows({"overflow", "10"}, ",exceptions=on,exceptions.rate=1000,stackdepth=1024");
  CHECK(run.outcome.out == "caught 10\n");
  CHECK(run.outcome.err.empty());
  const auto overflows =
      run.rows.Where([](const Row& row) { return row.class_name == "java.lang.StackOverflowError"; });
  CHECK(!overflows.empty());
  for (const Row& row : overflows) {
    CHECK(row.truncated);
    CHECK(row.stack.find("e2e.Throws.depth") != std::string::npos);
  }
}

TEST_CASE("After kill -9 the exceptions in the ring respect their cap, and the counters add up") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.main = "e2e.Throws",
                               .args = {"2", "forever", "20000"},
                               .agent_options = "file=rec.bin,rate=50,exceptions=on,exceptions.rate=200"});
  command.folder = folder;
  Process process(command);
  const pid_t pid = process.pid();
  REQUIRE(process.WaitForOutput("running"));
  usleep(2'700'000);
  process.Kill(SIGKILL);
  CHECK(process.Finish().signal == SIGKILL);
  const Rows rows = ReadRows(folder + "/rec.bin");
  RemoveRingsOf(pid);
  INFO(rows.reasons());
  CHECK(rows.summary["ended"] == "cut off");
  CHECK(rows.trustworthy());
  const auto& counters = rows.summary["losses"]["exceptions"];
  const std::vector<Row> thrown = ThrownIn(rows);
  CHECK(counters["written"] == thrown.size());
  CHECK(thrown.size() >= 2 * 200);
  RequireCap(rows, 200);
  // Salvaged ones are named like the others.
  CHECK(rows.summary["losses"]["salvage"]["unnamed"] == 0);
  const Total total = TotalOf(thrown);
  INFO(total.bytes << " of " << CountedIn(rows));
  CHECK(total.Holds(static_cast<double>(CountedIn(rows))));
}

}  // namespace heaprec::testing
