// trim, merge and redact.
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using testing::Contents;
using testing::Count;
using testing::Directory;
using testing::Event;
using testing::Heaprec;
using testing::kMs;
using testing::kSecond;
using testing::Overwrite;
using testing::RecordingFile;

json Summary(const std::string& path) { return json::parse(Heaprec("summary --json " + path).out); }
std::string Rows(const std::string& path, const std::string& filters = "") {
  return Heaprec("export " + filters + " " + path).out;
}

// More than the kernel's maximum: a recording of such a process is not running.
constexpr uint32_t kNoProcess = 1U << 30;

format::FileHeader HeaderOf(uint8_t id) {
  format::FileHeader header = testing::SomeHeader();
  header.recording_id.fill(id);
  header.pid = kNoProcess + id;
  return header;
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
      Event event = testing::At(second * kSecond + part * kMs);
      event.thread = "acme-worker";
      event.stack = {"com/acme/Order.price:7", "java/lang/Thread.run:3"};
      event.class_name = second % 2 == 0 ? "[Lcom/acme/Item;" : "com/acme/Basket$Line";
      file.Add(event);
    }
    file.counters().candidates += 5;
    file.Add(format::Interval{second, 5, 4800, 2, 2, 0});
    if (second != 1) file.Flush();
  }
  file.End("jvm exit", 4 * kSecond);
  return second_chunk;
}

// What an outage leaves of the rows of its intervals.
enum class Left { kAll, kJoined, kNone };

constexpr uint64_t kCounted = 48'000;   // bytes of each second
constexpr double kLostWeight = 90'000;  // of both seconds of the outage, by their points
constexpr uint64_t kLostPoints = 4;

// Seven seconds of two samples each, a block a second. The disk is full in the third and the fourth: four of their six
// points are lost, and the second stage had dropped two. Returns where each block ends.
std::vector<size_t> WriteOutage(const std::string& path, Left left) {
  RecordingFile file(path, HeaderOf(1));
  format::StreamCounters& counters = file.counters();
  std::vector<size_t> ends;
  const auto add = [&file](const format::Interval& interval) { file.Add(interval); };
  for (uint64_t second = 0; second < 7; ++second) {
    const bool is_lost = second == 2 || second == 3;
    counters.candidates += 10;
    if (is_lost) {
      counters.points += 3, counters.committed += 3, counters.second_stage += 1;
      counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)] += kLostPoints / 2;
      counters.lost_weight[static_cast<size_t>(format::LossReason::kWriteFailed)] += kLostWeight / 2;
      if (left == Left::kAll) add({second, 10, kCounted, 3, 0, 0});
      if (left == Left::kJoined && second == 3) add({second, 20, 2 * kCounted, 6, 0, 0});
      counters.candidate_bytes = (second + 1) * kCounted;
      continue;
    }
    file.Add(format::Window{1, 0, 4e-5});
    for (const uint64_t part : {100, 700}) {
      Event event = testing::At(second * kSecond + part * kMs);
      event.class_name = second % 2 == 0 ? "p/Even" : "p/Odd";
      event.weight = part == 100 ? 25'000 : 21'000;
      file.Add(event);
    }
    add({second, 10, kCounted, 2, 2, 0});
    counters.candidate_bytes = (second + 1) * kCounted;
    file.Flush({}, second * kSecond + 750 * kMs);
    ends.push_back(file.size());
  }
  file.End("jvm exit", 7 * kSecond);
  return ends;
}

// How a recording without an end marker ends.
enum class Cut {
  kKilled,
  kKilledInInterval,
  kRunning,
  kDiskFull,
  kDiskFullTwice,
  kKilledOnFullDisk,
  kKilledOnFullDiskTwice
};

bool IsTwice(Cut cut) { return cut == Cut::kDiskFullTwice || cut == Cut::kKilledOnFullDiskTwice; }

constexpr uint64_t kOpenPoints = 70, kUnderWay = 3;  // of an interval that was open: more than one for each lane
constexpr uint64_t kOpenBytes = 30'000;

