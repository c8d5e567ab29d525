// Every command that shows estimates says of a recording that lost most of its points that they should not be believed.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using format::Stream;
using nlohmann::json;

const std::string kLine = "trustworthy: no, because ";
const std::string kWhy = kLine + "native memory: 90 % of the bytes were lost";

TEST_CASE_METHOD(Scratch,
                 "The JVM's own thresholds before JDK 25 are named, and not trusted on JDK 11 and with Shenandoah") {
  int files = 0;
  const auto summary = [&](const char* version, const char* gc, bool is_biased) {
    format::FileHeader header = SomeHeader();
    header.source = "jvmti";
    if (is_biased) header.Note(format::SourceFact::kBiasedOutsideTlabs);
    header.jvm_version = version, header.gc_name = gc;
    const std::string path = directory / std::to_string(++files);
    WriteSmall(path, header);
    return json::parse(Heaprec("summary --json " + path).out);
  };
  CHECK(summary("11.0.32", "G1", true)["reasons"].dump().find("outside TLABs") != std::string::npos);
  CHECK(summary("17.0.21", "Shenandoah", true)["reasons"].dump().find("outside TLABs") != std::string::npos);
  CHECK(summary("17.0.21", "G1", true)["reasons"].dump().find("outside TLABs") == std::string::npos);
  CHECK(summary("17.0.21", "G1", true).dump().find("before JDK 25") != std::string::npos);
  CHECK(summary("25.0.5", "Shenandoah", false).dump().find("before JDK 25") == std::string::npos);
}

// Ten seconds of heap and of native memory, 100 samples each; of `lossy` nine points in ten found the ring full.
void WriteLossy(const std::string& path, Stream lossy) {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  header.max_tracked_blocks = 16384;
  header.max_tracked_objects = 1024;
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 1e-4});
  file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-5});
  for (uint64_t i = 0; i < 100; ++i) {
    Event event{.time_ns = i * 100 * kMs, .weight = 100'000, .tracking_index = 1};
    file.Add(event);
    event.kind = format::Kind::kNative;
    event.class_name = "malloc";
    event.stack = {"libleak.so.keep"};
    event.types = {format::FrameType::kNative};
    event.id = (uint64_t{1} << 61) + i;
    file.Add(event);
  }
  format::StreamCounters& counters = file.counters(lossy);
  const auto full = static_cast<size_t>(format::LossReason::kRingFull);
  counters.lost[full] = 900;
  counters.lost_weight[full] = 90e6;
  counters.points += 900;
  counters.candidate_bytes += 90'000'000;
  format::ProcessState look;
  look.id = 1;
  look.time_ns = kSecond;
  look.kind = format::ProcessStateKind::kMemory;
  look.rss = 1 << 20;
  file.Add(look);
  file.End("stop", 10 * kSecond);
}

}  // namespace

TEST_CASE_METHOD(Scratch, "Texts of estimates end with why they should not be believed") {
  WriteLossy(path, Stream::kNative);
  CHECK(Heaprec("summary " + path).out.find("\n" + kWhy + "\n") != std::string::npos);
  for (const std::string command :
       {"top", "tree", "histogram", "timeline", "live", "live --lifetimes", "live --garbage recent", "leaks"}) {
    const Outcome outcome = Heaprec(command + " --kind malloc " + path);
    CAPTURE(command, outcome.out, outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out.ends_with("\n# " + kWhy + "\n"));
    CHECK(outcome.err.empty());
  }
  const std::string both = Heaprec("diff --kind malloc " + path + " " + path).out;
  CHECK(Count(both, "\n# " + kWhy + "\n") == 2);
  for (const std::string options : {"", "--min-age 1s", "--callers 1", "--by library", "--categories"}) {
    const Outcome outcome = Heaprec("native " + options + " " + path);
    CAPTURE(options, outcome.out);
    CHECK(Count(outcome.out, "\n# " + kWhy + "\n") == 1);
  }
}

TEST_CASE_METHOD(Scratch, "Few bytes and no sample are chance, many are not") {
  for (const uint64_t bytes : {488U, 4'000'000U}) {
    RecordingFile file(path, SomeHeader());
    file.Add(format::Window{1, 0, 1e-5});
    file.Add(format::Interval{.index = 0, .bytes = bytes});
    file.counters(Stream::kAllocations).candidate_bytes = bytes;
    file.End("stop", kSecond);
    CAPTURE(bytes);
    CHECK(Parsed("summary --json " + path)["trustworthy"] == (bytes < 1000));
    std::filesystem::remove(path);
  }
}

