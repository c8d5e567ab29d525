// summary from outside: what it says, and whom it trusts.
#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/live_recording.h"
#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

size_t LinesOfTerminal(const std::string& text, size_t columns) {
  size_t lines = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line); ++lines) {
    if (!line.empty()) lines += (line.size() - 1) / columns;
  }
  return lines;
}

// Every stream, collections after which the heap has grown, long names, and losses if `is_lossy`.
void WriteEverything(const std::string& path, bool is_lossy) {
  format::FileHeader header = SomeHeader();
  header.max_tracked_objects = header.max_tracked_blocks = header.max_tracked_mappings = 4096;
  header.exceptions = header.native = header.mapped = {kSecond, 100, 100};
  header.census = format::CensusMode::kAll;
  RecordingFile file(path, header);
  for (uint64_t i = 0; i < 2; ++i) {
    format::ProcessState state;
    state.id = i + 1;
    state.time_ns = (i + 1) * 100 * kMs;
    state.kind = format::ProcessStateKind::kGcEnd;
    state.used = state.committed = (i + 1) << 24;
    state.pauses = 1;
    state.paused_ns = kMs;
    state.cause = "Allocation Failure";
    file.Add(state);
  }
  for (const format::Kind kind :
       {format::Kind::kTlab, format::Kind::kException, format::Kind::kNative, format::Kind::kMapping}) {
    for (uint64_t i = 0; i < 12; ++i) {
      file.Add(Event{
          .time_ns = (i + 3) * 50 * kMs,
          .class_name = "com/example/inventory/warehouse/StockLevel" + std::to_string(i),
          .kind = kind,
          .stack = {"com/example/inventory/warehouse/StockLevels.find" + std::to_string(i) + ":7", "p/Main.main:3"}});
    }
  }
  file.AddWalk(300 * kMs, "main", 1, {{"[B", 10, 240}});
  for (const format::Stream stream : format::kAllStreams) {
    if (!is_lossy) continue;
    file.counters(stream).lost[0] = 5;
    file.counters(stream).lost_weight[0] = 1e6;
    file.counters(stream).stack_mismatches = 1;
  }
  if (!is_lossy) file.End("jvm exit", kSecond);
}

// Pauses that end with 16 and 32 MiB in use. `counted`: the JVM's counts of collections at them. `used`: before them.
// `before`: collections when the recording begins.
void WritePauses(const std::string& path, const std::string& gc, std::array<uint64_t, 2> counted, uint64_t used,
                 uint64_t before) {
  format::FileHeader header = SomeHeader();
  header.gc_name = gc;
  header.max_tracked_objects = 4096;
  RecordingFile file(path, header);
  format::ProcessState state;
  state.id = 1;
  state.kind = format::ProcessStateKind::kSnapshot;
  state.used = 64 << 24;
  state.collections = before;
  file.Add(state);
  for (uint64_t i = 0; i < counted.size(); ++i) {
    state = {};
    state.id = 2 * i + 2;
    state.time_ns = (i + 1) * 100 * kMs - kMs;
    state.kind = format::ProcessStateKind::kGcBegin;
    state.used = used;
    file.Add(state);
    ++state.id;
    state.time_ns += kMs;
    state.kind = format::ProcessStateKind::kGcEnd;
    state.used = (i + 1) << 24;
    state.pauses = 1;
    state.paused_ns = kMs;
    state.collections = counted[i];
    file.Add(state);
  }
  file.Add(At(300 * kMs));
  file.End("jvm exit", kSecond);
}

// Boxes in four methods, maps that stay empty, and as much that no rule finds.
void WriteWasteful(const std::string& path) {
  const auto sample = [](uint64_t i) {
    Event event{.time_ns = (i + 1) * kMs,
                .weight = 10'000,
                .stack = {"com/example/inventory/warehouse/StockLevels.find:7", "p/Main.main:3"}};
    const std::string frame = "com/example/inventory/warehouse/StockLevels.count" + std::to_string(i % 4) + ":12";
    if (i % 3 == 0) event.class_name = "java/lang/Long", event.stack = {"java/lang/Long.valueOf:3", frame};
    if (i % 3 == 1) event.class_name = "java/util/HashMap", event.size = 48;
    return event;
  };
  WriteSamples(path, 300, sample, kSecond);
}

