// libheaprec.so loads beside anything: it shows Agent_* and the labels' functions and nothing else, and needs glibc's
// libraries and nothing else; all products load with glibc 2.17.
#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

std::string OutputOf(const std::vector<std::string>& args) {
  const Outcome outcome = Run(Command{args});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return outcome.out;
}

std::set<std::string> Matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

// Bazel's runfiles are links, which some tools do not follow.
std::string Agent() { return AgentPath(); }

const std::string kNative = "recorder/libheaprec-native.so";

}  // namespace

// capset, setns and unshare replace libc's if the library is preloaded (recorder/agent/program/preload_entry.cc).
TEST_CASE("The agent exports only the symbols for the JVM, heaprec.jar, the headers of include/ and preloading") {
  CHECK(Matches(OutputOf({"nm", "-D", "--defined-only", Agent()}), std::regex(R"( [A-Z] (\S+))")) ==
        std::set<std::string>{"Agent_OnAttach", "Agent_OnLoad", "Agent_OnUnload", "Java_heaprec_Heaprec_ask0",
                              "Java_heaprec_Heaprec_dump0", "Java_heaprec_Heaprec_label0",
                              "Java_heaprec_Heaprec_sample0", "Java_heaprec_Heaprec_traces0",
                              "Java_heaprec_Probe_begin0", "Java_heaprec_Probe_end0", "capset", "heaprec_label",
                              "heaprec_sample_allocations", "heaprec_visit_traces", "setns", "unshare"});
}

TEST_CASE("The products need only glibc's libraries, including those that were separate until 2.34") {
  for (const std::string& product : {Agent(), RunfilePath(kNative), HeaprecPath()}) {
    INFO(product);
    const auto needed = Matches(OutputOf({"readelf", "-d", product}), std::regex(R"(Shared library: \[(\S+)\])"));
    for (const char* library : {"libc.so.6", "libpthread.so.0", "libdl.so.2"}) CHECK(needed.count(library) == 1);
    for (const std::string& library : needed) {
      INFO(library);
      CHECK(std::set<std::string>{"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "ld-linux-x86-64.so.2"}
                .count(library) == 1);
    }
  }
}

TEST_CASE("Symbols that the agent does not define are libc's, and are bound at load") {
  // Weak ones (the profiling hooks of zstd, the linker's own) may be missing.
  const std::string undefined = OutputOf({"nm", "-D", "--undefined-only", Agent()});
  std::istringstream lines(undefined);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    const bool weak = line.find(" w ") != std::string::npos;
    CHECK((weak || line.find("@GLIBC_") != std::string::npos));
  }
  const std::string dynamic = OutputOf({"readelf", "-d", Agent()});
  CHECK(dynamic.find("NOW") != std::string::npos);
  CHECK(dynamic.find("NODELETE") != std::string::npos);
}

TEST_CASE("No product needs a glibc newer than 2.17") {
  for (const std::string& product : {Agent(), RunfilePath(kNative), HeaprecPath()}) {
    INFO(product);
    const auto versions = Matches(OutputOf({"objdump", "-T", product}), std::regex(R"(GLIBC_2\.(\d+))"));
    CHECK(versions.size() > 3);
    for (const std::string& minor : versions) CHECK(std::stoi(minor) <= 17);
  }
}

}  // namespace heaprec::testing
