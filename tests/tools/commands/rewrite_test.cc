// trim, merge and redact.
#include <zstd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

json Summary(const std::string& path) { return json::parse(Heaprec("summary --json " + path).out); }
std::string Rows(const std::string& path, const std::string& filters = "") {
  return Heaprec("export " + filters + " " + path).out;
}

// Four seconds of two samples each, a block a second, two chunks; returns where the second chunk begins.
uint64_t WriteSeconds(const std::string& path, const format::FileHeader& header) {
  RecordingFile file(path, header);
  uint64_t second_chunk = 0;
  for (uint64_t second = 0; second < 4; ++second) {
    if (second == 2) {
      file.StartChunk();
      second_chunk = file.size();
    }
    file.Add(format::Window{1, 0, 1e-4});
    for (const uint64_t part : {100, 700}) {
      file.Add(Event{.time_ns = second * kSecond + part * kMs,
                     .class_name = second % 2 == 0 ? "[Lcom/acme/Item;" : "com/acme/Basket$Line",
                     .thread = "acme-worker",
                     .stack = {"com/acme/Order.price:7", "java/lang/Thread.run:3"}});
    }
    file.counters().candidates += 5;
    file.Add(format::Interval{second, 5, 4800, 2, 2, 0});
    if (second != 1) file.Flush();
  }
  file.End("jvm exit", 4 * kSecond);
  return second_chunk;
}

// What the payloads of all blocks decompress to, one after another.
std::string Decompressed(const std::string& file) {
  const std::string chunk("\x89HRCHNK\n", 8), block("\x89HRBLCK\n", 8);
  std::string raw, piece(1 << 20, '\0');
  ZSTD_DStream* const stream = ZSTD_createDStream();
  for (size_t at = file.find(chunk); at < file.size();) {
    if (file.compare(at, 8, block) != 0) {
      ZSTD_initDStream(stream);
      at = std::min(file.find(chunk, at + 1), file.find(block, at + 1));
      continue;
    }
    uint32_t payload = 0;
    std::memcpy(&payload, file.data() + at + 8, sizeof(payload));
    ZSTD_inBuffer in{file.data() + at + 72, payload, 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out{piece.data(), piece.size(), 0};
      REQUIRE(ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)) == 0);
      raw.append(piece.data(), out.pos);
    }
    at += 72 + payload;
  }
  ZSTD_freeDStream(stream);
  return raw;
}

}  // namespace

TEST_CASE_METHOD(Scratch, "a span has the events of the whole that are in it, at their own time of day") {
  const std::string whole = path, part = directory / "part.bin";
  WriteSeconds(whole, HeaderOf(1));
  for (const char* span : {"--from 1s --to 3s", "--from 1500ms", "--to 2500ms", "--from 700ms --to 2100ms", ""}) {
    CAPTURE(span);
    const auto done = Heaprec("trim -f " + std::string(span) + " -o " + part + " " + whole);
    CHECK(done.code == 0);
    CHECK(Rows(part) == Rows(whole, span));
    const auto seconds = [](const std::string& arguments) {
      const json matched = json::parse(Heaprec("top --json " + arguments).out)["matched"];
      return matched["bytes"]["value"].get<double>() / matched["bytes_per_second"]["value"].get<double>();
    };
    CHECK(seconds(part) == Approx(seconds(span + (" " + whole))));
    const json summary = Summary(part);
    CAPTURE(summary["reasons"].dump());
    CHECK(summary["trustworthy"] == true);
  }
  CHECK(Summary(part)["recording"]["recording_id"] != Summary(whole)["recording"]["recording_id"]);
}

TEST_CASE_METHOD(Scratch, "spans that share a border of intervals have estimates that add up to the whole's") {
  const std::string whole = path, early = directory / "early.bin", late = directory / "late.bin";
  WriteSeconds(whole, HeaderOf(1));
  CHECK(Heaprec("trim --to 2s -o " + early + " " + whole).code == 0);
  CHECK(Heaprec("trim --from 2s -o " + late + " " + whole).code == 0);
  const json all = Summary(whole), one = Summary(early), other = Summary(late);
  for (const char* key : {"/allocated_bytes", "/estimates/bytes_uncalibrated/value", "/estimates/bytes/value"}) {
    CAPTURE(key);
    const auto value = [pointer = json::json_pointer(key)](const json& of) { return of.at(pointer).get<double>(); };
    CHECK(value(one) + value(other) == Approx(value(all)));
  }
  CHECK(one["ended"] == "trim");
  CHECK(other["ended"] == "jvm exit");
}

