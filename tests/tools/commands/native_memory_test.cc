// heaprec native --categories: what the JVM and the kernel said of the process' memory.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using format::ProcessState;
using format::ProcessStateKind;
using nlohmann::json;

constexpr uint64_t kMb = 1 << 20;

// Of one recording.
class Looks {
 public:
  explicit Looks(RecordingFile* file) : file_(file) {}
  void AddCategory(uint64_t time_ns, const std::string& name, uint64_t reserved, uint64_t committed) {
    ProcessState state = At(time_ns, ProcessStateKind::kMemory);
    state.used = reserved;
    state.committed = committed;
    state.cause = name;
    file_->Add(state);
  }
  void AddProcess(uint64_t time_ns, uint64_t rss, uint64_t pss, uint64_t not_shared) {
    ProcessState state = At(time_ns, ProcessStateKind::kMemory);
    state.used = pss;
    state.committed = not_shared;
    state.rss = rss;
    file_->Add(state);
  }
  void AddHeap(uint64_t time_ns, uint64_t rss) {
    ProcessState state = At(time_ns, ProcessStateKind::kSnapshot);
    state.used = 30 * kMb;
    state.committed = 64 * kMb;
    state.rss = rss;
    file_->Add(state);
  }

 private:
  ProcessState At(uint64_t time_ns, ProcessStateKind kind) {
    ProcessState state;
    state.id = next_++;
    state.time_ns = time_ns;
    state.kind = kind;
    return state;
  }

  RecordingFile* const file_;
  uint64_t next_ = 1;
};

void WriteLooks(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  Looks looks(&file);
  file.Add(At(kSecond));
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t at = i * 10 * kSecond;
    looks.AddHeap(at + 1, 90 * kMb);
    looks.AddCategory(at, "Total", 900 * kMb, (50 + 10 * i) * kMb);
    looks.AddCategory(at, "Java Heap", 64 * kMb, 30 * kMb);
    looks.AddCategory(at, "Class", 800 * kMb, (20 + 10 * i) * kMb);
    looks.AddProcess(at, (100 + i) * kMb, 80 * kMb, 70 * kMb);
  }
  file.Flush();
}

}  // namespace

TEST_CASE_METHOD(Scratch, "categories, RSS and PSS stand on one time axis") {
  WriteLooks(path);
  const auto outcome = Heaprec("native --categories --json " + path);
  REQUIRE(outcome.code == 0);
  const json looks = json::parse(outcome.out)["recordings"][0]["snapshots"];
  REQUIRE(looks.size() == 3);
  CHECK(looks[2]["time_ns"] == 20 * kSecond);
  CHECK(looks[2]["rss"] == 102 * kMb);
  CHECK(looks[2]["pss"] == 80 * kMb);
  CHECK(looks[2]["private"] == 70 * kMb);
  CHECK(looks[2]["categories"] == json{{"Total", {{"reserved", 900 * kMb}, {"committed", 70 * kMb}}},
                                       {"Java Heap", {{"reserved", 64 * kMb}, {"committed", 30 * kMb}}},
                                       {"Class", {{"reserved", 800 * kMb}, {"committed", 40 * kMb}}}});
  const auto text = Heaprec("native --categories --limit 2 " + path);
  CHECK(text.code == 0);
  CHECK(text.out.find("after 20.0 s, and what changed since 0 s") != std::string::npos);
  CHECK(text.out.find("+20.0 MiB") != std::string::npos);
  CHECK(text.out.find("2 of 3 snapshots; --limit 0 shows all") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "native shows the RSS of a recording without native memory and without NMT") {
  {
    RecordingFile file(path, SomeHeader());
    Looks looks(&file);
    file.Add(At(kSecond));
    for (uint64_t i = 0; i < 3; ++i) looks.AddHeap(i * kSecond, (90 + i) * kMb);
    file.End("stop", 3 * kSecond);
  }
  const auto outcome = Heaprec("native " + path);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("native memory was not sampled") != std::string::npos);
  CHECK(outcome.out.find("92.0 MiB  process: RSS") != std::string::npos);
  CHECK(Heaprec("native --by library " + path).code == 3);
}