// 1,040 bytes while the points are half a megabyte apart, then every object of 104 bytes. `late` bytes more are counted
// in the end.
TEST_CASE_METHOD(Scratch, "What was allocated while the points were far apart may have no sample") {
  for (const uint64_t late : {0U, 20'000'000U}) {
    RecordingFile file(path, SomeHeader());
    file.Add(format::Window{2, 0, 1.0 / (512 << 10)});
    file.Add(format::Window{1, kSecond, 1});
    file.Add(format::Interval{.index = 0, .bytes = 1040});
    for (uint64_t i = 1; i < 40; ++i) {
      Event event = At(i * kSecond);
      event.size = 104, event.weight = 104;
      file.Add(event);
      file.Add(format::Interval{.index = i, .bytes = 104 + (i == 39 ? late : 0), .buffered = 1, .kept = 1});
      if (i == 1) file.Flush({}, 2 * kSecond);
    }
    file.counters(Stream::kAllocations).candidate_bytes = 1040 + 39 * 104 + late;
    file.End("stop", 40 * kSecond);
    CAPTURE(late);
    const json summary = Parsed("summary --json " + path);
    INFO(summary["reasons"].dump() << summary["headlines"].dump());
    CHECK(summary["trustworthy"] == (late == 0));
    CHECK(summary.dump().find("than the exact count") == std::string::npos);
    std::filesystem::remove(path);
  }
}

TEST_CASE_METHOD(Scratch, "Counted bytes are shown, compared and judged without any sample") {
  const auto write = [&](const std::string& name, bool is_sampled) {
    RecordingFile file(directory / name, SomeHeader());
    file.Add(format::Window{1, 0, 1e-9});
    file.Add(format::Interval{.index = 0, .candidates = 2'000'000, .bytes = 158'000'000});
    if (is_sampled) {
      Event event = At(kMs);
      event.weight = 158'000'000;
      file.Add(event);
    }
    file.counters(Stream::kAllocations).candidate_bytes = 158'000'000;
    file.counters(Stream::kAllocations).candidates = 2'000'000;
    file.End("stop", 2 * kSecond);
    return directory / name;
  };
  const std::string path = write("none.hrec", false), other = write("one.hrec", true);
  const json summary = Parsed("summary --json " + path);
  CHECK(summary["estimates"]["bytes"]["value"] == 158e6);
  CHECK(summary["estimates"]["objects"].is_null());
  CHECK(summary["trustworthy"] == false);
  CHECK(summary["reasons"].dump().find("no sample was taken") != std::string::npos);
  const Outcome text = Heaprec("summary " + path);
  CHECK(text.out.find("151 MiB allocated in 2.000 s") != std::string::npos);
  CHECK(text.out.find("0 object") == std::string::npos);
  CHECK(Parsed("top --json " + path)["total"]["value"] == 158e6);
  CHECK(Parsed("top --json " + path + " " + other)["total"]["value"] == 316e6);
  CHECK(Parsed("timeline --json " + path)["total"]["value"] == 158e6);
  CHECK(Heaprec("doctor " + path).out.find("raise rate=") != std::string::npos);
  CHECK(Heaprec("check " + path + " --budget 'total<1MiB'").code == 1);
  CHECK(Heaprec("check " + path + " --budget 'total<1GiB'").code == 0);
  CHECK(Heaprec("diff " + other + " " + path).out.find("-100") == std::string::npos);
  REQUIRE(Heaprec("report " + path + " -o " + directory / "page.html").code == 0);
  CHECK(Shell("python3 tests/tools/commands/page_data.py " + directory / "page.html").out.find("158000000") !=
        std::string::npos);
}