TEST_CASE_METHOD(Scratch, "parts that overlap are counted twice, and a line says so") {
  const std::string whole = path, early = directory / "early.bin", late = directory / "late.bin";
  WriteSeconds(whole, HeaderOf(1));
  CHECK(Heaprec("trim --to 3s -o " + early + " " + whole).code == 0);
  CHECK(Heaprec("trim --from 1500ms -o " + late + " " + whole).code == 0);
  CHECK(Heaprec("top " + early + " " + late)
            .err.find("hold the same 1.500 s of one recording, which are counted twice\n") != std::string::npos);
  CHECK(Heaprec("trim -f --from 3s -o " + late + " " + whole).code == 0);
  CHECK(Heaprec("top " + early + " " + late).err.find("twice") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "an interval that a border cuts counts nothing, and its samples stand for themselves") {
  const std::string whole = path, part = directory / "part.bin";
  WriteSeconds(whole, HeaderOf(1));
  CHECK(Heaprec("trim --from 500ms --to 2s -o " + part + " " + whole).code == 0);
  const json summary = Summary(part);
  CHECK(summary["allocated_bytes"] == 4800);                               // of the second one
  CHECK(summary["estimates"]["bytes_uncalibrated"]["value"] == 3 * 2400);  // of all three samples
  CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(3 * 2400));
}

TEST_CASE_METHOD(Scratch, "recordings of several JVMs are kept apart, and their totals added") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", all = directory / "all.bin";
  WriteSeconds(a, HeaderOf(1));
  WriteSeconds(b, HeaderOf(2));
  CHECK(Heaprec("merge -q -o " + all + " " + a + " " + b).code == 0);
  const std::string rows = Rows(all);
  CHECK(Count(rows, ",recording,calibrated_bytes,calibrated_objects\n") == 1);
  CHECK(Count(rows, ",01010101010101010101010101010101,") == 8);
  CHECK(Count(rows, "\n") == 1 + 2 * 8);
  CHECK(Rows(a).find("recording") == std::string::npos);
  const json summary = Summary(all);
  REQUIRE(summary["recordings"].size() == 2);
  CHECK(summary["recordings"][0]["recording"]["pid"] == kNoProcess + 1);
  CHECK(summary["recordings"][1]["recording"]["pid"] == kNoProcess + 2);
  CHECK(summary["total"]["samples"] == 16);
  CHECK(summary["total"]["allocated_bytes"] == 2 * Summary(a)["allocated_bytes"].get<uint64_t>());
  const json one = Summary(a)["estimates"]["objects"], both = summary["total"]["objects"];
  CHECK(both["value"].get<double>() == Approx(2 * one["value"].get<double>()));
  const double side = one["high"].get<double>() - one["value"].get<double>();
  CHECK(both["high"].get<double>() - both["value"].get<double>() == Approx(std::sqrt(2) * side));
  const auto printed = Heaprec("print " + all);
  CHECK(Count(printed.out, "# recording 1 of 2: ") == 1);
  CHECK(Count(printed.out, "heaprec.AllocationSample") == 16);
  CHECK(json::parse(Heaprec("print --json " + all).out)["recordings"].size() == 2);
  CHECK(Count(Heaprec("print --limit 9 " + all).out, "heaprec.AllocationSample") == 9);
}

TEST_CASE_METHOD(Scratch, "verify looks at every recording of a merged file") {
  const std::string a = directory / "a.bin", b = directory / "b.bin", all = directory / "all.bin";
  WriteSeconds(a, HeaderOf(1));
  WriteSeconds(b, HeaderOf(2));
  CHECK(Heaprec("merge -q -o " + all + " " + a + " " + b).code == 0);
  const auto sound = Heaprec("verify --json " + all);
  CHECK(sound.code == 0);
  const json documents = json::parse(sound.out);
  REQUIRE(documents["recordings"].size() == 2);
  CHECK(documents["recordings"][0]["events"] == 8);
  CHECK(documents["recordings"][1]["recording_id"] == "02020202020202020202020202020202");
  std::string bytes = Contents(all);
  bytes[bytes.size() - 100] ^= 1;
  Overwrite(all, bytes);
  const auto damaged = Heaprec("verify " + all);
  CHECK(damaged.code == 4);
  CHECK(Count(damaged.out, ": ok, 8 samples") == 1);
  CHECK(Count(damaged.out, ": damaged, ") == 1);
}

