// A program that records itself through heaprec.Heaprec.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr char kNoAgent[] =
    "heaprec: the agent is not loaded; call Heaprec.load(), or start the JVM with -javaagent:heaprec.jar\n";

void RequireBoth(const std::string& folder, const std::string& out) {
  for (const char* name : {"first", "second"}) {
    const std::string file = folder + "/" + name + ".bin";
    INFO(out);
    CHECK(out.find("start " + file + "\nagain refused: heaprec: already recording into " + file + "\nstop " + file) !=
          std::string::npos);
    const Rows rows = ReadRows(file);
    CHECK(rows.summary["ended"] == "stop");
    const auto large = rows.Where([](const Row& row) { return row.size == (1 << 20) + 16; });
    CHECK(large.size() == 50);  // each is kept with 1 - exp(-lambda size), lambda size > 10
  }
  CHECK(out.find("stop refused: heaprec: no recording is running\nwrong refused: heaprec: unknown option `no`") !=
        std::string::npos);
  CHECK(out.ends_with("after idle\n"));
}

}  // namespace

TEST_CASE("A program that loads the library can record itself repeatedly") {
  for (const std::string thread : {"", "virtual"}) {
    CAPTURE(thread);
    const std::string folder = FreshFolder();
    Java java{.flags = {"-Xmx200m"}, .main = "e2e.Itself", .args = {folder, AgentPath()}};
    if (!thread.empty()) java.args.push_back(thread);
    const Outcome outcome = Run(java);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out.starts_with(std::string("before refused: ") + kNoAgent));
    RequireBoth(folder, outcome.out);
    CHECK(ReadRows(folder + "/second.bin").summary["recording"]["source"] == "hooks");
  }
}

TEST_CASE("A JVM with the agent can record itself after its recording has ended") {
  const std::string folder = FreshFolder();
  Java java{.flags = {"-Xmx200m"}, .main = "e2e.Itself", .args = {folder}};
  java.agent_options = "file=" + folder + "/agent.bin,delay=1h";
  const Outcome waiting = Run(java);
  INFO(waiting.out << waiting.err);
  CHECK(waiting.exit_code == 0);
  CHECK(waiting.out.starts_with("before waiting\nstart refused: heaprec: a recording is waiting for its delay"));
}

TEST_CASE("A program without library and agent gets an error and continues") {
  const Outcome outcome = Run(Java{.main = "e2e.Itself", .args = {FreshFolder()}});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.ends_with(std::string("after refused: ") + kNoAgent));
}

}  // namespace heaprec::testing
