// What is alive in the exports: --live in place of all events, --at any time.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/live_recording.h"

namespace heaprec::tools::testing {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;
using nlohmann::json;

constexpr uint64_t kEpochNs = 1'795'192'800'000'000'000;  // of SomeHeader

Event Array(uint64_t id, uint64_t time_ns) {
  Event event{.time_ns = time_ns,
              .class_name = "[B",
              .size = 1000,
              .weight = 10'000,
              .thread = id % 2 == 0 ? "even" : "odd",
              .stack = {"p/Leak.add:7", "p/Main.main:" + std::to_string(id)},
              .id = id};
  return event;
}

// 8 s: one array a second, of which the first dies, the second is released; a survivor of 3 s before; the chunk
// changes at 4 s.
void WriteLifetimes(const std::string& path) {
  format::FileHeader header = LiveHeader();
  header.start.part = 1;
  header.start.begin_ns = 10 * kSecond;
  header.start.next_interval[format::Stream::kAllocations] = 10;
  RecordingFile file(path, header);
  Event old = Array(1, 7 * kSecond);
  old.class_name = "p/Old";
  file.AddCheckpointSample(old, 30'000, 3);
  file.Add(Collection(5));
  for (uint64_t i = 2; i <= 4; ++i) file.Add(Array(i, (8 + i) * kSecond));
  file.Add(LifecycleEvent{2, 12 * kSecond + kMs, LifecycleKind::kDied, 5, 0});
  file.Add(Collection(6));
  file.Flush();
  for (uint64_t i = 5; i <= 7; ++i) file.Add(Array(i, (8 + i) * kSecond));
  file.Add(LifecycleEvent{3, 14 * kSecond + kMs, LifecycleKind::kEvicted, 0, 25'000});
  file.Add(Collection(7));
  file.End("jvm exit", 18 * kSecond);
}

std::vector<json> RowsOf(const std::string& arguments) {
  const Outcome outcome = Heaprec("export --format jsonl " + arguments);
  INFO(arguments << "\n" << outcome.err);
  REQUIRE(outcome.code == 0);
  std::vector<json> rows;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

}  // namespace

TEST_CASE_METHOD(
    Scratch,
    "export --live has a row for each sample that is alive, with what it stands for, its age and its collections") {
  WriteLifetimes(path);
  const auto rows = RowsOf("--live " + path);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["class"] == "p.Old");
  CHECK(rows[0]["time_ns"] == kEpochNs + 7 * kSecond);
  CHECK(rows[0]["weight_bytes"] == 30'000);
  CHECK(rows[0]["weight_objects"] == 30);
  CHECK(rows[0]["age_seconds"] == 11);
  CHECK(rows[0]["survived"] == 4);
  CHECK(rows[0]["thread"] == "odd");
  CHECK(rows[0]["stack"] == "p.Main.main:1;p.Leak.add:7");
  // Born before the release: it stands for that, too.
  CHECK(rows[1]["stack"] == "p.Main.main:4;p.Leak.add:7");
  CHECK(rows[1]["weight_bytes"] == 25'000);
  CHECK(rows[1]["age_seconds"] == 6);
  CHECK(rows[1]["survived"] == 1);
  CHECK(rows[4]["weight_bytes"] == 10'000);
  CHECK(rows[4]["kind"] == "tlab");
  double bytes = 0;
  for (const json& row : rows) bytes += row["weight_bytes"].get<double>();
  CHECK(json::parse(Heaprec("live --json " + path).out)["live"]["bytes"]["value"] == Approx(bytes));
}

TEST_CASE_METHOD(Scratch, "export --live --at shows any time, and filters choose objects") {
  WriteLifetimes(path);
  const auto early = RowsOf("--live --at 11500ms " + path);
  REQUIRE(early.size() == 3);
  CHECK(early[1]["stack"] == "p.Main.main:2;p.Leak.add:7");
  CHECK(early[1]["weight_bytes"] == 10'000);
  CHECK(early[1]["age_seconds"] == 1.5);
  CHECK(RowsOf("--live --at 2026-11-20T16:40:11.5Z " + path) == early);
  CHECK(RowsOf("--live --at 5s " + path).empty());
  CHECK(RowsOf("--live --at 1h " + path) == RowsOf("--live " + path));
  CHECK(RowsOf("--live --class 'byte[]' " + path).size() == 4);
  CHECK(RowsOf("--live --thread even " + path).size() == 2);
  CHECK(RowsOf(path).size() == 6);
  CHECK_FALSE(RowsOf(path)[0].contains("age_seconds"));
}

TEST_CASE_METHOD(Scratch, "CSV has the columns, and stacks sum up in the formats of flame graphs") {
  WriteLifetimes(path);
  const Outcome csv = Heaprec("export --live " + path);
  CHECK(
      csv.out.starts_with("time_ns,kind,thread,class,size,weight_bytes,weight_objects,probability,stack,labels,"
                          "age_seconds,survived\n"));
  CHECK(csv.out.find(",10000,10,0.1,p.Main.main:7;p.Leak.add:7,,3,0\n") != std::string::npos);
  const Outcome several = Heaprec("export --live " + path + " " + path);
  CHECK(several.out.find(",age_seconds,survived,recording\n") != std::string::npos);
  CHECK(Count(several.out, "p.Old") == 2);
  CHECK(Heaprec("export --live --format collapsed " + path).out == "p.Main.main;p.Leak.add 115000\n");
  CHECK(Heaprec("export --live --format collapsed --weights objects " + path).out == "p.Main.main;p.Leak.add 115\n");
  const json scope = json::parse(Heaprec("export --live --format speedscope " + path).out);
  CHECK(scope["profiles"][0]["endValue"] == 115'000);
  CHECK(scope["profiles"][0]["name"] == "bytes live");
  CHECK(scope["profiles"][1]["name"] == "objects live");
}

// Ten blocks of a site of which the first three are freed, a mapping that is cut by half, and an object, which is live.
void WriteNative(const std::string& path) {
  format::FileHeader header = LiveHeader();
  header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 123};
  header.max_tracked_blocks = 4096;
  header.mapped = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 456};
  header.max_tracked_mappings = 4096;
  constexpr uint64_t kBlock = uint64_t{1} << 61, kMap = uint64_t{1} << 60;
  RecordingFile file(path, header);
  file.Add(Array(1, kSecond));
  for (uint64_t i = 0; i < 11; ++i) {
    Event event = At((1 + i) * kSecond / 2);
    const bool is_map = i == 10;
    event.kind = is_map ? format::Kind::kMapping : format::Kind::kNative;
    event.class_name = is_map ? "mmap" : "malloc";
    event.size = 1000;
    event.weight = is_map ? 1000 : 5000;
    event.stack = {is_map ? "libc.so.map" : "libleak.so.keep", "p/Main.main:3"};
    event.types = {format::FrameType::kNative, format::FrameType::kCompiled};
    event.id = (is_map ? kMap : kBlock) + i;
    event.tracking_index = 1;
    file.Add(event);
  }
  const auto gone = [&](uint64_t id, format::Stream stream, uint64_t left) {
    file.Add(LifecycleEvent{.sample = id,
                            .time_ns = 6 * kSecond,
                            .kind = left > 0 ? LifecycleKind::kShrunk : LifecycleKind::kDied,
                            .stream = stream,
                            .left = left});
  };
  for (uint64_t i = 0; i < 3; ++i) gone(kBlock + i, format::Stream::kNative, 0);
  gone(kMap + 10, format::Stream::kMapping, 500);
  file.End("jvm exit", 7 * kSecond);
}

TEST_CASE_METHOD(Scratch,
                 "export --live --kind malloc and mmap have the live native memory in every format of profiles") {
  WriteNative(path);
  CHECK(Heaprec("export --live --format collapsed " + path).out == "p.Main.main;p.Leak.add 10000\n");
  const std::string malloc = "export --live --kind malloc ", both = "export --live --kind malloc,mmap ";
  CHECK(Heaprec(malloc + "--format collapsed " + path).out == "p.Main.main;libleak.so.keep 35000\n");
  CHECK(Heaprec(malloc + "--at 3s --format collapsed " + path).out == "p.Main.main;libleak.so.keep 30000\n");
  CHECK(Heaprec("export --live --kind mmap --format collapsed " + path).out == "p.Main.main;libc.so.map 500\n");
  CHECK(Heaprec(both + "--format collapsed " + path).out ==
        "p.Main.main;libc.so.map 500\np.Main.main;libleak.so.keep 35000\n");
  const json scope = json::parse(Heaprec(malloc + "--format speedscope " + path).out);
  CHECK(scope["profiles"][0]["endValue"] == 35'000);
  CHECK(scope["profiles"][1]["name"] == "blocks live");
  CHECK(scope["profiles"][1]["endValue"] == 35);
  const auto rows = RowsOf("--live --kind malloc " + path);
  REQUIRE(rows.size() == 7);
  CHECK(rows[0]["weight_bytes"] == 5000);
  CHECK(rows[0]["survived"] == json());
  // Texts of a protocol buffer stand in it as they are.
  const std::string profile = directory / "live.pb.gz";
  REQUIRE(Heaprec(malloc + "-o " + profile + " " + path).code == 0);
  const std::string in_pprof = Shell("zcat " + profile).out;
  for (const char* text : {"inuse_space", "inuse_objects", "libleak.so.keep", "malloc: source agent, 123 samples/s"}) {
    INFO(text);
    CHECK(in_pprof.find(text) != std::string::npos);
  }
  for (const char* text : {"alloc_space", "500 samples/s", "allocations:"}) {
    INFO(text);
    CHECK(in_pprof.find(text) == std::string::npos);
  }
  REQUIRE(Heaprec(both + "-o " + directory / "live.otlp" + " " + path).code == 0);
  const std::string in_otlp = Contents(directory / "live.otlp");
  CHECK(in_otlp.find("inuse_space") != std::string::npos);
  CHECK(in_otlp.find("libc.so.map") != std::string::npos);
  CHECK(in_otlp.find("p.Leak.add") == std::string::npos);
  // Without --live a profile has both, of the kind that was asked for.
  REQUIRE(Heaprec("export -f --kind malloc -o " + profile + " " + path).code == 0);
  const std::string all = Shell("zcat " + profile).out;
  CHECK(all.find("alloc_space") != std::string::npos);
  CHECK(all.find("inuse_space") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "What cannot be exported so is refused") {
  const std::string small = directory / "small.bin";
  WriteLifetimes(path);
  WriteSmall(small);
  const Outcome without = Heaprec("export --live " + small);
  CHECK(without.code == 3);
  CHECK(without.err.find("record a JVM without live=off") != std::string::npos);
  const Outcome no_native = Heaprec("export --live --kind malloc " + path);
  CHECK(no_native.code == 3);
  CHECK(no_native.err.find("native memory was not sampled") != std::string::npos);
  for (const char* ending : {"svg", "html", "json"}) {
    const Outcome other = Heaprec("export -o " + directory / "x." + ending + " " + path);
    INFO(ending << ": " << other.err);
    CHECK(other.code == 2);
    CHECK(other.err.find("name one with --format") != std::string::npos);
  }
  for (const char* wrong :
       {"--live --limit 3 ", "--live --format sqlite -o - ", "--at 3s ", "--live --at yesterday "}) {
    INFO(wrong);
    CHECK(Heaprec(std::string("export ") + wrong + path).code == 2);
  }
  CHECK(Heaprec("export --at 3s " + path).err.find("--at is for --format pprof, jfr, otlp, and for --live") !=
        std::string::npos);
  CHECK(Heaprec("export --live --format jfr -o " + directory / "x.jfr " + path)
            .err.find("--live is for --format csv, jsonl, collapsed, pprof, otlp, speedscope") != std::string::npos);
  for (const char* kinds : {"malloc", "mmap", "tlab,malloc"}) {
    INFO(kinds);
    const Outcome native = Heaprec(std::string("export --kind ") + kinds + " -o " + directory / "x.jfr " + path);
    CHECK(native.code == 2);
    CHECK(native.err.find("--kind malloc or mmap is for --format csv, jsonl, collapsed, pprof, otlp, speedscope, "
                          "sqlite\n") != std::string::npos);
  }
}

}  // namespace heaprec::tools::testing