TEST_CASE_METHOD(Scratch, "parts of one recording become it again, in whatever order they come, overlapping or not") {
  const std::string whole = path, first = directory / "1.bin", second = directory / "2.bin";
  const uint64_t border = WriteSeconds(whole, HeaderOf(1));
  const std::string bytes = Contents(whole);
  const size_t header = bytes.find("\x89HRCHNK\n");
  Overwrite(first, bytes.substr(0, border));
  Overwrite(second, bytes.substr(0, header) + bytes.substr(border));
  for (const std::string& parts : {first + " " + second, second + " " + first, whole + " " + second}) {
    CAPTURE(parts);
    CHECK(Heaprec("merge -f -o " + (directory / "all.bin") + " " + parts).code == 0);
    CHECK(Rows(directory / "all.bin") == Rows(whole));
    CHECK(Summary(directory / "all.bin")["estimates"] == Summary(whole)["estimates"]);
    CHECK(Summary(directory / "all.bin")["ended"] == "jvm exit");
  }
}

// The seconds [from, to) as the agent writes them into a file of their own: a block a second.
void WritePart(const std::string& path, uint64_t from, uint64_t to, const char* ended) {
  format::FileHeader header = HeaderOf(1);
  header.start.begin_ns = from * kSecond;
  header.start.part = from > 0 ? 1 : 0;
  header.start.next_interval[format::Stream::kAllocations] = from;
  header.start.intervals_with_points[format::Stream::kAllocations] = from;
  format::StreamCounters& before = header.start.counters[format::Stream::kAllocations];
  before.candidates = 5 * from;
  before.points = before.committed = before.written = 2 * from;
  before.candidate_bytes = 4800 * from;
  RecordingFile file(path, header);
  file.counters() = before;
  for (uint64_t second = from; second < to; ++second) {
    if (second == 2 && from < 2) file.StartChunk();
    file.Add(format::Window{1, 0, 1e-4});
    for (const uint64_t part : {100, 700}) {
      file.Add(Event{.time_ns = second * kSecond + part * kMs,
                     .class_name = "p/Second" + std::to_string(second),
                     .id = 2 * second + (part > 100 ? 2 : 1)});
    }
    file.counters().candidates += 5;
    file.counters().candidate_bytes = 4800 * (second + 1);
    file.Add(format::Interval{second, 5, 4800, 2, 2, 0});
    if (second + 1 < to) file.Flush({}, (second + 1) * kSecond);
  }
  file.End(ended, to * kSecond);
}

TEST_CASE_METHOD(Scratch,
                 "copies of parts that dump and recover made add nothing to a recording, and take nothing away") {
  const auto file = [&](const char* name) { return directory / name; };
  const std::string whole = file("rec.bin"), all = file("all.bin");
  WritePart(whole, 0, 4, "jvm exit");
  WritePart(file("dump.bin"), 0, 3, "dump");
  WritePart(file("1.bin"), 0, 2, "rotated");
  WritePart(file("2.bin"), 2, 4, "jvm exit");
  WritePart(file("2-dump.bin"), 2, 3, "dump");
  CHECK(Heaprec("recover -q -o " + file("2-clean.bin") + " " + file("2.bin")).code == 0);
  const std::string bytes = Contents(whole);
  Overwrite(file("cut.bin"), bytes.substr(0, bytes.size() - 1));  // nothing is missing but its ending
  const std::vector<std::vector<const char*>> cases = {{"dump.bin", "rec.bin"},
                                                       {"cut.bin", "rec.bin"},
                                                       {"rec.bin", "cut.bin"},
                                                       {"rec.bin", "dump.bin"},
                                                       {"rec.bin", "rec.bin"},
                                                       {"1.bin", "2.bin"},
                                                       {"2-dump.bin", "2.bin", "dump.bin", "1.bin"},
                                                       {"2-clean.bin", "1.bin"},
                                                       {"dump.bin", "2-clean.bin", "2-dump.bin"}};
  for (const auto& parts : cases) {
    std::string words;
    for (const char* part : parts) words += " " + file(part);
    CAPTURE(words);
    CHECK(Heaprec("merge -f -o " + all + words).code == 0);
    CHECK(Rows(all) == Rows(whole));
    CHECK(Heaprec("verify " + all).code == 0);
    CHECK(Summary(all)["ended"] == "jvm exit");
  }
}

