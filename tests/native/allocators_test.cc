// Programs and JVMs whose malloc is another allocator's, preloaded or linked: they end as without heaprec, and what
// they allocate is seen in every form.
#include <cstdint>
#include <functional>

#include "tests/native/native_run.h"

namespace heaprec::testing {
namespace {

struct Allocator {
  std::string file, linked;  // the name of its file; of a program that is linked to it
};
const std::vector<Allocator> kAllocators{{"libjemalloc.so.2", "cxx_blocks_jemalloc"},
                                         {"libtcmalloc_minimal.so.4", "cxx_blocks_tcmalloc_minimal"},
                                         {"libmimalloc.so.2", "cxx_blocks_mimalloc"}};
// Bytes that each function of cxx_blocks.cc allocates, and keeps.
struct Truth {
  std::string function;
  double allocated, live;
};
const std::vector<Truth> kTruths{{"leak_new", 20e6, 20e6},        {"leak_malloc", 20e6, 20e6},
                                 {"through_default", 20e6, 20e6}, {"through_next", 20e6, 20e6},
                                 {"through_handle", 20e6, 20e6},  {"churn_vector", 200e6, 0},
                                 {"all_forms", 286'720'000, 0},   {"mixes", 40e6, 0}};

// Runs the program with these libraries in front of all others.
void RunBlocks(const std::string& program, const std::string& libraries, const std::string& variable) {
  Command command{{program}};
  command.environment = {"LD_PRELOAD=" + libraries, variable};
  const Outcome outcome = Run(command);
  CAPTURE(outcome.err);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "done\n");
}

void CheckSampled(const std::string& recording) {
  const json sites = Read({"native", "--json", "--limit", "0", recording});
  for (const Truth& truth : kTruths) {
    EstimatedSum allocated, live;
    for (const json& row : sites["rows"]) {
      if (!row["name"].get<std::string>().ends_with("." + truth.function)) continue;
      allocated.Add(row["allocated"]["bytes"]);
      live.Add(row["live"]["bytes"]);
    }
    CAPTURE(truth.function);
    allocated.CheckIsAbout(truth.allocated);
    live.CheckIsAbout(truth.live);
  }
  const json summary = Read({"summary", "--json", recording});
  CAPTURE(summary["reasons"].dump());
  CHECK(summary["trustworthy"] == true);
}

void CheckExact(const std::string& table) {
  const json document = Read({"native", "--json", "--by", "function", table});
  CHECK(document["exact"] == true);
  CHECK(document["foreign_frees"] == 0);
  for (const Truth& truth : kTruths) {
    int64_t allocated = 0, live = 0;
    for (const json& row : document["rows"]) {
      if (!row["name"].get<std::string>().starts_with(truth.function + " ")) continue;
      allocated += row["allocated_bytes"].get<int64_t>();
      live += row["live_bytes"].get<int64_t>();
    }
    CAPTURE(truth.function);
    // An empty block may count as one of a byte.
    CHECK(allocated >= static_cast<int64_t>(truth.allocated));
    CHECK(allocated <= static_cast<int64_t>(truth.allocated) + 20'000);
    CHECK(live == static_cast<int64_t>(truth.live));
  }
}

}  // namespace

// Calls `record` with a program and the libraries in front of all others: with libc's allocator, with each other one
// preloaded, and with each linked to the program.
void WithEachAllocator(const std::string& library,
                       const std::function<void(const std::string& program, const std::string& libraries)>& record) {
  record(Built("cxx_blocks"), library);
  for (const Allocator& allocator : kAllocators) {
    record(Built("cxx_blocks"), library + ":" + allocator.file);
    record(Built(allocator.linked), library);
  }
}

TEST_CASE("Sampling sees all forms of allocation of a program, with any allocator") {
  WithEachAllocator(AgentPath(), [](const std::string& program, const std::string& libraries) {
    CAPTURE(program, libraries);
    const std::string file = FreshFolder() + "/rec.bin";
    RunBlocks(program, libraries, "HEAPREC_NATIVE_SAMPLED=rate=2000,file=" + file);
    CheckSampled(file);
  });
}

TEST_CASE("Counting sees all forms of allocation of a program, with any allocator") {
  WithEachAllocator(ExactLibrary(), [](const std::string& program, const std::string& libraries) {
    CAPTURE(program, libraries);
    const std::string table = FreshFolder() + "/native.bin";
    RunBlocks(program, libraries, "HEAPREC_NATIVE_EXACT=file=" + table);
    CheckExact(table);
  });
}

TEST_CASE("A program with an allocator linked into it is recorded, and not trustworthy") {
  const std::string file = FreshFolder() + "/rec.bin";
  Command command{{Built("own_malloc_large")}};
  command.environment = {"LD_PRELOAD=" + AgentPath(), "HEAPREC_NATIVE_SAMPLED=file=" + file};
  const Outcome outcome = Run(command);
  CHECK(outcome.exit_code == 7);
  const json summary = Read({"summary", "--json", file});
  CHECK(summary["trustworthy"] == false);
  CHECK(summary["reasons"].dump().find("other allocator") != std::string::npos);
  CHECK(summary.dump().find("\"unseen_allocators\":1") != std::string::npos);
  CHECK(summary["recording"]["malloc"]["unavailable_reason"] ==
        "calls of the allocator within the program are not seen");
}

// A hook may run in a thread's first malloc: what it reads must be there without an allocation.
TEST_CASE("The thread-local memory of both libraries is in the static TLS block") {
  for (const std::string& library : {AgentPath(), ExactLibrary()}) {
    CAPTURE(library);
    CHECK(Run(Command{{"readelf", "-dW", library}}).out.find("STATIC_TLS") != std::string::npos);
    CHECK(Run(Command{{"readelf", "-rW", library}}).out.find("TLSDESC") == std::string::npos);
  }
}

// jemalloc maps memory under its lock, and so does mimalloc while it begins a thread.
TEST_CASE("A JVM on another allocator starts its threads, and ends as without heaprec") {
  std::vector<Command> commands;
  std::vector<std::string> folders;
  for (const Allocator& allocator : kAllocators) {
    const std::string folder = folders.emplace_back(FreshFolder());
    commands.push_back(
        {{JavaHome() + "/bin/java", "-Xmx256m", "-agentpath:" + AgentPath() + "=native=on,file=" + folder + "/rec.bin",
          Built("Many.java"), "300", "2"},
         {"LD_PRELOAD=" + allocator.file}});
    commands.push_back({{JavaHome() + "/bin/java", "-Xmx256m", Built("Many.java"), "300", "2"},
                        {"LD_PRELOAD=" + ExactLibrary() + ":" + allocator.file,
                         "HEAPREC_NATIVE_EXACT=only=java,file=" + folder + "/native.bin"}});
  }
  for (const Outcome& outcome : RunAll(commands, 3)) {
    CAPTURE(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == "done\n");
  }
  for (size_t i = 0; i < folders.size(); ++i) {
    CAPTURE(kAllocators[i].file);
    const json stacks = Read({"native", "--json", "--limit", "0", "--callers", "50", folders[i] + "/rec.bin"});
    CHECK(stacks.dump().find("java.nio.ByteBuffer.allocateDirect") != std::string::npos);
    CHECK(Read({"native", "--json", folders[i] + "/native.bin"})["exact"] == true);
  }
}

TEST_CASE("A JVM on another allocator is recorded if the agent is loaded later") {
  std::vector<Process> jvms;
  for (const Allocator& allocator : kAllocators) {
    jvms.emplace_back(Command{{JavaHome() + "/bin/java", "-Xmx256m", Built("Many.java"), "100", "60"},
                              {"LD_PRELOAD=" + allocator.file}});
  }
  std::vector<std::string> files;
  for (const Process& jvm : jvms) {
    const Outcome attached = RunHeaprec({"attach", "--timeout", "60", "--set", "native=on", "-o",
                                         files.emplace_back(FreshFolder() + "/rec.bin"), std::to_string(jvm.pid())});
    CAPTURE(attached.err);
    CHECK(attached.exit_code == 0);
  }
  for (size_t i = 0; i < jvms.size(); ++i) {
    const Outcome outcome = jvms[i].Finish();
    CAPTURE(kAllocators[i].file, outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == "done\n");
    CHECK(Read({"native", "--json", files[i]})["allocated"]["bytes"]["value"].get<double>() > 0);
  }
}

TEST_CASE("Java allocations through the linker's default lookup are seen") {
  // Final in JDK 22; 17 does not know the class.
  if (Run(Command{{JavaHome() + "/bin/javap", "java.lang.foreign.Linker"}}).exit_code != 0) return;
  const std::string file = FreshFolder() + "/rec.bin";
  const Outcome outcome =
      Run(Command{{JavaHome() + "/bin/java", "--enable-native-access=ALL-UNNAMED",
                   "-agentpath:" + AgentPath() + "=native=on,native.rate=2000,file=" + file, Built("Ffm.java")}});
  CAPTURE(outcome.err);
  REQUIRE(outcome.out == "done\n");
  EstimatedSum bytes;
  const json stacks = Read({"native", "--json", "--limit", "0", "--callers", "50", file});
  for (const json& row : stacks["rows"]) {
    if (row.dump().find("Ffm.viaFfm") != std::string::npos) bytes.Add(row["allocated"]["bytes"]);
  }
  bytes.CheckIsAbout(30e6);
}

}  // namespace heaprec::testing