TEST_CASE_METHOD(Scratch, "native tells mappings that were lost from blocks that were not") {
  {
    format::FileHeader header = SomeHeader();
    header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
    header.max_tracked_blocks = 16384;
    header.mapped = {.interval_ns = kSecond, .interval_cap = 1000, .rate_per_second = 1000};
    header.max_tracked_mappings = 32768;
    RecordingFile file(path, header);
    file.Add(format::Window{format::kMappingWindowBit + 1, 0, 1});
    file.Add(Event{.time_ns = kMs,
                   .class_name = "mmap",
                   .size = 4096,
                   .weight = 4096,
                   .kind = format::Kind::kMapping,
                   .id = (uint64_t{1} << 60) + 1,
                   .tracking_index = 1});
    format::StreamCounters& counters = file.counters(Stream::kMapping);
    counters.lost[static_cast<size_t>(format::LossReason::kRingFull)] = 1;
    counters.lost_weight[static_cast<size_t>(format::LossReason::kRingFull)] = 4096;
    counters.points += 1;
    counters.candidate_bytes += 4096;
    file.End("stop", kSecond);
  }
  const std::string line = "\n# " + kLine + "mappings: 50 % of the bytes were lost\n";
  const Outcome outcome = Heaprec("native " + path);
  CHECK(outcome.out.ends_with(line));
  CHECK(Count(outcome.out, kLine) == 1);
  const json document = Parsed("native --json " + path);
  CHECK(document["scan"]["trustworthy"] == true);
  CHECK(document["mmap"]["trustworthy"] == false);
  CHECK(document["mmap"]["reasons"] == json{"mappings: 50 % of the bytes were lost"});
}