TEST_CASE_METHOD(Scratch, "a file of more recordings than a reader opens is refused") {
  { const RecordingFile empty(path, HeaderOf(1)); }
  const std::string header = Contents(path);
  std::string all;
  for (int i = 0; i < 10'001; ++i) all += header;
  Overwrite(path, all);
  const auto verified = Heaprec("verify " + path);
  CHECK(verified.code == 3);
  CHECK(verified.err == "heaprec: " + path + ": more than 10,000 recordings in one file\n");
}

TEST_CASE_METHOD(Scratch, "merge makes no file of more recordings than a reader opens") {
  const std::string one = directory / "one.bin", all = directory / "all.bin";
  std::string halves[2];
  for (uint32_t i = 0; i < 10'001; ++i) {
    format::FileHeader header = HeaderOf(1);
    std::memcpy(header.recording_id.data(), &i, sizeof i);
    { const RecordingFile empty(one, header); }
    halves[i % 2] += Contents(one);
    std::filesystem::remove(one);
  }
  Overwrite(directory / "a.bin", halves[0]);
  Overwrite(directory / "b.bin", halves[1]);
  const auto merged = Heaprec("merge -o " + all + " " + (directory / "a.bin") + " " + (directory / "b.bin"));
  CHECK(merged.code == 2);
  CHECK(Count(merged.err, "10,001 recordings; the maximum per file is 10,000") == 1);
  CHECK(!std::filesystem::exists(all));
}

TEST_CASE_METHOD(Scratch, "samples of a part that is not given count as lost in the merged recording") {
  const std::string all = directory / "all.bin", first = directory / "1.bin", third = directory / "3.bin";
  WritePart(first, 0, 2, "rotated");
  WritePart(third, 3, 5, "jvm exit");
  REQUIRE(Heaprec("merge -q -o " + all + " " + first + " " + third).code == 0);
  CHECK(Heaprec("verify " + all).code == 0);
  const json summary = Summary(all);
  CHECK(summary["losses"]["lost"]["write_failed"]["points"] == 2);
  CHECK(summary["losses"]["lost"]["write_failed"]["bytes"] == 4800);
  CHECK(summary["trustworthy"] == false);
  CHECK(summary["reasons"].dump().find("a part of the recording is missing") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "no name is left in a redacted recording, and the estimates are the same") {
  const std::string rec = path, key = directory / "key", out = directory / "out.bin";
  WriteSeconds(rec, HeaderOf(1));
  Overwrite(key, "a key of more than 16 bytes");
  CHECK(Count(Decompressed(Contents(rec)), "com/acme/Order") == 2);  // one of each chunk
  const auto done = Heaprec("redact --key " + key + " --mapping " + (directory / "map.tsv") + " -o " + out + " " + rec);
  CHECK(done.code == 0);
  const std::string raw = Decompressed(Contents(out)) + Contents(out);
  for (const char* name : {"acme", "Order", "Item", "Basket", "Line", "price", "worker", "rec.bin"}) {
    CAPTURE(name);
    CHECK(Count(raw, name) == 0);
  }
  CHECK(Count(raw, "java/lang/Thread") > 0);
  CHECK(Summary(out)["estimates"] == Summary(rec)["estimates"]);
  const std::string mapping = Contents(directory / "map.tsv");
  CHECK(Count(mapping, "class\tcom.acme.Order\tp") == 1);
  CHECK(Count(mapping, "method\tprice\tm") == 1);
  CHECK(Count(mapping, "thread\tacme-worker\tt") == 1);
}

TEST_CASE_METHOD(Scratch, "What the JDK generates for interfaces and scripts of the program keeps no name of theirs") {
  const std::string rec = path, out = directory / "out.bin";
  {
    RecordingFile file(rec, HeaderOf(1));
    file.Add(
        Event{.class_name = "jdk/MHProxy3/SecretIf+0x00007f0f84115150",
              .stack = {"jdk/internal/reflect/GeneratedMethodAccessor7.invoke",
                        "java/lang/invoke/LambdaForm$DMH+0x00007f0f84115400.invokeStatic",
                        "jdk/internal/reflect/DirectMethodHandleAccessor.invoke", "jdk/proxy1/$Proxy0.secretCall:1",
                        "com/sun/proxy/$Proxy1.secretCall", "jdk/MHProxy3/SecretIf+0x00007f0f84115150.secretRun",
                        "jdk/nashorn/internal/scripts/Script$3$\\^secret_js.secretFunction",
                        "jdk/nashorn/javaadapters/com_secret_Task.run"}});
    file.End("jvm exit", kSecond);
  }
  REQUIRE(Heaprec("redact -o " + out + " " + rec).code == 0);
  const std::string raw = Decompressed(Contents(out));
  CHECK(Count(raw, "ecret") == 0);
  for (const char* kept : {"jdk/proxy1/$Proxy0", "jdk/internal/reflect/GeneratedMethodAccessor7", "invokeStatic",
                           "jdk/internal/reflect/DirectMethodHandleAccessor"}) {
    CAPTURE(kept);
    CHECK(Count(raw, kept) > 0);
  }
}

TEST_CASE_METHOD(Scratch, "the same key gives the same names, another one others") {
  const std::string rec = path, key = directory / "key";
  WriteSeconds(rec, HeaderOf(1));
  Overwrite(key, "a key of more than 16 bytes");
  const auto redacted = [&](const std::string& options) {
    CHECK(Heaprec("redact -q -f " + options + " -o " + (directory / "out.bin") + " " + rec).code == 0);
    return Rows(directory / "out.bin");
  };
  const std::string once = redacted("--key " + key);
  CHECK(redacted("--key " + key) == once);
  CHECK(redacted("") != once);
  CHECK(redacted("") != redacted(""));
}

TEST_CASE_METHOD(Scratch, "with patterns only what they find is redacted") {
  const std::string rec = path, out = directory / "out.bin";
  WriteSeconds(rec, HeaderOf(1));
  CHECK(Heaprec("redact --pattern 'Basket' --pattern '^java.lang.Thread' -o " + out + " " + rec).code == 0);
  const std::string rows = Rows(out);
  CHECK(Count(rows, "Basket") == 0);
  CHECK(Count(rows, "java.lang.Thread") == 0);
  CHECK(Count(rows, "com.acme.Item[]") == 4);
  CHECK(Count(rows, "acme-worker") == 8);
}

TEST_CASE_METHOD(Scratch, "trim, merge and redact refuse what they cannot do, and leave nothing behind") {
  const std::string rec = path, out = directory / "out.bin";
  WriteSeconds(rec, HeaderOf(1));
  Overwrite(out, "mine");
  Overwrite(directory / "short", "short");
  CHECK(Heaprec("trim -f --from 3s --to 2s -o " + out + " " + rec).code == 2);
  CHECK(Heaprec("trim -f --from 3 -o " + out + " " + rec).code == 2);
  CHECK(Heaprec("redact -f --key " + (directory / "short") + " -o " + out + " " + rec).code == 2);
  CHECK(Heaprec("redact -f --pattern '(' -o " + out + " " + rec).code == 2);
  CHECK(Heaprec("redact -f --json -o - " + rec).code == 2);
  CHECK(Heaprec("merge -f -o " + out + " " + rec + " " + (directory / "none.bin")).code == 3);
  for (const char* span : {"--from 50s", "--from 2026-11-21T00:00:00Z"}) {
    const auto beyond = Heaprec("trim " + std::string(span) + " -o " + directory / "part.bin" + " " + rec);
    INFO(beyond.err);
    CHECK(beyond.code == 2);
    CHECK(beyond.err.find(rec + " has data from 0.000 s to 4.000 s;") != std::string::npos);
  }
  CHECK(Contents(out) == "mine");
  const auto said = Heaprec("trim -f --json -o " + out + " " + rec);
  CHECK(json::parse(said.out)["samples"] == 8);
  CHECK(directory.Entries() == std::vector<std::string>{"out.bin", "rec.bin", "short"});
  CHECK(Count(Heaprec("trim -q -o - " + rec).out, "HRFILE") == 1);
  CHECK(Count(Heaprec("verify " + rec + " " + rec).out, "\n") == 2);
}

}  // namespace heaprec::tools::testing
