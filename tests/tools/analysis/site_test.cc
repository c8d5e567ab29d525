// Sites: which frames only allocate for their caller, the list in a file, and CPU time and progress of recordings.
#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>

#include "tests/tools/small_recording.h"
#include "tools/analysis/estimate/replicates.h"
#include "tools/analysis/groups/allocation_primitives.h"
#include "tools/analysis/totals/process_states.h"

namespace heaprec::tools {
namespace {

using format::ProcessState;
using format::ProcessStateKind;

TEST_CASE("Allocation primitives are whole methods, or all methods with a prefix") {
  const AllocationPrimitives all = AllocationPrimitives::Default();
  for (const char* method :
       {"java.lang.Object.clone", "java.util.Arrays.copyOfRange", "java.lang.StringConcatHelper.newArray",
        "java.lang.invoke.DirectMethodHandle.allocateInstance",
        "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke", "libjvm.so.os::malloc",
        "libjvm.so.Unsafe_AllocateMemory0", "jdk.internal.misc.Unsafe.allocateMemory0"}) {
    INFO(method);
    CHECK(all.Contains(method));
  }
  for (const char* method :
       {"java.util.BitSet.clone", "java.util.ArrayList.grow", "java.util.Arrays.copyOfX", "p.A.run", ""}) {
    INFO(method);
    CHECK_FALSE(all.Contains(method));
  }
  CHECK(AllocationPrimitives().empty());
  CHECK(all.HasMethod("java/lang/invoke/LambdaForm$MH+0x0000000800c03000", "invoke"));
  CHECK_FALSE(all.HasMethod("p/A", "run"));
}

TEST_CASE("A path ends at the site, or is truncated at the maximum length") {
  const auto path_of = [](const std::string& leaf_first, bool truncated) {
    const format::Path path =
        format::PathOf(leaf_first.size(), truncated, [&](size_t i) { return leaf_first[i] == 'p'; });
    return std::pair(path.frames, path.truncated);
  };
  CHECK(path_of("abc", true) == std::pair<size_t, bool>(1, false));
  CHECK(path_of("ppa", true) == std::pair<size_t, bool>(3, false));
  CHECK(path_of("pp", false) == std::pair<size_t, bool>(2, false));
  CHECK(path_of("pp", true) == std::pair<size_t, bool>(2, true));
  CHECK(path_of(std::string(format::kLongestPath - 1, 'p') + "a", false) == std::pair(format::kLongestPath, false));
  CHECK(path_of(std::string(format::kLongestPath, 'p') + "a", false) == std::pair(format::kLongestPath, true));
  CHECK(path_of("", false) == std::pair<size_t, bool>(0, false));
}

TEST_CASE("A file replaces the list, or extends it") {
  const testing::Directory directory;
  const std::string path = directory / "primitives.txt";
  std::ofstream(path) << "# ours\ncom.acme.Pool.take\ncom.acme.Buffers.*   # all\n\n";
  const auto own = ReadPrimitives(path);
  REQUIRE(own.ok());
  CHECK(own->Contains("com.acme.Pool.take"));
  CHECK(own->Contains("com.acme.Buffers.of"));
  CHECK_FALSE(own->Contains("java.lang.Object.clone"));
  std::ofstream(path, std::ios::app) << "default\n";
  CHECK(ReadPrimitives(path)->Contains("java.lang.Object.clone"));
  std::ofstream(path) << "a.*.b\n";
  CHECK_FALSE(ReadPrimitives(path).ok());
  CHECK_FALSE(ReadPrimitives(directory / "none").ok());
}

format::Block BlockAt(std::initializer_list<std::pair<uint64_t, uint64_t>> looks) {
  format::Block block;
  for (const auto& [seconds, cpu_seconds] : looks) {
    ProcessState state;
    state.kind = ProcessStateKind::kCpu;
    state.time_ns = seconds * 1'000'000'000;
    state.used = cpu_seconds * 1'000'000'000;
    state.committed = state.used / 10;
    block.states.push_back(state);
  }
  return block;
}

TEST_CASE("CPU time between two times is interpolated; outside it is the average") {
  CpuTimeline cpu;
  CHECK_FALSE(cpu.Between(0, 1));
  cpu.Add(BlockAt({{0, 5}, {1, 6}}));
  cpu.Add(BlockAt({{2, 8}, {2, 8}, {4, 9}}));
  const auto between = [&](double from, double to) {
    return cpu.Between(static_cast<uint64_t>(from * 1e9), static_cast<uint64_t>(to * 1e9))->process;
  };
  CHECK(between(0, 4) == Approx(4));
  CHECK(between(1, 2) == Approx(2));
  CHECK(between(0.5, 1.5) == Approx(1.5));
  CHECK(between(3, 6) == Approx(0.5 + 2));
  CHECK(cpu.Between(0, 4'000'000'000)->collector == Approx(0.4));
  CHECK_FALSE(cpu.Between(7, 7));
}

TEST_CASE("Blocks hold the same part of everything, whatever the speed") {
  ProgressBlocks slow, fast;
  for (uint64_t i = 0; i < 1000; ++i) {
    const bool is_early = i < 500;
    slow.Add(is_early ? 1 : 2, i * 100'000'000, 1);
    fast.Add(is_early ? 1 : 2, i * 7'000'000, 1);
  }
  for (const uint32_t key : {1U, 2U}) {
    const auto of_slow = slow.Of(key), of_fast = fast.Of(key);
    CHECK(std::accumulate(of_slow.begin(), of_slow.end(), 0.0) == Approx(ProgressBlocks::kBlocks));
    for (size_t i = 0; i < of_slow.size(); ++i) CHECK(of_slow[i] == Approx(of_fast[i]).margin(0.2));
  }
  CHECK(slow.Of(1)[0] == Approx(2).margin(0.1));
  CHECK(slow.Of(1)[9] == 0);
  CHECK(slow.Of(3)[0] == 0);
}

}  // namespace
}  // namespace heaprec::tools
