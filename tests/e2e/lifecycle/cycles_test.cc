// Many recordings in one JVM, one after another: what each of them took is given back.
// HEAPREC_CYCLES: how many (200 by default).
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

// A recording that is never freed holds 1.2 MB of tables that were written to, and a mapping of 4 MB.
constexpr int kSettled = 20;  // cycles after which the JVM itself has what it needs for attaching

int Cycles() {
  const char* const text = getenv("HEAPREC_CYCLES");  // NOLINT(concurrency-mt-unsafe): a test
  return text != nullptr ? std::atoi(text) : 200;     // NOLINT(cert-err34-c)
}

struct Held {
  uint64_t resident_kb = 0, mappings = 0, descriptors = 0, threads = 0;
};

uint64_t NumberOf(const std::string& status, const std::string& field) {
  const size_t at = status.find("\n" + field + ":");
  REQUIRE(at != std::string::npos);
  return std::strtoull(status.c_str() + at + field.size() + 2, nullptr, 10);
}

Held HeldBy(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string status = ReadFile(folder + "/status"), maps = ReadFile(folder + "/maps");
  Held held;
  held.resident_kb = NumberOf(status, "VmRSS");
  held.threads = NumberOf(status, "Threads");
  held.mappings = static_cast<uint64_t>(std::count(maps.begin(), maps.end(), '\n'));
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(folder + "/fd")) ++held.descriptors;
  return held;
}

void RequireOk(const std::vector<std::string>& args) {
  Command command{{HeaprecPath()}};
  command.args.insert(command.args.end(), args.begin(), args.end());
  command.environment = {"HEAPREC_LIB=" + AgentPath()};
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
}

}  // namespace

TEST_CASE("Recordings that have ended need no memory, mapping, descriptor, thread or ring") {
  const std::string folder = FreshFolder();
  Process process(CommandOf(
      {.flags = {"-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"}, .main = "e2e.Load", .args = {"2", "600000", "20"}}));
  REQUIRE(process.WaitForOutput("running"));
  const std::string pid = std::to_string(process.pid());
  Held settled;
  for (int cycle = 0; cycle < Cycles(); ++cycle) {
    RequireOk({"attach", pid, "-q", "-o", folder + "/rec.bin"});
    RequireOk({"stop", "-q", pid});
    if (cycle == kSettled) settled = HeldBy(process.pid());
    if (cycle + 1 < Cycles()) std::filesystem::remove(folder + "/rec.bin");
  }
  const Held held = HeldBy(process.pid());
  std::ostringstream growth;
  growth << "resident " << settled.resident_kb << " -> " << held.resident_kb << " kB, mappings " << settled.mappings
         << " -> " << held.mappings << ", descriptors " << settled.descriptors << " -> " << held.descriptors
         << ", threads " << settled.threads << " -> " << held.threads;
  WARN(growth.str());
  CHECK(held.resident_kb < settled.resident_kb + 32 * 1024);
  CHECK(held.mappings < settled.mappings + 50);
  CHECK(held.descriptors < settled.descriptors + 10);
  CHECK(held.threads < settled.threads + 10);
  CHECK(RingsOf(process.pid()).empty());
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  CHECK(ReadRows(folder + "/rec.bin").summary["ended"] == "stop");
}

}  // namespace heaprec::testing