// Writes two seconds of two samples each, of the heap and of malloc; the ring is gone. If the disk was full, the last
// block has the counts of six seconds, but no rows for intervals whose samples were in the ring. The two cuts named
// "Twice" had lost the samples of one interval before. kKilledOnFullDisk: the last block is provisional.
// kKilledInInterval, kRunning: the block was written in the middle of an interval.
void WriteCut(const std::string& path, Cut cut, const std::string& ring = "/no/such/folder/heaprec.ring") {
  format::FileHeader header = HeaderOf(1);
  header.ring_path = ring;
  header.native = {.interval_ns = kSecond, .interval_cap = 150, .rate_per_second = 150};
  if (cut == Cut::kRunning) {
    header.pid = static_cast<uint32_t>(getpid());
    header.start_monotonic_ns = testing::MonotonicNs();
  }
  RecordingFile file(path, header);
  constexpr std::array kStreams{format::Stream::kAllocations, format::Stream::kNative};
  file.Add(format::Window{1, 0, 4e-5});
  file.Add(format::Window{format::kNativeWindowBit + 1, 0, 4e-5});
  for (uint64_t second = 0; second < 2; ++second) {
    for (const uint64_t part : {100, 700}) {
      Event event = testing::At(second * kSecond + part * kMs);
      event.weight = 24'000;
      file.Add(event);
      event.kind = format::Kind::kNative;
      event.class_name = "malloc";
      event.id = (uint64_t{1} << 61) + event.time_ns;
      file.Add(event);
    }
    for (const format::Stream stream : kStreams) {
      file.counters(stream).candidates += 10;
      file.Add(format::Interval{second, 10, kCounted, 2, 2, 0, stream});
    }
  }
  if (cut == Cut::kKilledInInterval || cut == Cut::kRunning) {
    for (const format::Stream stream : kStreams) {
      format::StreamCounters& counters = file.counters(stream);
      counters.points += kOpenPoints + (cut == Cut::kRunning ? 0 : kUnderWay), counters.committed += kOpenPoints;
      counters.candidates += 200, counters.candidate_bytes = 2 * kCounted + kOpenBytes;
    }
    return file.Flush({}, 2 * kSecond + 700 * kMs);
  }
  file.Flush({}, 2 * kSecond + 20 * kMs);
  if (cut == Cut::kKilled) return;
  std::vector<format::Interval> lost;
  for (const format::Stream stream : kStreams) {
    format::StreamCounters& counters = file.counters(stream);
    counters.points += 8, counters.committed += 8, counters.candidates += 40;
    counters.candidate_bytes = 6 * kCounted;
    if (!IsTwice(cut)) continue;
    counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)] = 4;
    counters.lost_weight[static_cast<size_t>(format::LossReason::kWriteFailed)] = 1.2 * kCounted;
    counters.second_stage = 1;
    lost.push_back({2, 10, kCounted, 5, 0, 0, stream});
  }
  if (cut == Cut::kKilledOnFullDisk || cut == Cut::kKilledOnFullDiskTwice) {
    return file.AddProvisional(lost, 6 * kSecond);
  }
  for (const format::Interval& interval : lost) file.Add(interval);
  file.Flush({}, 6 * kSecond);
}

// What the commands say of a recording's bytes and objects, in all and by class.
json Estimates(const std::string& path) {
  const json summary = Summary(path);
  json all = {{"summary", summary["estimates"]}, {"lost", summary["losses"]["lost"]["write_failed"]}};
  const json top = json::parse(Heaprec("top --json --by class " + path).out);
  for (const json& row : top["tables"][0]["rows"]) {
    all[row["name"].get<std::string>()] = {row["bytes"], row["objects"], row["share"]};
  }
  return all;
}

// Their numbers are the same but for what rounding leaves.
void CheckSame(const json& one, const json& other) {
  const json flat = one.flatten(), beside = other.flatten();
  REQUIRE(flat.size() == beside.size());
  for (const auto& [key, value] : flat.items()) {
    CAPTURE(key, value.dump(), beside[key].dump());
    if (value.is_number()) {
      CHECK(beside[key].get<double>() == Approx(value.get<double>()).epsilon(1e-9));
    } else {
      CHECK(beside[key] == value);
    }
  }
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

TEST_CASE("a span has the events of the whole that are in it, at their own time of day") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", part = directory / "part.bin";
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

TEST_CASE("spans that share a border of intervals have estimates that add up to the whole's") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", early = directory / "early.bin", late = directory / "late.bin";
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

TEST_CASE("parts that overlap are counted twice, and a line says so") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", early = directory / "early.bin", late = directory / "late.bin";
  WriteSeconds(whole, HeaderOf(1));
  CHECK(Heaprec("trim --to 3s -o " + early + " " + whole).code == 0);
  CHECK(Heaprec("trim --from 1500ms -o " + late + " " + whole).code == 0);
  CHECK(Heaprec("top " + early + " " + late)
            .err.find("hold the same 1.500 s of one recording, which are counted twice\n") != std::string::npos);
  CHECK(Heaprec("trim -f --from 3s -o " + late + " " + whole).code == 0);
  CHECK(Heaprec("top " + early + " " + late).err.find("twice") == std::string::npos);
}