TEST_CASE_METHOD(Scratch, "summary lists what the rules of advice find, the largest first") {
  WriteWasteful(path);
  const json advice = json::parse(Heaprec("summary --json " + path).out)["advice"];
  REQUIRE(advice.size() == 5);
  CHECK(advice[0]["rule"] == "empty-collection");
  CHECK(advice[0]["frame"] == "com.example.inventory.warehouse.StockLevels.find");
  CHECK(advice[0]["line"] == 7);
  CHECK(advice[0]["class"] == "java.util.HashMap");
  CHECK(advice[0]["share"]["value"] == Approx(1.0 / 3));
  CHECK(advice[0]["bytes"]["low"] < 1'000'000);
  CHECK(advice[0]["bytes"]["high"] > 1'000'000);
  CHECK(advice[0]["text"] == "Create it with its first element.");
  CHECK(advice[4]["rule"] == "boxing");
  const std::string text = Shell("COLUMNS=80 $HEAPREC summary " + path).out;
  INFO(text);
  for (const char* part : {"  frame to change\n", "  Create it with its first element.\n", "\n... 3 more; "})
    CHECK(text.find(part) != std::string::npos);
  // A part of a recording has none.
  CHECK(json::parse(Heaprec("summary --json --from 0s " + path).out)["advice"].empty());
  WriteSmall(directory / "small.hrec");
  CHECK(json::parse(Heaprec("summary --json " + (directory / "small.hrec")).out)["advice"].empty());
}

TEST_CASE("A pause that frees nothing is no collection after which the heap has grown") {
  const Directory directory;
  const std::string path = directory / "rec.hrec";
  const auto grows = [&path](const char* gc, std::array<uint64_t, 2> counted, uint64_t used = 3 << 24,
                             uint64_t before = 0) {
    Overwrite(path, "");
    WritePauses(path, gc, counted, used, before);
    return Heaprec("summary " + path).out.find("The heap after a collection grew") != std::string::npos;
  };
  for (const char* const gc : {"G1", "Serial", "Parallel", "unknown"}) {
    CHECK(grows(gc, {1, 2}));
    CHECK(grows(gc, {0, 0}));  // the count is not known
  }
  CHECK_FALSE(grows("G1", {1, 2}, 2 << 24));  // the second is a cleanup
  CHECK(grows("G1", {6, 7}, 3 << 24, 5));     // attached to a running JVM
  CHECK_FALSE(grows("G1", {5, 6}, 3 << 24, 5));
  CHECK_FALSE(grows("G1", {1, 1}));  // a remark
  CHECK(json::parse(Heaprec("summary --json " + path).out)["heap"]["used_after_last"] == 1 << 24);
  for (const char* const gc : {"Z", "Shenandoah"}) {
    INFO(gc);
    CHECK_FALSE(grows(gc, {1, 2}));
    CHECK(Heaprec("summary " + path).out.find("heaprec leaks") == std::string::npos);
    const json heap = json::parse(Heaprec("summary --json " + path).out)["heap"];
    CHECK(heap["pauses"] == 2);
    CHECK(heap["used_after_first"].is_null());
    CHECK(heap["used_after_last"].is_null());
    CHECK(heap["used_after_max"].is_null());
  }
}

