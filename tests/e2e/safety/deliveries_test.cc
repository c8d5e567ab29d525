// While a recording starts or ends, the JVM delivers no more objects than at its default interval.
//
// Statistic: of 100 MB at the default interval of 512 KiB 191 deliveries are expected; 2,000 would take 1 GB. At 512
//            bytes there are more than 100,000.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr uint64_t kMax = 2000;

struct Deliveries {
  uint64_t at_start = 0, at_end = 0;
};

Deliveries CountedIn(const std::string& folder) {
  Deliveries counted;
  const std::string bytes = ReadFile(folder + "/deliveries");
  REQUIRE(bytes.size() == sizeof(counted));
  std::memcpy(&counted, bytes.data(), sizeof(counted));
  return counted;
}

// Two threads allocate 50 MB/s each, and what the agent does while a recording starts or ends takes a second.
Command Load(const std::string& folder, int ms, const std::string& options) {
  Command command = CommandOf({.main = "e2e.Load",
                               .args = {"2", std::to_string(ms), "50"},
                               .agent_options = "file=" + folder + "/rec.bin,delay=200ms," + options,
                               .agent = RunfilePath("tests/e2e/safety/libheaprec_deliveries.so")});
  command.environment = {"HEAPREC_DELIVERIES=" + folder + "/deliveries", "HEAPREC_DELIVERIES_MS=1000"};
  return command;
}

void RequireFew(const std::string& folder) {
  const Rows rows = ReadRows(folder + "/rec.bin");
  CHECK(rows.trustworthy());
  CHECK(rows.rows.size() > 50);
  const Deliveries counted = CountedIn(folder);
  CHECK(counted.at_start < kMax);
  CHECK(counted.at_end < kMax);
  CHECK(counted.at_start + counted.at_end > 0);  // the count counts
}

}  // namespace

TEST_CASE("While no source is active, few objects are delivered") {
  const std::string source = GENERATE("auto", "jvmti");
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(Load(folder, 4000, "duration=1s,source=" + source));
  INFO(source << "; " << outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "running\ndone\n");
  RequireFew(folder);
}

TEST_CASE("While the JVM exits, few objects are delivered") {
  const std::string folder = FreshFolder();
  Process process(Load(folder, 60000, "source=auto"));
  REQUIRE(process.WaitForFile(folder + "/rec.bin"));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  process.Kill(SIGTERM);
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 128 + SIGTERM);
  RequireFew(folder);
}

TEST_CASE("After a command that ran out of memory few objects are delivered, and the application continues") {
  const std::string folder = FreshFolder();
  Process process(Load(folder, 60000, "source=auto"));
  REQUIRE(process.WaitForFile(folder + "/rec.bin"));
  std::ofstream(folder + "/deliveries.fail") << "";
  const Outcome asked = Run(Command{{JavaHome() + "/bin/jcmd", std::to_string(process.pid()), "JVMTI.agent_load",
                                     RunfilePath("tests/e2e/safety/libheaprec_deliveries.so"), "status"}});
  INFO(asked.out << asked.err);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const Deliveries counted = CountedIn(folder);
  CHECK(counted.at_start < kMax);
  CHECK(counted.at_start > 0);
  process.Kill(SIGTERM);
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 128 + SIGTERM);
  CHECK(outcome.err == "heaprec: not recording: out of memory\n");
}

}  // namespace heaprec::testing