TEST_CASE("an interval that a border cuts counts nothing, and its samples stand for themselves") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", part = directory / "part.bin";
  WriteSeconds(whole, HeaderOf(1));
  CHECK(Heaprec("trim --from 500ms --to 2s -o " + part + " " + whole).code == 0);
  const json summary = Summary(part);
  CHECK(summary["allocated_bytes"] == 4800);                               // of the second one
  CHECK(summary["estimates"]["bytes_uncalibrated"]["value"] == 3 * 2400);  // of all three samples
  CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(3 * 2400));
}

// Checks that the copy made by each command has the same estimates, and that verify accepts it.
void CheckCopies(const std::string& recording, const std::string& copy, std::initializer_list<const char*> commands) {
  const json expected = Estimates(recording);
  for (const char* const command : commands) {
    CAPTURE(command);
    CHECK(Heaprec(std::string(command) + " -q -f -o " + copy + " " + recording).code == 0);
    CheckSame(expected, Estimates(copy));
    const auto verified = Heaprec("verify " + copy);
    CHECK(verified.err.empty());
    CHECK(verified.code == 0);
  }
}

TEST_CASE("what an outage lost counts once in a copy: its estimates are those of the whole") {
  for (const Left left : {Left::kAll, Left::kJoined, Left::kNone}) {
    CAPTURE(static_cast<int>(left));
    const Directory directory;
    const std::string whole = directory / "rec.bin", copy = directory / "copy.bin";
    WriteOutage(whole, left);
    const json expected = Estimates(whole);
    CHECK(expected["summary"]["bytes"]["value"].get<double>() == Approx(7 * kCounted));
    // Counted bytes over the bytes that samples and losses represent, whether the rows remain or not.
    const double factor = 7 * kCounted / (5 * 46'000 + kLostWeight);
    CHECK(expected["p.Odd"][0]["value"].get<double>() == Approx(factor * 2 * 46'000));
    CheckCopies(whole, copy, {"trim", "trim --from 0s --to 7s", "recover"});
  }
}

TEST_CASE("spans of an outage have what was lost in each of them") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", part = directory / "part.bin";
  WriteOutage(whole, Left::kAll);
  double bytes = 0, weight = 0;
  uint64_t points = 0;
  for (const auto& [from, to] : {std::pair(0, 3), {3, 4}, {4, 7}}) {
    CAPTURE(from);
    const std::string span = " --from " + std::to_string(from) + "s --to " + std::to_string(to) + "s ";
    CHECK(Heaprec("trim -q -f" + span + "-o " + part + " " + whole).code == 0);
    CHECK(Heaprec("verify " + part).code == 0);
    const json summary = Summary(part);
    CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx((to - from) * kCounted));
    bytes += summary["estimates"]["bytes"]["value"].get<double>();
    const json& lost = summary["losses"]["lost"];
    if (from == 4) {
      CHECK(lost["write_failed"]["points"] == 0);
      CHECK(summary["trustworthy"] == true);
      continue;
    }
    points += lost["write_failed"]["points"].get<uint64_t>();
    weight += lost["write_failed"]["bytes"].get<double>();
  }
  CHECK(bytes == Approx(7 * kCounted));
  CHECK(points == kLostPoints);
  CHECK(weight == Approx(kLostWeight));
}

TEST_CASE("a row of several lost intervals that a border cuts is left out with what it lost") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", part = directory / "part.bin";
  WriteOutage(whole, Left::kJoined);
  CHECK(Heaprec("trim -q --from 3s -o " + part + " " + whole).code == 0);
  const json summary = Summary(part);
  CHECK(summary["allocated_bytes"] == 3 * kCounted);
  CHECK(summary["losses"]["lost"]["write_failed"]["points"] == 0);
  CHECK(Heaprec("verify " + part).code == 0);
}

