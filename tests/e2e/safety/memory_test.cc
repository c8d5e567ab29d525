// The agent's heap within a JVM, beside the ring, whatever is recorded: every stack new, every class, every thread.
//
// HEAPREC_MEMORY_SECONDS=120: for how long.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr int64_t kMax = 8 << 20;

int Seconds() {
  const char* const value = getenv("HEAPREC_MEMORY_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? atoi(value) : 10;
}

}  // namespace

TEST_CASE("The agent's heap stays below 8 MiB at the default rate, whatever is recorded") {
  const std::string folder = FreshFolder();
  Command command = CommandOf({.flags = {"-Xmx256m"},
                               .main = "e2e.Varied",
                               .args = {std::to_string(1000 * Seconds())},
                               .agent_options = "file=" + folder + "/rec.bin",
                               .agent = RunfilePath("tests/e2e/safety/libheaprec_counted.so")});
  command.environment = {"HEAPREC_HEAP_FILE=" + folder + "/heap"};
  command.seconds = Seconds();
  Process process(command);
  const Outcome outcome = process.Finish();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "done\n");
  const std::string counted = ReadFile(folder + "/heap");
  int64_t most = 0;
  REQUIRE(counted.size() == sizeof(most));
  std::memcpy(&most, counted.data(), sizeof(most));
  const size_t samples = ReadRows(folder + "/rec.bin").rows.size();
  WARN("heap: at most " << most << " bytes; " << samples << " samples");
  CHECK(most < kMax);
  CHECK(most > 1 << 20);  // the buffers alone: the count counts
  CHECK(samples > 50 * static_cast<size_t>(Seconds()));
}

}  // namespace heaprec::testing