TEST_CASE_METHOD(Scratch, "what is alive of our sites stands beside the looks") {
  {
    auto header = SomeHeader();
    header.native = {.interval_ns = 30 * kSecond, .interval_cap = 100, .rate_per_second = 100};
    header.max_tracked_blocks = 16384;
    RecordingFile file(path, header);
    file.Add(format::Window{1, 0, 1e-4});
    file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-5});
    constexpr uint64_t kFirst = uint64_t{1} << 61;
    for (uint64_t i = 0; i < 20; ++i) {
      file.Add(Event{.time_ns = (5 + i / 10) * kSecond,
                     .class_name = "malloc",
                     .size = 1000,
                     .weight = 100'000,
                     .kind = format::Kind::kNative,
                     .stack = {i < 10 ? "libkeep.so.keep" : "libgive.so.give"},
                     .types = {format::FrameType::kNative},
                     .id = kFirst + i});
    }
    Looks looks(&file);
    for (const uint64_t at : {1, 10, 20}) looks.AddProcess(at * kSecond, 100 * kMb, 80 * kMb, 70 * kMb);
    for (uint64_t i = 10; i < 20; ++i) {
      file.Add(
          format::LifecycleEvent{.sample = kFirst + i, .time_ns = 15 * kSecond + i, .stream = format::Stream::kNative});
    }
    file.End("stop", 25 * kSecond);
  }
  const auto outcome = Heaprec("native --categories --json " + path);
  REQUIRE(outcome.code == 0);
  const json sites = json::parse(outcome.out)["recordings"][0]["sites"];
  REQUIRE(sites.size() == 3);
  std::map<std::string, std::vector<double>> live;
  for (const json& site : sites) {
    for (const json& look : site["live_bytes"]) live[site["name"]].push_back(look["value"]);
  }
  CHECK(live["all sites"] == std::vector<double>{0, 2e6, 1e6});
  CHECK(live["libkeep.so.keep"] == std::vector<double>{0, 1e6, 1e6});
  CHECK(live["libgive.so.give"] == std::vector<double>{0, 1e6, 0});
  CHECK(sites[0]["live_bytes"][1]["low"].get<double>() < 2e6);
  const auto text = Heaprec("native --categories " + path);
  CHECK(text.out.find("live: libkeep.so.keep") != std::string::npos);
  CHECK(text.out.find("process: PSS") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "without the JVM's categories there is what the looks at the heap say of the process") {
  RecordingFile file(path, SomeHeader());
  Looks looks(&file);
  looks.AddHeap(kSecond, 90 * kMb);
  looks.AddHeap(2 * kSecond, 95 * kMb);
  file.Flush();
  const auto outcome = Heaprec("native --categories --json " + path);
  const json found = json::parse(outcome.out)["recordings"][0]["snapshots"];
  CHECK(found == json{{{"time_ns", kSecond}, {"rss", 90 * kMb}}, {{"time_ns", 2 * kSecond}, {"rss", 95 * kMb}}});
  const auto text = Heaprec("native --categories " + path);
  CHECK(text.out.find("-XX:NativeMemoryTracking=summary") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "native of a recording without samples shows what the JVM and the kernel say") {
  WriteLooks(path);
  const auto text = Heaprec("native " + path);
  CHECK(text.code == 0);
  CHECK(text.out.find("# native memory was not sampled; record with native=on") == 0);
  CHECK(text.out.find("process: PSS") != std::string::npos);
  CHECK(text.out.find("JVM: Class") != std::string::npos);
  const json document = json::parse(Heaprec("native --json " + path).out);
  CHECK(document == json::parse(Heaprec("native --categories --json " + path).out));
  CHECK(document["schema"] == "heaprec.memory/1");
  // What only samples tell.
  for (const std::string option : {"--min-age 1s", "--by library", "--callers 3"}) {
    const auto refused = Heaprec("native " + option + " " + path);
    CHECK(refused.code == 3);
    CHECK(refused.err.find("record with native=on") != std::string::npos);
    CHECK(refused.out.empty());
  }
}

TEST_CASE_METHOD(Scratch, "a single look has nothing that changed") {
  {
    RecordingFile file(path, SomeHeader());
    Looks(&file).AddCategory(kSecond, "Class", 80 * kMb, 20 * kMb);
    file.End("stop", 2 * kSecond);
  }
  const std::string text = Heaprec("native " + path).out;
  CHECK(text.find("after 1.00 s\n") != std::string::npos);
  CHECK(text.find("change") == std::string::npos);
  INFO(text);
  CHECK(text.find("20.0 MiB  80.0 MiB  Class\n") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "native of a recording with no memory at all says which options to set") {
  {
    RecordingFile file(path, SomeHeader());
    file.Add(At(kSecond));
    file.End("stop", 2 * kSecond);
  }
  const auto outcome = Heaprec("native " + path);
  CHECK(outcome.code == 3);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find(path + ": native memory was not sampled; record with native=on") != std::string::npos);
  CHECK(outcome.err.find("nmt=10s") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "sql and the SQLite export have the looks at native memory in tables of their own") {
  const std::string database = directory / "rec.db";
  WriteLooks(path);
  const std::string of_process = "select time_ns, rss, pss, private from process_memory order by 1";
  const std::string of_jvm = "select time_ns, reserved, committed from jvm_memory where category = 'Class' order by 1";
  REQUIRE(Heaprec("export --format sqlite -o " + database + " " + path).code == 0);
  for (const std::string& query : {of_process, of_jvm}) {
    const auto sql = Heaprec("sql --csv " + path + " \"" + query + "\"");
    REQUIRE(sql.code == 0);
    const auto sqlite = Shell("sqlite3 -csv -header " + database + " \"" + query + "\"");
    CHECK(sql.out == sqlite.out);
    CHECK(Count(sql.out, "\n") == 4);
  }
  const auto row = Shell("sqlite3 " + database + " \"" + of_process + " limit 1\"");
  CHECK(row.out == "0|104857600|83886080|73400320\n");
  CHECK(Shell("sqlite3 " + database + " \"" + of_jvm + " limit 1 offset 2\"").out ==
        "20000000000|838860800|41943040\n");
  // The heap's states are as they were.
  CHECK(Shell("sqlite3 " + database + " 'select distinct kind from states'").out == "periodic\n");
}

TEST_CASE_METHOD(Scratch, "sql does not take what nobody knows for nothing") {
  {
    RecordingFile file(path, SomeHeader());
    Looks(&file).AddProcess(kSecond, 100 * kMb, 0, 0);
    file.End("stop", 2 * kSecond);
  }
  const auto sql = Heaprec("sql --json " + path + " 'select rss, pss, private from process_memory'");
  CHECK(json::parse(sql.out) == json{{{"rss", 100 * kMb}, {"pss", nullptr}, {"private", nullptr}}});
}

TEST_CASE_METHOD(Scratch, "looks at native memory are printed when asked for, and are none at the heap") {
  WriteLooks(path);
  const auto all = json::parse(Heaprec("print --json --kind memory,heap " + path).out)["events"];
  CHECK(all.size() == 15);
  int categories = 0;
  for (const json& event : all) categories += event["kind"] == "memory" && event.contains("category");
  CHECK(categories == 9);
  const json heap = json::parse(Heaprec("summary --json " + path).out)["heap"];
  CHECK(heap["used_max"] == 30 * kMb);
  CHECK(heap["committed_max"] == 64 * kMb);
}

}  // namespace heaprec::tools::testing