TEST_CASE("what stood in damaged bytes and what an outage lost are two losses") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", copy = directory / "copy.bin";
  // The block with the outage's rows, and the one before it. Of that and of what is counted until the next block the
  // samples that are there, and the outage's weight, are no new loss.
  for (const auto& [block, counted] : {std::pair(2, 4 * kCounted), std::pair(1, 4 * kCounted)}) {
    CAPTURE(block);
    std::filesystem::remove(whole);
    const std::vector<size_t> ends = WriteOutage(whole, Left::kAll);
    // Further apart than parity can repair.
    std::string bytes = Contents(whole);
    bytes[ends[block] - 3] ^= 1, bytes[ends[block] - 60] ^= 1;
    Overwrite(whole, bytes);
    CHECK(Heaprec("recover -q -f -o " + copy + " " + whole).code == 4);
    CHECK(Heaprec("verify " + copy).code == 0);
    const json summary = Summary(copy);
    const json& lost = summary["losses"]["lost"]["write_failed"];
    CHECK(lost["points"] == kLostPoints + 2);
    CHECK(lost["bytes"].get<double>() == Approx(counted - 46'000));
    CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(7 * kCounted));
    const auto again = directory / "again.bin";
    CHECK(Heaprec("trim -q -f -o " + again + " " + copy).code == 0);
    CheckSame(Estimates(copy), Estimates(again));
  }
}

TEST_CASE("samples of an outage that only the lost ring had are counted as lost, and every command says so") {
  for (const Cut cut : {Cut::kDiskFull, Cut::kDiskFullTwice, Cut::kKilledOnFullDisk, Cut::kKilledOnFullDiskTwice}) {
    CAPTURE(static_cast<int>(cut));
    const Directory directory;
    const std::string cut_off = directory / "rec.bin", copy = directory / "copy.bin";
    WriteCut(cut_off, cut);
    const json summary = Summary(cut_off);
    CAPTURE(summary["reasons"].dump());
    CHECK(summary["trustworthy"] == false);
    CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(6 * kCounted));
    CHECK(summary["allocated_bytes"] == 6 * kCounted);
    const double lost = IsTwice(cut) ? (3 + 1.2) * kCounted : 4 * kCounted;
    const uint64_t points = IsTwice(cut) ? 7 : 8;
    for (const json& losses : {summary["losses"], summary["losses"]["malloc"]}) {
      CHECK(losses["lost"]["write_failed"]["points"] == points);
      CHECK(losses["lost"]["write_failed"]["bytes"].get<double>() == Approx(lost));
    }
    // No samples of four seconds are left: any class may have allocated those bytes.
    const json top = json::parse(Heaprec("top --json --by class " + cut_off).out);
    CHECK(top["total"]["value"].get<double>() == Approx(6 * kCounted));
    CHECK(top["tables"][0]["rows"][0]["bytes"]["low"].get<double>() < 3 * kCounted);
    CHECK(top["tables"][0]["rows"][0]["bytes"]["high"].get<double>() > 5.99 * kCounted);
    for (const std::string kind : {"", " --kind malloc"}) {
      CAPTURE(kind);
      const auto checked = Heaprec("check" + kind + " --budget 'total<1TiB' " + cut_off);
      CHECK(checked.code == 1);
      CHECK(checked.out.find("281 KiB") != std::string::npos);  // 6 * kCounted
      CHECK(checked.out.find("inconclusive") != std::string::npos);
    }
    // A recorder that ends writes what it had lost before; one that is killed has written nothing since 2.02 s.
    const char* const gap = cut == Cut::kKilledOnFullDiskTwice ? "its last 3.980 s are lost"
                            : IsTwice(cut)                     ? "its last 3.000 s are lost"
                                                               : "its last 4.000 s are lost";
    const auto verified = Heaprec("verify " + cut_off);
    CHECK(verified.code == 0);
    CHECK(verified.out.find(gap) != std::string::npos);
    CHECK(Heaprec("summary -v " + cut_off).out.find(gap) != std::string::npos);
    CheckCopies(cut_off, copy, {"recover", "trim"});
  }
}