TEST_CASE_METHOD(Scratch, "doctor says what was lost of native memory, and not that nothing was") {
  WriteLossy(path, Stream::kNative);
  const std::string said = Heaprec("doctor " + path).out;
  CHECK(said.find("native memory: ring_full: 900 points, 90") != std::string::npos);
  CHECK(said.find("nothing was lost") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "An empty recording has no empty table") {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  header.max_tracked_blocks = 16384;
  RecordingFile(path, header).End("stop", kSecond);
  const Outcome outcome = Heaprec("native " + path);
  CHECK(outcome.out.find("no native samples\n") != std::string::npos);
  CHECK(outcome.out.find("mean age") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "Forms without a last line say on stderr what should not be believed") {
  WriteLossy(path, Stream::kNative);
  for (const std::string& command :
       {"flame -q -o " + directory / "flame.html", "flame -q --svg -o " + directory / "flame.svg",
        "timeline --svg " + directory / "time.svg", std::string("live --format csv"),
        std::string("live --lifetimes --format csv"), std::string("export --format csv"),
        std::string("export --format collapsed")}) {
    const Outcome outcome = Heaprec(command + " --kind malloc " + path);
    CAPTURE(command, outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "heaprec: " + path + ": " + kWhy + "\n");
    CHECK(outcome.out.find("trustworthy") == std::string::npos);
  }
  const std::string data = Shell("python3 tests/tools/commands/page_data.py " + directory / "flame.html").out;
  CHECK(data.find("no, because native memory: 90 %") != std::string::npos);
  const Outcome sql = Heaprec("sql --kind malloc " + path + " 'select count(*) from samples'");
  CHECK(sql.err == "heaprec: " + path + ": " + kWhy + "\n");
  // What reads but a part cannot know.
  CHECK(Heaprec("export --limit 1 --format csv --kind malloc " + path).err.empty());
}

TEST_CASE_METHOD(Scratch, "JSON has the reasons in members of their own") {
  WriteLossy(path, Stream::kNative);
  const json why = {"native memory: 90 % of the bytes were lost"};
  for (const std::string command : {"top", "tree", "histogram", "timeline", "live", "live --lifetimes",
                                    "live --garbage recent", "leaks", "native", "native --min-age 1s"}) {
    CAPTURE(command);
    const std::string kind = command.starts_with("native") ? "" : " --kind malloc";
    const json document = Parsed(command + kind + " --json " + path);
    const json& scan = document[document.contains("scan") ? "scan" : "survey"];
    CHECK(scan["trustworthy"] == false);
    CHECK(scan["reasons"] == why);
    CHECK(scan["recordings"][0]["trustworthy"] == false);
    CHECK(scan["recordings"][0]["reasons"] == why);
  }
  const json diff = Parsed("diff --json --kind malloc " + path + " " + path);
  CHECK(diff["before"]["runs"][0]["trustworthy"] == false);
  CHECK(diff["after"]["runs"][0]["reasons"] == why);
  const json memory = Parsed("native --categories --json " + path)["recordings"][0];
  CHECK(memory["trustworthy"] == false);
  CHECK(memory["reasons"] == why);
}

TEST_CASE_METHOD(Scratch,
                 "A check of what is not trustworthy is inconclusive in each of its forms, unless that is accepted") {
  WriteLossy(path, Stream::kNative);
  const std::string check = "check --kind malloc --budget 'total<1GB' --budget 'total<1kB' " + path;
  const std::string inconclusive = "inconclusive: the recording is untrustworthy";
  const auto text = Heaprec(check);
  CHECK(text.code == 1);
  CHECK(text.out.starts_with(path + ": " + inconclusive + "; --accept-untrustworthy"));
  CHECK(Count(text.out, "\ninconclusive ") == 2);
  CHECK(text.out.ends_with("\n# " + kWhy + "\n"));
  const auto markdown = Heaprec(check + " --format markdown");
  CHECK(markdown.code == 1);
  CHECK(markdown.out.find(inconclusive) != std::string::npos);
  CHECK(markdown.out.find("within") == std::string::npos);
  CHECK(markdown.out.find(kWhy) != std::string::npos);
  const auto junit = Heaprec(check + " --format junit");
  CHECK(junit.code == 1);
  CHECK(junit.out.find("tests=\"3\" failures=\"0\" errors=\"1\" skipped=\"2\"") != std::string::npos);
  CHECK(junit.out.find("<error type=\"untrustworthy\" message=\"" + inconclusive + "\">" + kWhy) != std::string::npos);
  CHECK(junit.out.find("<system-err>" + kWhy + "</system-err>") != std::string::npos);
  const auto as_json = Heaprec(check + " --format json");
  CHECK(as_json.code == 1);
  const json document = json::parse(as_json.out);
  CHECK(document["withheld"] == true);
  CHECK(document["exceeded"] == 0);
  CHECK(document["inconclusive"] == 2);
  CHECK(document["trustworthy"] == false);
  CHECK(document["reasons"] == json{kWhy});

  const auto accepted = Heaprec(check + " --accept-untrustworthy --format json");
  CHECK(accepted.code == 1);  // the second budget is broken
  const json judged = json::parse(accepted.out);
  CHECK(judged["withheld"] == false);
  CHECK(judged["exceeded"] == 1);
  CHECK(judged["trustworthy"] == false);
  const auto kept = Heaprec("check --kind malloc --accept-untrustworthy --budget 'total<1GB' " + path);
  CHECK(kept.code == 0);
  CHECK(kept.out.find("0 of 1 budgets exceeded") != std::string::npos);
  CHECK(kept.out.ends_with("\n# " + kWhy + "\n"));
}

TEST_CASE_METHOD(Scratch, "A check against a baseline that is not trustworthy is inconclusive") {
  const std::string old = directory / "old.bin";
  WriteLossy(path, Stream::kNative);
  WriteLossy(old, Stream::kAllocations);
  const std::string heap = "check --budget 'total<1GB' " + path;
  CHECK(Parsed(heap + " --format json")["trustworthy"] == true);
  const auto compared = Heaprec(heap + " --max-regression 1% --baseline " + old);
  CHECK(compared.code == 1);
  CHECK(compared.out.starts_with(path + ": inconclusive: the baseline is untrustworthy"));
  CHECK(compared.out.ends_with("\n# baseline trustworthy: no, because 90 % of the bytes were lost\n"));
  CHECK(compared.out.find("EXCEEDED") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "What was lost of native memory casts no doubt on the heap, nor the other way round") {
  WriteLossy(directory / "native.bin", Stream::kNative);
  WriteLossy(directory / "heap.bin", Stream::kAllocations);
  for (const std::string command : {"top", "live", "leaks", "timeline"}) {
    CAPTURE(command);
    CHECK(Heaprec(command + " " + directory / "native.bin").out.find(kLine) == std::string::npos);
    CHECK(Heaprec(command + " --kind malloc " + directory / "heap.bin").out.find(kLine) == std::string::npos);
    CHECK(Heaprec(command + " " + directory / "heap.bin")
              .out.ends_with("\n# " + kLine + "90 % of the bytes were lost\n"));
  }
  const json both = Parsed("top --json " + directory / "heap.bin" + " " + directory / "native.bin");
  CHECK(both["scan"]["recordings"][0]["trustworthy"] == false);
  CHECK(both["scan"]["recordings"][1]["trustworthy"] == true);
  CHECK(Heaprec("top " + directory / "heap.bin" + " " + directory / "native.bin")
            .out.ends_with("90 % of the bytes were lost (1 of 2 recordings)\n"));
  CHECK(Heaprec("native " + directory / "heap.bin").out.find(kLine) == std::string::npos);
}

}  // namespace heaprec::tools::testing
