// What the command makes of a recording in which exceptions were thrown.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "format/ring/content_keys.h"
#include "tests/tools/recording_fixture.h"
#include "throttle/interval_reducer.h"
#include "tools/input/recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

format::FileHeader HeaderWithExceptions(const std::string& ring = "") {
  format::FileHeader header = SomeHeader();
  header.exceptions = {.interval_ns = kSecond / 2, .interval_cap = 10, .rate_per_second = 20};
  header.ring_path = ring;
  return header;
}

Event Thrown(uint64_t time_ns, double weight, const std::string& name = "java/io/IOException", int line = 7,
             uint64_t id = 0) {
  Event event{.time_ns = time_ns, .class_name = name, .size = 0, .kind = format::Kind::kException};
  event.weight = weight;
  event.stack = {"p/Thrower.fail:" + std::to_string(line), "p/Main.main:3"};
  event.id = id;
  return event;
}

Event Allocated(uint64_t time_ns, uint64_t id = 0) {
  Event event{.time_ns = time_ns, .id = id};
  return event;
}

// Two allocations, and 120 exceptions of which four samples tell: 10 + 10 + 40 + 40 of 100.
void WriteMixed(const std::string& path, const format::FileHeader& header = HeaderWithExceptions()) {
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 1e-4});
  file.Add(format::Window{format::kWindowStreamBit + 1, 0, 0.1});
  file.Add(Thrown(100 * kMs, 10));
  file.Add(Allocated(200 * kMs));
  file.Add(Thrown(300 * kMs, 10, "java/lang/IllegalStateException"));
  file.Add(Allocated(400 * kMs));
  file.Add(Thrown(600 * kMs, 40, "java/io/IOException", 9));
  file.Add(Thrown(700 * kMs, 40, "java/io/IOException", 9));
  file.Add(format::Interval{.index = 0, .candidates = 2, .bytes = 4800, .buffered = 2, .kept = 2});
  for (const uint64_t index : {0, 1}) {
    file.Add(format::Interval{
        .index = index, .candidates = 60, .buffered = 2, .kept = 2, .stream = format::Stream::kExceptions});
  }
  file.counters(format::Stream::kExceptions).candidates = 120;
  file.End("jvm exit", kSecond);
}

size_t Lines(const std::string& text) { return static_cast<size_t>(std::count(text.begin(), text.end(), '\n')); }