TEST_CASE_METHOD(Scratch,
                 "summary begins with the headline and is a screen of 25 lines of 80 columns, whatever was recorded") {
  const std::string golden = "tests/golden/";
  WriteEverything(directory / "all.hrec", false);
  WriteEverything(directory / "lossy.hrec", true);
  std::string damaged = Contents(directory / "all.hrec");
  for (size_t at = damaged.size() / 4; at < damaged.size(); at += damaged.size() / 4)
    damaged.replace(at, 600, std::string(600, 'x'));
  Overwrite(directory / "damaged.hrec", damaged);
  WriteWasteful(directory / "wasteful.hrec");
  for (const std::string& path : {directory / "all.hrec", directory / "lossy.hrec", directory / "damaged.hrec",
                                  directory / "wasteful.hrec", golden + "javac.hrec", golden + "leak.hrec"}) {
    const std::string out = Shell("COLUMNS=80 $HEAPREC summary " + path).out;
    INFO(out);
    CHECK(LinesOfTerminal(out, 80) <= 25);
    CHECK(out.substr(0, out.find('\n')).find(" allocated in ") != std::string::npos);
    CHECK(out.find("\ntrustworthy: ") < out.find("\nJVM:"));
    CHECK(LinesOfTerminal(Shell("COLUMNS=80 $HEAPREC summary --verbose " + path).out, 80) > 25);
  }
  const std::string all = Shell("COLUMNS=80 $HEAPREC summary " + directory / "all.hrec").out;
  INFO(all);
  for (const char* heading :
       {"\nheap:", "\nlive at end:", "\ncensus:", "\nexceptions:", "\nmalloc:", "\nmmap:", "  class\n"})
    CHECK(all.find(heading) != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "summary tells it all and ends with trustworthy: yes") {
  WriteSmall(path);
  const Outcome outcome = Heaprec("summary " + path);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.starts_with("2.87 MiB allocated in 3.000 s, "));
  CHECK(outcome.out.find("\ntrustworthy: yes\n") != std::string::npos);
  CHECK(std::ranges::count(outcome.out, '\n') <= 25);
  const std::string all = Heaprec("summary --verbose " + path).out;
  for (const char* line : {
           "JVM:         OpenJDK 64-Bit Server VM 17.0.21+9, G1, PID 0\n",
           ", 2026-11-20 16:40:00 to 16:40:03 UTC, jvm exit\n",
           "agent:       0.1.0, options: file=rec.bin,rate=150\n",
           "source:      hooks (symbols found)\n",
           "samples:     3 kept of 4 (rate limit; sums stay unbiased); limit 150 samples/s, 0.7 % of it used\n",
           "  tlab:      2 samples, representing 4.69 KiB (0.53-16.8) in 200 (22.8-718) objects\n",
           "counted:     2.87 MiB (3,004,800 bytes)\n",
           "estimated:   2.87 MiB (2.86-2.87) from the samples alone, +0.0 % off\n",
           "  busiest:   1 sample in an interval of 1.00 s, limit 150\n",
           "  intervals: 3, 1 of them reduced to the limit; 1 window\n",
           "  points:    4: 4 committed, 0 thinned at delivery; 1 dropped in the second stage\n",
           "  lost:      0\n",
       }) {
    INFO(line << "---\n" << all);
    CHECK(all.find(line) != std::string::npos);
  }
  const json document = json::parse(Heaprec("summary --json " + path).out);
  CHECK(document["trustworthy"] == true);
  CHECK(document["samples"] == 3);
  CHECK(document["kinds"]["tlab"]["samples"] == 2);
  CHECK(document["kinds"]["tlab"]["bytes"]["value"] == Approx(4800));
  CHECK(document["kinds"]["tlab"]["objects"]["high"] > 200);
  CHECK(document["kinds"]["outside"]["share"]["low"] > 0.99);
  CHECK(document["estimates"]["calibration"] == Approx(1));
  CHECK(document["estimates"]["bytes"]["value"] == Approx(3004800));
  CHECK(document["estimates"]["objects"]["value"] == Approx(201));
  CHECK(document["allocated_bytes"] == 3004800);
}

