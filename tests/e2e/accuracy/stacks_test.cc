// Every recorded stack of a marked allocation is one that Java itself captured on the same line: class, method and line
// of each frame, interpreted, compiled and inlined. And the threads are who they say they are.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using Stacks = std::map<std::string, std::set<std::string>>;  // by class

constexpr size_t kDepth = 128;

// "class stack" lines
Stacks StacksOf(const std::string& text) {
  std::istringstream lines(text);
  Stacks stacks;
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    REQUIRE(space != std::string::npos);
    stacks[line.substr(0, space)].insert(line.substr(space + 1));
  }
  return stacks;
}

// What a recording keeps of a stack ("root;...;leaf"): a quarter of its frames at the leaf, the rest at the root.
std::string Kept(const std::string& stack, size_t depth) {
  std::vector<std::string> frames;
  std::istringstream text(stack);
  for (std::string frame; std::getline(text, frame, ';');) frames.push_back(frame);
  if (frames.size() <= depth) return stack;
  const size_t leaf = (depth + 3) / 4;
  std::string kept;
  for (size_t i = 0; i < depth - leaf; ++i) kept += frames[i] + ";";
  kept += "[truncated]";
  for (size_t i = frames.size() - leaf; i < frames.size(); ++i) kept += ";" + frames[i];
  return kept;
}

// Frames that Java hides by default are in a recording.
const std::vector<std::string> kShowAll{"-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames",
                                        "-Dsun.reflect.inflationThreshold=2147483647",
                                        // From 18 on reflection has method handles instead, of frames that are spun.
                                        "-Djdk.reflect.useNativeAccessorOnly=true"};

void RequireStacks(std::vector<std::string> flags, size_t depth = kDepth, const std::string& stacks = "auto") {
  flags.insert(flags.end(), kShowAll.begin(), kShowAll.end());
  const auto [recording, outcome] = RecordJava({.flags = flags, .main = "e2e.Chains", .args = {"1500"}},
                                               "rate=2000,stackdepth=" + std::to_string(depth) + ",stacks=" + stacks);
  const Stacks captured = StacksOf(outcome.out);
  REQUIRE(captured.size() == 7);
  const Rows rows = ReadRows(recording);
  CHECK(rows.source() == "hooks");
  CHECK(rows.summary["recording"]["source_reason"].get<std::string>().find(
            stacks == "auto" ? "stacks are walked" : "stacks by GetStackTrace") != std::string::npos);
  CHECK(outcome.err.find("GetStackTrace") == std::string::npos);  // no walk was found to be wrong
  for (const auto& [type, of_type] : captured) {
    INFO(type);
    std::set<std::string> expected;
    std::set<std::string> whole;
    for (const std::string& stack : of_type) whole.insert(rows.AsRecorded(stack));
    for (const std::string& stack : of_type) expected.insert(rows.AsRecorded(Kept(stack, depth)));
    const auto samples = rows.Where([type = type](const Row& row) { return row.class_name == type; });
    CHECK(samples.size() > 20);
    std::set<std::string> found;
    for (const Row& row : samples) {
      found.insert(row.stack);
      CHECK(row.truncated == (expected.count(row.stack) == 1 && whole.count(row.stack) == 0));
    }
    // All of the recorded ones were captured; and with so many samples, all that were captured were recorded.
    CHECK(found == expected);
  }
}

// Each of 40 versions of a class allocates the same number of objects, on a line of its own.
// Statistic: a true share is refused with probability < 4e-8 (estimates.h).
void RequireVersions(std::vector<std::string> flags, const std::string& options) {
  constexpr int kVersions = 40;
  flags.push_back("-javaagent:" + ProgramsJar());
  INFO(options);
  const auto [recording, outcome] =
      RecordJava({.flags = flags, .main = "e2e.Redefined", .args = {std::to_string(kVersions), "40000", FreshFolder()}},
                 "rate=2000,stackdepth=8," + options);
  CHECK(outcome.err.find("GetStackTrace") == std::string::npos);  // no walk was found to be wrong
  const Rows rows = ReadRows(recording);
  CHECK(rows.summary["losses"]["stacks"]["mismatches"] == 0);
  const auto ours = rows.Where([](const Row& row) { return row.stack.find("Work.hot:") != std::string::npos; });
  CHECK(ours.size() > 400);
  for (const Row& row : ours) CHECK(row.stack.starts_with("e2e.Redefined.main:"));  // whole, not a light point's path
  for (int version = 0; version < kVersions; ++version) {
    const std::string leaf = ";Work.hot:" + std::to_string(1000 * version + 1);
    const Share share = ShareOf(ours, [&](const Row& row) { return row.stack.ends_with(leaf); });
    INFO(leaf << ": " << share.value << " of " << ours.size() << " samples");
    CHECK(share.Holds(1.0 / kVersions));
    CHECK(share.value > 0);
  }
}

}  // namespace

TEST_CASE("Walked frames of a redefined class have the lines of their version") {
  RequireVersions({}, "stacks=auto");
  RequireVersions({"-Xint"}, "stacks=auto");
}

TEST_CASE("GetStackTrace frames of a redefined class have the lines of their version") {
  RequireVersions({}, "stacks=jvmti");
  RequireVersions({}, "source=portable");
}

TEST_CASE("Interpreted frames have their class, method and line") { RequireStacks({"-Xint"}); }

TEST_CASE("C1's frames have their class, method and line") { RequireStacks({"-XX:TieredStopAtLevel=1"}); }

TEST_CASE("Frames that C2 inlined have their class, method and line") {
  RequireStacks({"-XX:-TieredCompilation", "-XX:CompileCommand=quiet", "-XX:CompileCommand=inline,e2e.Chains::inlined*",
                 "-XX:CompileCommand=inline,e2e.Chains::plain*"});
}

TEST_CASE("Frames that C2 calls have their class, method and line") {
  RequireStacks({"-XX:-TieredCompilation", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,e2e.Chains::*"});
}

TEST_CASE("Frames of all tiers together have their class, method and line") { RequireStacks({}); }

TEST_CASE("stackdepth=3 keeps the leaf and two frames at the root, and marks the gap") { RequireStacks({}, 3); }

TEST_CASE("GetStackTrace gives the same stacks, truncated in the same way") { RequireStacks({}, 3, "jvmti"); }

TEST_CASE("Samples have the thread's current name, also if another thread renames it, and both ids") {
  const auto [recording, outcome] = RecordJava(
      {.flags = {"-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"}, .main = "e2e.Threads", .args = {"500"}},
      "rate=2000");
  // By the size of the arrays: java tid, os tid, name.
  std::map<uint64_t, std::tuple<uint64_t, uint64_t, std::string>> truth;
  std::istringstream lines(outcome.out);
  for (uint64_t size = 0, java_tid = 0, os_tid = 0; lines >> size >> java_tid >> os_tid;) {
    std::string name;
    std::getline(lines >> std::ws, name);
    truth[size] = {java_tid, os_tid, name};
  }
  REQUIRE(truth.size() == 12);
  const Rows rows = ReadRows(recording);
  for (const auto& [size, who] : truth) {
    const auto samples = rows.Where([size = size](const Row& row) {
      return row.size == size && row.stack.find("e2e.Threads$Worker.allocate") != std::string::npos;
    });
    INFO("size " << size);
    CHECK(samples.size() > 10);
    for (const Row& row : samples) {
      CHECK(std::tuple(row.java_tid, row.os_tid, row.thread) == who);
      CHECK(!row.is_virtual);
    }
  }
}

}  // namespace heaprec::testing