TEST_CASE_METHOD(Scratch, "print shows exceptions among the allocations, without bytes") {
  WriteMixed(path);
  const auto all = Heaprec("print " + path);
  CHECK(all.code == 0);
  CHECK(all.out.starts_with(R"(heaprec.ExceptionSample {
  startTime = 16:40:00.100000 (2026-11-20)
  kind = exception
  thrownClass = java.io.IOException
  weight = 10 throws
  probability = 0.1
  eventThread = "main" (javaThreadId = 1, osThreadId = 1001)
  stackTrace = [
    p.Thrower.fail(Object, int) line: 7
    p.Main.main(Object, int) line: 3
  ]
}

heaprec.AllocationSample {)"));
  CHECK(all.out.ends_with("# 6 samples\n"));
  const auto thrown = Heaprec("print --kind exception --site Thrower.fail " + directory / "rec.bin");
  CHECK(thrown.out.find("AllocationSample") == std::string::npos);
  CHECK(thrown.out.ends_with("# 4 of 6 samples\n"));
  const json document = json::parse(Heaprec("print --json " + directory / "rec.bin").out);
  const json& first = document["events"][0];
  CHECK(first["kind"] == "exception");
  CHECK(first["size"] == 0);
  CHECK(first["weight_bytes"] == 0);
  CHECK(first["weight_objects"] == 10);
  CHECK(first["probability"] == Approx(0.1));
  CHECK(document["losses"]["exceptions"]["candidates"] == 120);
}

TEST_CASE_METHOD(Scratch, "export has exceptions only when asked for them") {
  WriteMixed(path);
  const auto rows = [&](const std::string& options) { return Heaprec("export " + options + " " + path).out; };
  CHECK(Lines(rows("")) == 1 + 2);
  CHECK(rows("").find("exception") == std::string::npos);
  CHECK(Lines(rows("--kind tlab,outside,exception")) == 1 + 6);
  const std::string thrown = rows("--kind exception");
  CHECK(Lines(thrown) == 1 + 4);
  CHECK(thrown.find(",exception,main,java.io.IOException,0,0,10,0.1,p.Main.main:3;p.Thrower.fail:7,,0,12\n") !=
        std::string::npos);
  CHECK(Lines(rows("--format jsonl --kind exception")) == 4);
}

TEST_CASE_METHOD(Scratch, "summary tells of exceptions apart, calibrated to how many were thrown") {
  WriteMixed(path);
  const std::string out = Heaprec("summary --verbose " + path).out;
  for (const char* line :
       {"samples:     2; limit", "counted:     4.69 KiB (4,800 bytes)\n",
        "exceptions:  120 thrown, counted; 4 samples\n", "  busiest:   2 samples in an interval of 1.00 s",
        "  busiest:   2 samples in an interval of 500 ms, limit 10\n"}) {
    INFO(line << "---\n" << out);
    CHECK(out.find(line) != std::string::npos);
  }
  CHECK(out.find("\ntrustworthy: yes\n") != std::string::npos);
  const json document = json::parse(Heaprec("summary --json " + path).out);
  CHECK(document["samples"] == 2);
  CHECK(document["estimates"]["bytes"]["value"] == 4800);
  const json& thrown = document["exceptions"];
  CHECK(thrown["thrown"] == 120);
  CHECK(thrown["estimated"]["value"] == Approx(100));
  CHECK(thrown["calibration"] == Approx(1.2));
  REQUIRE(thrown["classes"].size() == 2);
  CHECK(thrown["classes"][0]["name"] == "java.io.IOException");
  CHECK(thrown["classes"][0]["events"]["value"] == Approx(108));
  CHECK(thrown["classes"][0]["share"]["value"] == Approx(0.9));
  CHECK(thrown["classes"][0]["share"]["low"] < 0.9);
  CHECK(thrown["classes"][1]["events"]["high"] > 12);
  REQUIRE(thrown["sites"].size() == 2);
  CHECK(thrown["sites"][0]["name"] == "p.Thrower.fail:9");
  CHECK(thrown["sites"][0]["samples"] == 2);
  CHECK(Heaprec("top --kind exception " + path).out.find("120 thrown in 1.000 s") != std::string::npos);
  const json top = Parsed("top --kind exception --by class --json " + path);
  CHECK(top["unit"] == "events");
  CHECK(top["tables"][0]["rows"][0]["events"]["value"] == Approx(108));
  CHECK(Heaprec("top --kind exception,tlab " + path).code == 2);
}

TEST_CASE_METHOD(Scratch,
                 "A recording without exceptions does not speak of them, and one that wanted them says why not") {
  format::FileHeader header = SomeHeader();
  for (const char* refused : {"", "the JVM is old"}) {
    header.exceptions_unavailable_reason = refused;
    const std::string path = directory / (std::string("rec") + (*refused != 0 ? "1" : "0"));
    RecordingFile file(path, header);
    file.Add(Allocated(kMs));
    file.End("jvm exit", kSecond);
    const std::string out = Heaprec("summary " + path).out;
    CHECK(out.find("exceptions:  ") == std::string::npos);
    CHECK((out.find("exceptions are not recorded: the JVM is old") != std::string::npos) == (*refused != 0));
    CHECK(out.find("\ntrustworthy: yes\n") != std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "The counters and the cap of each stream are judged on their own") {
  const auto verdict = [&](format::FileHeader header, auto change) {
    Overwrite(path, "");
    RecordingFile file(path, header);
    file.Add(Allocated(kMs));
    file.Add(Thrown(2 * kMs, 500));
    file.Add(Thrown(3 * kMs, 500));
    change(file.counters(format::Stream::kExceptions));
    file.End("jvm exit", kSecond);
    const std::string out = Heaprec("summary " + path).out;
    const size_t at = out.find("\ntrustworthy: ") + 1;
    return out.substr(at, out.find('\n', at) + 1 - at);
  };
  format::FileHeader header = HeaderWithExceptions();
  CHECK(verdict(header, [](format::StreamCounters&) {}) == "trustworthy: yes\n");
  CHECK(verdict(header, [](format::StreamCounters& counters) {
          counters.points += 100;
        }).find("exceptions: recorder counters disagree") != std::string::npos);
  CHECK(verdict(header, [](format::StreamCounters& counters) {
          counters.points += 1;
          counters.lost[1] = 1;
          counters.lost_weight[1] = 1000.0 / 19;  // 5 % of it and 1000
        }).find("exceptions: 5 % of the events were lost") != std::string::npos);
  header.exceptions.interval_cap = 1;
  CHECK(verdict(header, [](format::StreamCounters&) {
        }).find("exceptions: an interval has 2 samples, above its cap of 1") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "Salvage reduces each stream in intervals of its own, with a seed of its own") {
  const format::FileHeader header = HeaderWithExceptions(directory / "rec.ring");
  RecordingFile file(path, header);
  file.Flush();
  RingFile ring(header);
  ring.Define(0, Allocated(0));
  ring.Define(0, Thrown(0, 1));
  std::map<uint64_t, std::vector<throttle::BufferedPoint>> expected;
  for (uint64_t id = 1; id <= 100; ++id) {
    const uint64_t time = id * 10 * kMs;  // two intervals of half a second, and the start of a third
    const Event thrown = Thrown(time, static_cast<double>(1 + id % 7), "java/io/IOException", 7, id);
    ring.Add(static_cast<uint32_t>(id % 2), thrown);
    ring.Add(static_cast<uint32_t>(id % 2), Allocated(time, 1000 + id));
    expected[time / (kSecond / 2)].push_back(
        {.id = id, .weight = thrown.weight, .time_ns = time, .class_key = format::ClassKey(thrown.class_name)});
  }
  ring.header().exceptions.counters.candidates = 400;
  ring.WriteTo(directory / "rec.ring");

  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  std::map<uint64_t, double> thrown;
  size_t allocations = 0;
  while (const auto block = (*recording)->Next()) {
    for (const format::Sample& sample : block->samples) {
      if (sample.stream() == format::Stream::kExceptions) {
        thrown[sample.id] = sample.weight;
      } else {
        ++allocations;
      }
    }
  }
  CHECK(allocations == 100);  // under their cap of 150
  constexpr uint64_t kIdBits = 0xa7a6a5a4a3a2a1a0;
  throttle::IntervalReducer drain({.interval_ns = kSecond / 2, .cap = 10, .recording = kIdBits ^ uint64_t{1} << 63});
  size_t kept = 0;
  for (const auto& [interval, points] : expected) {
    for (const throttle::KeptPoint& point : drain.Reduce(interval, points).kept) {
      const uint64_t id = points[point.index].id;
      INFO("id " << id);
      REQUIRE(thrown.contains(id));
      CHECK(thrown[id] == point.weight);
      ++kept;
    }
  }
  CHECK(kept == thrown.size());
  CHECK(kept == 21);
  const format::StreamCounters& counters = (*recording)->counters(format::Stream::kExceptions);
  CHECK(counters.candidates == 400);
  CHECK(counters.written == 21);
  CHECK(counters.second_stage == 79);
  CHECK((*recording)->counters().written == 100);
}

}  // namespace
}  // namespace heaprec::tools::testing