TEST_CASE("a kill without an outage loses the ring's samples; the rest is trustworthy") {
  const Directory directory;
  const std::string killed = directory / "rec.bin";
  WriteCut(killed, Cut::kKilled);
  const json summary = Summary(killed);
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(2 * kCounted));
  CHECK(summary["losses"]["lost"]["write_failed"]["points"] == 0);
  CHECK(Heaprec("check --budget 'total<1TiB' " + killed).code == 0);
  CHECK(Heaprec("verify " + killed).out.find("(up to two seconds of samples are lost)") != std::string::npos);
}

TEST_CASE("a copy of a running recording whose ring cannot be seen has lost nothing") {
  const Directory directory;
  const std::string running = directory / "rec.bin", copy = directory / "copy.bin";
  WriteCut(running, Cut::kRunning);
  REQUIRE(Summary(running)["running"] == true);
  REQUIRE(Heaprec("recover -o " + copy + " " + running).code == 0);
  CHECK(Heaprec("verify " + copy).code == 0);
  const json summary = Summary(copy);
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["losses"]["lost"]["killed"]["points"] == 0);
  CHECK(summary["estimates"] == Summary(running)["estimates"]);
}

TEST_CASE("a recording of which a kill took most is not trustworthy") {
  const Directory directory;
  const std::string killed = directory / "rec.bin", copy = directory / "copy.bin";
  RecordingFile file(killed, HeaderOf(1));
  format::StreamCounters& counters = file.counters();
  counters.points = counters.committed = kOpenPoints;
  counters.candidates = 200, counters.candidate_bytes = kOpenBytes;
  file.Flush({}, 700 * kMs);
  REQUIRE(Heaprec("recover -q -o " + copy + " " + killed).code == 0);
  for (const std::string& one : {killed, copy}) {
    const json summary = Summary(one);
    CHECK(summary["trustworthy"] == false);
    CHECK(summary["reasons"].dump().find("the kill lost 70 sample points, which represent 29.3 KiB, 100 %") !=
          std::string::npos);
    CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(kOpenBytes));
    CHECK(Heaprec("check --budget 'total<1KiB' " + one).code == 1);
    CHECK(Heaprec("verify " + one).code == 0);
  }
}

TEST_CASE("points of an open interval that the last block counted are \"killed\" if a kill took the ring") {
  const Directory directory;
  const std::string killed = directory / "rec.bin", copy = directory / "copy.bin";
  const std::string ring = GENERATE(as<std::string>(), "/no/such/folder/heaprec.ring", "");  // "": ring=off
  WriteCut(killed, Cut::kKilledInInterval, ring);
  const json summary = Summary(killed);
  CAPTURE(summary["reasons"].dump());
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(2 * kCounted + kOpenBytes));
  CHECK(summary["allocated_bytes"] == 2 * kCounted + kOpenBytes);
  for (const json& losses : {summary["losses"], summary["losses"]["malloc"]}) {
    CHECK(losses["lost"]["killed"]["points"] == kOpenPoints + kUnderWay);
    CHECK(losses["lost"]["killed"]["bytes"].get<double>() == Approx(kOpenBytes));
    CHECK(losses["lost"]["write_failed"]["points"] == 0);
  }
  CHECK(Heaprec("summary -v " + killed).out.find("the kill lost 73 sample points, which represent 29.3 KiB") !=
        std::string::npos);
  // Any class may have the lost bytes, and budgets are checked against that upper end.
  const json top = json::parse(Heaprec("top --json --by class " + killed).out);
  CHECK(top["tables"][0]["rows"][0]["bytes"]["high"].get<double>() > 2 * kCounted + 0.99 * kOpenBytes);
  CHECK(Heaprec("check --budget 'total<117KiB' " + killed).code == 1);
  CHECK(Heaprec("verify " + killed).code == 0);
  CheckCopies(killed, copy, {"trim", "recover"});
  CHECK(Summary(copy)["losses"]["lost"]["killed"]["points"] == kOpenPoints + kUnderWay);
  const bool had_ring =
      Heaprec("recover -f -o " + copy + " " + killed).err.find("; its ring is gone: up to two seconds") !=
      std::string::npos;
  CHECK(had_ring == !ring.empty());
}

