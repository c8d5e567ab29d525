// Samples that an outage or a kill lost, in the recording and in its copies.
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

json Summary(const std::string& path) { return json::parse(Heaprec("summary --json " + path).out); }

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
      Event event = At(second * kSecond + part * kMs);
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
    header.start_monotonic_ns = MonotonicNs();
  }
  RecordingFile file(path, header);
  constexpr std::array kStreams{format::Stream::kAllocations, format::Stream::kNative};
  file.Add(format::Window{1, 0, 4e-5});
  file.Add(format::Window{format::kNativeWindowBit + 1, 0, 4e-5});
  for (uint64_t second = 0; second < 2; ++second) {
    for (const uint64_t part : {100, 700}) {
      Event event = At(second * kSecond + part * kMs);
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

// Checks that the numbers are the same, except for rounding.
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

}  // namespace

TEST_CASE("Losses of an outage count once in a copy, whose estimates equal the whole recording's") {
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

TEST_CASE_METHOD(Scratch, "spans of an outage have what was lost in each of them") {
  const std::string whole = path, part = directory / "part.bin";
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

TEST_CASE_METHOD(Scratch, "a row of several lost intervals that a border cuts is left out with what it lost") {
  const std::string whole = path, part = directory / "part.bin";
  WriteOutage(whole, Left::kJoined);
  CHECK(Heaprec("trim -q --from 3s -o " + part + " " + whole).code == 0);
  const json summary = Summary(part);
  CHECK(summary["allocated_bytes"] == 3 * kCounted);
  CHECK(summary["losses"]["lost"]["write_failed"]["points"] == 0);
  CHECK(Heaprec("verify " + part).code == 0);
}

TEST_CASE_METHOD(Scratch, "what stood in damaged bytes and what an outage lost are two losses") {
  const std::string whole = path, copy = directory / "copy.bin";
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

TEST_CASE("Samples of an outage that only the lost ring had are counted as lost, and every command says so") {
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

TEST_CASE_METHOD(Scratch, "a kill without an outage loses the ring's samples; the rest is trustworthy") {
  const std::string killed = path;
  WriteCut(killed, Cut::kKilled);
  const json summary = Summary(killed);
  CHECK(summary["trustworthy"] == true);
  CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(2 * kCounted));
  CHECK(summary["losses"]["lost"]["write_failed"]["points"] == 0);
  CHECK(Heaprec("check --budget 'total<1TiB' " + killed).code == 0);
  CHECK(Heaprec("verify " + killed).out.find("(up to two seconds of samples are lost)") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "a copy of a running recording whose ring cannot be seen has lost nothing") {
  const std::string running = path, copy = directory / "copy.bin";
  WriteCut(running, Cut::kRunning);
  REQUIRE(Summary(running)["running"] == true);
  for (const std::string verb : {"recover", "redact", "merge"}) {
    CAPTURE(verb);
    REQUIRE(Heaprec(verb + " -q -f -o " + copy + " " + running).code == 0);
    CHECK(Heaprec("verify " + copy).code == 0);
    const json summary = Summary(copy);
    CHECK(summary["ended"] == "dump");
    CHECK(summary["trustworthy"] == true);
    CHECK(summary["losses"]["lost"]["killed"]["points"] == 0);
    CHECK(summary["estimates"] == Summary(running)["estimates"]);
  }
}

TEST_CASE_METHOD(Scratch, "a kill long after an outage is no kill during it") {
  const std::string killed = path, copy = directory / "copy.bin";
  RecordingFile file(killed, HeaderOf(1));
  format::StreamCounters& counters = file.counters();
  counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)] = 1;
  counters.lost_weight[static_cast<size_t>(format::LossReason::kWriteFailed)] = 1;
  counters.points = counters.committed = 1;
  for (uint64_t second = 0; second < 2; ++second) {
    Event event = At(second * kSecond + 100 * kMs);
    event.weight = kCounted;
    file.Add(event);
    file.Add(format::Interval{second, 10, kCounted, 1, 1, 0});
    counters.candidates += 10, counters.candidate_bytes += kCounted;
    file.Flush({}, (second + 1) * kSecond);
  }
  REQUIRE(Summary(killed)["ended"] == "cut off");
  for (const std::string verb : {"", "redact", "merge", "trim", "recover"}) {
    CAPTURE(verb);
    if (!verb.empty()) REQUIRE(Heaprec(verb + " -q -f -o " + copy + " " + killed).code == 0);
    const json summary = Summary(verb.empty() ? killed : copy);
    CAPTURE(summary["reasons"].dump());
    CHECK(summary["trustworthy"] == true);
    CHECK(summary["losses"]["lost"]["write_failed"]["points"] == 1);
    if (!verb.empty()) CHECK(summary["ended"] == "recovered");
  }
}

TEST_CASE_METHOD(Scratch, "a recording of which a kill took most is not trustworthy") {
  const std::string killed = path, copy = directory / "copy.bin";
  RecordingFile file(killed, HeaderOf(1));
  format::StreamCounters& counters = file.counters();
  counters.points = counters.committed = kOpenPoints;
  counters.candidates = 200, counters.candidate_bytes = kOpenBytes;
  file.Flush({}, 700 * kMs);
  REQUIRE(Heaprec("recover -q -o " + copy + " " + killed).code == 0);
  for (const std::string& one : {killed, copy}) {
    const json summary = Summary(one);
    CHECK(summary["trustworthy"] == false);
    CHECK(summary["reasons"].dump().find("the kill lost 70 sample points, representing 29.3 KiB, 100 %") !=
          std::string::npos);
    CHECK(summary["estimates"]["bytes"]["value"].get<double>() == Approx(kOpenBytes));
    CHECK(Heaprec("check --budget 'total<1KiB' " + one).code == 1);
    const Outcome verified = Heaprec("verify " + one);
    CHECK(verified.code == 0);
    INFO(verified.out);
    CHECK(verified.out.ends_with(", the kill lost 70 sample points\n"));
  }
}

TEST_CASE_METHOD(Scratch,
                 "points of an open interval that the last block counted are \"killed\" if a kill took the ring") {
  const std::string killed = path, copy = directory / "copy.bin";
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
  CHECK(Heaprec("summary -v " + killed).out.find("the kill lost 73 sample points, representing 29.3 KiB") !=
        std::string::npos);
  // Any class may have the lost bytes, and budgets are checked against that upper end.
  const json top = json::parse(Heaprec("top --json --by class " + killed).out);
  CHECK(top["tables"][0]["rows"][0]["bytes"]["high"].get<double>() > 2 * kCounted + 0.99 * kOpenBytes);
  CHECK(Heaprec("check --budget 'total<117KiB' " + killed).code == 1);
  const Outcome verified = Heaprec("verify " + killed);
  CHECK(verified.code == 0);
  INFO(verified.out);
  CHECK(verified.out.ends_with(", the kill lost 73 sample points, native memory: the kill lost 73 sample points\n"));
  CheckCopies(killed, copy, {"trim", "recover"});
  CHECK(Summary(copy)["losses"]["lost"]["killed"]["points"] == kOpenPoints + kUnderWay);
  const bool had_ring =
      Heaprec("recover -f -o " + copy + " " + killed).err.find("; its ring is gone: up to two seconds") !=
      std::string::npos;
  CHECK(had_ring == !ring.empty());
}

TEST_CASE_METHOD(Scratch, "copies of a killed recording with its ring say what it says, though a stream was quiet") {
  const std::string killed = path, ring_path = directory / "rec.ring", copy = directory / "copy.bin";
  WriteCut(killed, Cut::kKilled, ring_path);
  format::FileHeader header = HeaderOf(1);
  header.ring_path = ring_path;
  RingFile ring(header);
  const Event event = At(4'500 * kMs);
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

}  // namespace heaprec::tools::testing