TEST_CASE_METHOD(Scratch, "summary tells what was allocated by class and by site, those of most bytes first") {
  WriteSmall(path);
  const json all = json::parse(Heaprec("summary --json " + path).out);
  REQUIRE(all["classes"].size() == 3);
  CHECK(all["class_count"] == 3);
  CHECK(all["classes"][0]["name"] == "byte[]");
  CHECK(all["classes"][1]["name"] == "java.lang.String");
  CHECK(all["classes"][2]["name"] == "java.util.HashMap$Node");
  REQUIRE(all["sites"].size() == 3);
  CHECK(all["sites"][0]["name"] == "p.Leaf.allocate");
  CHECK(all["sites"][1]["name"] == "[unknown]");
  const json& resize = all["sites"][2];
  CHECK(resize["name"] == "java.util.HashMap.resize");
  CHECK(resize["points"] == 1);
  CHECK(resize["bytes"]["value"] == Approx(2400));
  CHECK(resize["objects"]["value"] == Approx(100));
  CHECK(resize["share"]["value"] == Approx(2400.0 / 3004800));
  CHECK(resize["mean_size"]["value"] == Approx(24));
  for (const char* figure : {"bytes", "objects", "share"}) {
    INFO(figure << ": " << resize[figure]);
    CHECK(resize[figure]["low"] < resize[figure]["value"]);
    CHECK(resize[figure]["high"] > resize[figure]["value"]);
    CHECK(all["detection_limit"][figure]["value"] == 0);
    CHECK(all["detection_limit"][figure]["high"] > 0);
  }
  const json first = json::parse(Heaprec("summary --limit 1 --json " + path).out);
  CHECK(first["class_count"] == 3);
  CHECK(first["classes"] == json::array({all["classes"][0]}));
  CHECK(first["sites"] == json::array({all["sites"][0]}));
  const std::string text = Heaprec("summary --limit 2 " + path).out;
  INFO(text);
  CHECK(text.find("... 1 more; --limit 0 shows all\n") != std::string::npos);
  CHECK(text.find("  p.Leaf.allocate\n") != std::string::npos);
  CHECK(text.find("java.util.HashMap") == std::string::npos);
  CHECK(Heaprec("summary --limit 0 " + path).out.find("java.util.HashMap$Node") != std::string::npos);
}

TEST_CASE("Amounts per second are relative to the selected time") {
  const std::string of = " --json --class 'byte[]' --from 10s --to 12s tests/golden/leak.hrec";
  const json summary = json::parse(Heaprec("summary" + of).out), top = json::parse(Heaprec("top --by class" + of).out);
  CHECK(summary["classes"][0]["bytes_per_second"]["value"].get<double>() ==
        Approx(top["tables"][0]["rows"][0]["bytes_per_second"]["value"].get<double>()));
}

TEST_CASE_METHOD(Scratch, "summary does not say that nothing matches a kind which it does not break down") {
  WriteSmall(path);
  for (const std::string kind : {"malloc", "mmap", "exception"}) {
    const Outcome outcome = Heaprec("summary --kind tlab --kind " + kind + " " + path);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find(kind) != std::string::npos);
  }
  CHECK(Heaprec("summary --help").out.find("heaprec top --kind") != std::string::npos);
  CHECK(Heaprec("summary --kind tlab --kind outside " + path).code == 0);
}

TEST_CASE_METHOD(Scratch, "a site of summary is that of top: not a frame that only allocates for its caller") {
  RecordingFile file(path, SomeHeader());
  for (const char* leaf : {"java/util/Arrays.copyOf:10", "p/Buffer.grow:20"}) {
    Event event = At(kMs);
    event.stack = {leaf, "p/Buffer.grow:30", "p/A.main"};
    file.Add(event);
  }
  file.End("jvm exit", kSecond);
  const json summary = json::parse(Heaprec("summary --json " + path).out);
  REQUIRE(summary["sites"].size() == 1);
  CHECK(summary["sites"][0]["name"] == "p.Buffer.grow");
  CHECK(summary["sites"][0]["points"] == 2);
  CHECK(summary["site_count"] == 1);
  // And that of fleet.
  Shell("mkdir " + directory / "hosts" + " && cp " + path + " " + directory / "hosts/rec.hrec");
  const json fleet = json::parse(Heaprec("fleet top --by site --json --from-dir " + directory / "hosts").out);
  REQUIRE(fleet["rows"].size() == 1);
  CHECK(fleet["rows"][0]["name"] == "p.Buffer.grow");
}

