// What real JVMs map: files, with the Java methods that asked, and the heap as it grows.
#include <string_view>

#include "tests/native/native_run.h"

namespace heaprec::testing {
namespace {

constexpr double kMb = 1 << 20;

// G1 commits each of its regions with several calls: a thousand and more in the second in which the heap grows, of
// which the default keeps not all. Here all are asked for.
Outcome RunMaps(const std::string& file, const std::vector<std::string>& flags, bool killed = false) {
  Command command{{JavaHome() + "/bin/java", "-Xms16m", "-Xmx256m"}};
  command.args.insert(command.args.end(), flags.begin(), flags.end());
  command.args.push_back("-agentpath:" + AgentPath() + "=file=" + file + ",native=on,native.mmap_rate=2000");
  command.args.push_back(Built("Maps.java"));
  if (killed) command.args.emplace_back("killed");
  return Run(command);
}

json StacksIn(const std::string& recording) {
  return Read({"native", "--json", "--limit", "0", "--callers", "100", recording})["mmap"];
}

bool Holds(const json& row, std::string_view text) {
  return row.value("callers", json::array()).dump().find(text) != std::string::npos ||
         row["name"].get<std::string>().find(text) != std::string::npos;
}

// Of those that have both on their stacks: below Java code the JVM itself maps, too, for the classes that it loads.
double Sum(const json& mapped, const char* what, std::string_view caller, std::string_view callee = "") {
  double sum = 0;
  for (const json& row : mapped["rows"]) {
    if (Holds(row, caller) && Holds(row, callee)) sum += row[what]["value"].get<double>();
  }
  return sum;
}

void CheckKept(const json& mapped) {
  CHECK(Sum(mapped, "committed", "Maps.keep", "_map0") == 16 * kMb);
  CHECK(Sum(mapped, "mappings", "Maps.keep", "_map0") == 2);
}

// What Maps.java maps and what G1 commits.
void CheckMaps(const std::string& file) {
  const json mapped = StacksIn(file);
  CheckKept(mapped);
  // The heap: reserved when it began, before which there was no agent; committed as it grew.
  const double grown = Sum(mapped, "committed", "HeapRegionManager");
  CHECK((grown > 64 * kMb && grown < 256 * kMb));
  CHECK(mapped["committed"]["value"] == mapped["committed"]["high"]);
  const json classes = Read({"live", "--json", "--kind", "mmap", "--by", "class", file});
  CHECK(classes.dump().find("mmap shared") != std::string::npos);
  CHECK(classes.dump().find("mmap file") != std::string::npos);
}

}  // namespace

TEST_CASE("A file that Java maps has its methods, and growth of the heap the JVM's functions") {
  const std::string file = FreshFolder() + "/rec.bin";
  const Outcome outcome = RunMaps(file, {"-XX:+UseG1GC"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out == "kept 2 true\n");
  CHECK(outcome.err.empty());
  CheckMaps(file);
  CheckVerified(file);
}

TEST_CASE("A killed JVM leaves its mappings in the ring") {
  const std::string file = FreshFolder() + "/rec.bin";
  const Outcome outcome = RunMaps(file, {"-XX:+UseG1GC"}, /*killed=*/true);
  CHECK(outcome.exit_code != 0);
  CheckMaps(file);
}

TEST_CASE("The mappings of other collectors are recorded, and can be turned off") {
  for (const char* flag : {"-XX:+UseParallelGC", "-XX:+UseSerialGC", "-XX:+UseZGC"}) {
    INFO(flag);
    const std::string file = FreshFolder() + "/rec.bin";
    REQUIRE(RunMaps(file, {flag}).exit_code == 0);
    CheckKept(StacksIn(file));
    CheckVerified(file);
  }
  const std::string file = FreshFolder() + "/rec.bin";
  Command without{{JavaHome() + "/bin/java",
                   "-agentpath:" + AgentPath() + "=file=" + file + ",native=on,native.mmap_rate=off", "-version"}};
  REQUIRE(Run(without).exit_code == 0);
  CHECK_FALSE(Read({"native", "--json", file}).contains("mmap"));
}

}  // namespace heaprec::testing