TEST_CASE("copies of a killed recording with its ring say what it says, though a stream was quiet") {
  const Directory directory;
  const std::string killed = directory / "rec.bin", ring_path = directory / "rec.ring", copy = directory / "copy.bin";
  WriteCut(killed, Cut::kKilled, ring_path);
  format::FileHeader header = HeaderOf(1);
  header.ring_path = ring_path;
  testing::RingFile ring(header);
  const Event event = testing::At(4'500 * kMs);
  ring.Define(0, event);
  ring.Add(0, event);
  format::RingCounters& heap = ring.header().counters;
  heap.written = 4, heap.points = heap.committed = 5;
  heap.candidates = 30, heap.candidate_bytes = 3 * kCounted;
  format::RingCounters& native = ring.header().native.counters;
  native.points = native.committed = native.written = 4;
  native.candidates = 20, native.candidate_bytes = 2 * kCounted;
  ring.WriteTo(ring_path);
  const json summary = Summary(killed);
  CAPTURE(summary["reasons"].dump());
  REQUIRE(summary["losses"]["salvage"]["samples"] == 1);
  REQUIRE(summary["trustworthy"] == true);
  for (const std::string verb : {"redact", "merge", "recover"}) {
    CAPTURE(verb);
    REQUIRE(Heaprec(verb + " -q -f -o " + copy + " " + killed).code == 0);
    const json copied = Summary(copy);
    CAPTURE(copied["reasons"].dump());
    CHECK(copied["trustworthy"] == true);
    CHECK(copied["allocated_bytes"] == summary["allocated_bytes"]);
    CHECK(copied["estimates"]["bytes"] == summary["estimates"]["bytes"]);
    CHECK(copied["losses"]["lost"] == summary["losses"]["lost"]);
    CHECK(Heaprec("verify " + copy).code == 0);
  }
}

TEST_CASE("recordings of several JVMs are kept apart, and their totals added") {
  const Directory directory;
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

TEST_CASE("verify looks at every recording of a merged file") {
  const Directory directory;
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

TEST_CASE("parts of one recording become it again, in whatever order they come, overlapping or not") {
  const Directory directory;
  const std::string whole = directory / "rec.bin", first = directory / "1.bin", second = directory / "2.bin";
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
      Event event = testing::At(second * kSecond + part * kMs);
      event.id = 2 * second + (part > 100 ? 2 : 1);
      event.class_name = "p/Second" + std::to_string(second);
      file.Add(event);
    }
    file.counters().candidates += 5;
    file.counters().candidate_bytes = 4800 * (second + 1);
    file.Add(format::Interval{second, 5, 4800, 2, 2, 0});
    if (second + 1 < to) file.Flush({}, (second + 1) * kSecond);
  }
  file.End(ended, to * kSecond);
}

TEST_CASE("copies of parts that dump and recover made add nothing to a recording, and take nothing away") {
  const Directory directory;
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

TEST_CASE("no name is left in a redacted recording, and the estimates are the same") {
  const Directory directory;
  const std::string rec = directory / "rec.bin", key = directory / "key", out = directory / "out.bin";
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

TEST_CASE("the same key gives the same names, another one others") {
  const Directory directory;
  const std::string rec = directory / "rec.bin", key = directory / "key";
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

TEST_CASE("with patterns only what they find is redacted") {
  const Directory directory;
  const std::string rec = directory / "rec.bin", out = directory / "out.bin";
  WriteSeconds(rec, HeaderOf(1));
  CHECK(Heaprec("redact --pattern 'Basket' --pattern '^java.lang.Thread' -o " + out + " " + rec).code == 0);
  const std::string rows = Rows(out);
  CHECK(Count(rows, "Basket") == 0);
  CHECK(Count(rows, "java.lang.Thread") == 0);
  CHECK(Count(rows, "com.acme.Item[]") == 4);
  CHECK(Count(rows, "acme-worker") == 8);
}

TEST_CASE("trim, merge and redact refuse what they cannot do, and leave nothing behind") {
  const Directory directory;
  const std::string rec = directory / "rec.bin", out = directory / "out.bin";
  WriteSeconds(rec, HeaderOf(1));
  Overwrite(out, "mine");
  Overwrite(directory / "short", "short");
  CHECK(Heaprec("trim -o " + out + " " + rec).code == 6);
  CHECK(Heaprec("merge -f -o " + rec + " " + rec).code == 6);
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

}  // namespace heaprec::tools