// 20 samples of which each stands for itself, as sure as can be, and 1,000 of 20,000 bytes counted too many.
TEST_CASE_METHOD(Scratch,
                 "in a copy the last interval may have counted what the next one has, in a whole recording not") {
  for (const std::string reason : {"dump", "rotated", "jvm exit"}) {
    const std::string path = directory / (reason + ".bin");
    RecordingFile file(path, SomeHeader());
    for (uint64_t i = 0; i < 20; ++i) {
      file.Add(Event{.time_ns = i * kSecond / 4, .size = 1000, .weight = 1000});
    }
    for (uint64_t i = 0; i < 5; ++i) file.Add(format::Interval{i, 4, i == 4 ? 5'000u : 4'000u, 4, 4, 0});
    file.counters().candidates = 20;
    file.End(reason, 5 * kSecond);
    const std::string out = Heaprec("summary " + path).out;
    INFO(out);
    CHECK((out.find("trustworthy: yes") != std::string::npos) == (reason != "jvm exit"));
  }
}

TEST_CASE_METHOD(Scratch, "summary says why a recording cannot be trusted") {
  format::FileHeader header = SomeHeader();
  const auto verdict = [&](auto change) {
    RecordingFile file(path + "x", header);
    file.Add(At(kMs));
    file.Add(At(2 * kMs));
    change(file);
    file.End("jvm exit", kSecond);
    Overwrite(path, Contents(path + "x"));
    Overwrite(path + "x", "");
    const std::string out = Heaprec("summary " + path).out;
    const size_t at = out.find("\ntrustworthy: ") + 1;
    return out.substr(at, out.find('\n', at) + 1 - at);
  };
  const auto nothing = [](RecordingFile&) {};
  CHECK(verdict(nothing) == "trustworthy: yes\n");
  CHECK(verdict([](RecordingFile& file) {
          file.counters().lost[1] = 1;
          file.counters().points += 1;
          file.counters().lost_weight[1] = 100;
        }).find("of the bytes were lost") != std::string::npos);
  // A loss is an estimate: this one is more than what was counted.
  CHECK(verdict([](RecordingFile& file) {
          file.counters().lost[1] = 100;
          file.counters().points += 100;
          file.counters().lost_weight[1] = 105'000;
          file.counters().candidate_bytes = 100'000;
        }) == "trustworthy: no, because 96 % of the bytes were lost\n");
  CHECK(Heaprec("doctor " + path).out.find("95.6 % of the bytes") != std::string::npos);
  CHECK(verdict([](RecordingFile& file) {
          file.counters().lost[1] = 1;
          file.counters().points += 1;
          file.counters().lost_weight[1] = 1;
        }) == "trustworthy: yes\n");
  // No stack: the point is there. No clock: no points, but allocations that nobody counted.
  CHECK(verdict([](RecordingFile& file) { file.counters().lost[4] = 50; }) == "trustworthy: yes\n");
  CHECK(verdict([](RecordingFile& file) { file.counters().lost[3] = 50; }).find("were not counted") !=
        std::string::npos);
  CHECK(verdict([](RecordingFile& file) { file.counters().points += 100; }).find("counters disagree") !=
        std::string::npos);
  CHECK(verdict([](RecordingFile& file) { file.counters().written += 1; }).find("written, but the recording has 2") !=
        std::string::npos);
  // Two samples of 2,400 B: 4,800 +- 3,400, and few samples may be 25 of themselves beyond five of these.
  CHECK(verdict([](RecordingFile& file) {
          file.Add(format::Interval{0, 10, 70'000, 2, 2, 0});
        }) == "trustworthy: yes\n");
  CHECK(verdict([](RecordingFile& file) {
          file.Add(format::Interval{0, 10, 90'000, 2, 2, 0});
        }).find("90,000 bytes were counted, but samples and losses represent 4,800") != std::string::npos);
  header.interval_cap = 1;
  CHECK(verdict(nothing).find("above its cap") != std::string::npos);
  header.interval_cap = 150;
  header.source = "jvmti";
  const std::string uncounted = "bytes are known from the samples only";
  CHECK(verdict(nothing) == "trustworthy: yes\n");
  CHECK(Heaprec("summary " + path).out.find(uncounted) == std::string::npos);
  CHECK(verdict([](RecordingFile& file) { file.counters().candidate_bytes = 0; }) == "trustworthy: yes\n");
  CHECK(Heaprec("summary " + path).out.find(uncounted) != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "The headline is the largest leak of all that was tracked, and next shows it") {
  const auto write = [&](const std::string& name, bool leaks_natively) {
    format::FileHeader header = LiveHeader();
    header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
    header.max_tracked_blocks = 4096;
    RecordingFile file(directory / name, header);
    file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-4});
    for (uint64_t i = 0; leaks_natively && i < 200; ++i) {
      Event event = LeakAt(20 * kSecond + i * 200 * kMs);
      event.kind = format::Kind::kNative;
      event.class_name = "malloc";
      event.stack = {"java/nio/DirectByteBuffer.<init>:1", "p/Buffers.take:7"};
      event.id = (uint64_t{1} << 61) + i;
      event.tracking_index = 1;
      file.Add(event);
    }
    file.Add(At(kSecond));
    for (uint64_t i = 0; i < 30; ++i) file.Add(Collection(i));
    file.End("jvm exit", 60 * kSecond);
    return directory / name;
  };
  const std::string native = write("native.hrec", true), heap = directory / "heap.hrec";
  const json document = json::parse(Heaprec("summary --json " + native).out);
  INFO(document["headlines"].dump(1) << document["next"]);
  CHECK(document["headlines"]["leak"].get<std::string>().starts_with("Leak: malloc blocks of "));
  CHECK(document["headlines"]["leak"].get<std::string>().find(" since 20.") != std::string::npos);
  CHECK(document["next"]["command"] == "heaprec leaks --kind malloc " + native);
  const json leaks = json::parse(Heaprec("leaks --kind malloc --json " + native).out);
  CHECK(leaks["rows"][0]["since_seconds"]["low"] < 20.1);
  CHECK(leaks["rows"][0]["since_seconds"]["high"] >= 20);
  CHECK(leaks["rows"][0]["since_seconds"]["high"] < 22);
  CHECK(json::parse(Heaprec("summary --json " + write("none.hrec", false)).out)["headlines"].count("leak") == 0);

  WriteLeak(heap);
  const json of_heap = json::parse(Heaprec("summary --json " + heap).out);
  INFO(of_heap["headlines"].dump(1));
  CHECK(of_heap["headlines"]["leak"].get<std::string>().starts_with("Leak: objects of Leak.add grow by 48.8 KiB/s"));
  CHECK(of_heap["next"]["command"] == "heaprec leaks " + heap);
}

TEST_CASE_METHOD(Scratch, "OutOfMemoryErrors are the first headline") {
  format::FileHeader header = SomeHeader();
  header.exceptions = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  RecordingFile file(path, header);
  file.Add(At(100 * kMs));
  for (uint64_t i = 0; i < 3; ++i) {
    file.Add(Event{.time_ns = (200 + i) * kMs,
                   .class_name = "java/lang/OutOfMemoryError",
                   .weight = 1,
                   .kind = format::Kind::kException});
  }
  file.End("jvm exit", kSecond);
  const std::string out = Heaprec("summary " + path).out;
  INFO(out);
  const size_t oom = out.find("\nOutOfMemoryError was thrown 3 times.\n");
  REQUIRE(oom != std::string::npos);
  CHECK(oom < out.find("allocates most"));
  CHECK(out.find("next: heaprec tree --callers --kind exception ") != std::string::npos);
}

}  // namespace
}  // namespace heaprec::tools::testing
