#include "tests/e2e/lifecycle/ends.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr uint64_t kLastSize = 4 << 20;

// Also one that an agent which started meanwhile, of another test, has moved beside the recording.
bool HasRing(const Ended& ended) {
  if (!RingsOf(ended.pid).empty()) return true;
  const std::filesystem::directory_iterator files(ended.folder);
  return std::any_of(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".ring"; });
}

}  // namespace

Command EndsCommand(const std::string& folder, const std::vector<std::string>& args,
                    const std::vector<std::string>& flags) {
  Java java{.flags = {"-XX:-CreateCoredumpOnCrash"}, .main = "e2e.Ends", .args = args};
  java.flags.insert(java.flags.end(), flags.begin(), flags.end());
  java.agent_options = std::string("file=rec.bin,rate=") + kEndsRate;
  Command command = CommandOf(java);
  command.folder = folder;
  return command;
}

Ended RunEnds(const std::vector<std::string>& args, const std::vector<std::string>& flags, int signal) {
  Ended ended{FreshFolder(), 0, {}};
  Process process(EndsCommand(ended.folder, args, flags));
  ended.pid = process.pid();
  if (signal != 0) {
    REQUIRE(process.WaitForOutput("running"));
    process.Kill(signal);
  }
  ended.outcome = process.Finish();
  return ended;
}

void RequireLast(const Ended& ended, const std::string& how) {
  const Rows rows = ReadRows(ended.folder + "/rec.bin");
  INFO(rows.reasons());
  CHECK(rows.summary["ended"] == how);
  const auto last = rows.Where([](const Row& row) { return row.size == kLastSize; });
  REQUIRE(last.size() == 1);
  CHECK(last.front().stack.find(";e2e.Ends.last:") != std::string::npos);
  CHECK(last.front().class_name == "byte[]");
  for (const char* reason : {"ring_full", "lanes_busy", "oversized", "write_failed"}) CHECK(rows.Lost(reason) == 0);
  CHECK(HasRing(ended) == (how == "cut off"));
  RemoveRingsOf(ended.pid);
}

void RequireSilent(const Ended& ended, int exit_code) {
  INFO(ended.outcome.err);
  CHECK(ended.outcome.exit_code == exit_code);
  CHECK(ended.outcome.signal == 0);
  CHECK(ended.outcome.out.empty());
  CHECK(ended.outcome.err.empty());
}

}  // namespace heaprec::testing
