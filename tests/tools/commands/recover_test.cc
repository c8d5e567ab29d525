// heaprec recover and verify: what was killed or damaged becomes a clean recording, and what is wrong is named.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

// A block per second, each with an event of a class of its own. Returns where the blocks end.
std::vector<size_t> WriteBlocks(const std::string& path, uint64_t blocks, bool ended) {
  RecordingFile file(path, SomeHeader());
  std::vector<size_t> ends;
  for (uint64_t second = 0; second < blocks; ++second) {
    Event event = At(second * kSecond + kMs);
    event.class_name = "p/C" + std::to_string(second);
    file.Add(event);
    file.Add(format::Interval{second, 1, 2400, 1, 1, 0});
    file.Flush({second * 8});
    ends.push_back(file.size());
  }
  if (ended) file.End("jvm exit", blocks * kSecond);
  return ends;
}

void Flip(const std::string& path, size_t at) {
  std::string bytes = Contents(path);
  bytes.at(at) = static_cast<char>(bytes[at] ^ 0x10);
  Overwrite(path, bytes);
}

std::string EventsOf(const std::string& path) {
  return json::parse(Heaprec("print --json " + path).out)["events"].dump();
}

TEST_CASE_METHOD(Scratch, "A whole recording verifies, and recovering it changes no event and not its ending") {
  WriteSmall(path);
  const Outcome verified = Heaprec("verify " + path);
  CHECK(verified.code == 0);
  CHECK(verified.out == path + ": ok, 3 samples in 1 block, ended: jvm exit\n");
  CHECK(verified.err.empty());
  const Outcome recovered = Heaprec("recover " + path + " -o " + directory / "out.bin");
  CHECK(recovered.code == 0);
  CHECK(EventsOf(directory / "out.bin") == EventsOf(path));
  CHECK(Heaprec("verify " + directory / "out.bin").out ==
        directory / "out.bin" + ": ok, 3 samples in 1 block, ended: jvm exit\n");
}

TEST_CASE_METHOD(Scratch, "A killed recording and its ring become one file that has no need of the ring") {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  std::string ring_path = header.ring_path;
  SECTION("where it was") {}
  SECTION("that the next agent has moved beside the recording") { header.ring_path = "/no/such/folder/rec.ring"; }
  WriteKilled(path, header, ring_path, {1200 * kMs});
  const Outcome recovered = Heaprec("recover --json " + path + " -o " + directory / "out.bin");
  CHECK(recovered.code == 0);
  CHECK(json::parse(recovered.out)["losses"]["salvage"]["samples"] == 1);
  CHECK(json::parse(recovered.out)["was_complete"] == false);
  CHECK(recovered.err == "heaprec: " + directory / "out.bin" + ": 2 samples, 1 of them from the ring\n");
  const std::string events = EventsOf(path);
  // A link to the recording leads to its folder, and what is no plain file of the recording's owner is not read.
  std::filesystem::create_directory(directory / "links");
  std::filesystem::create_symlink(path, directory / "links/rec.bin");
  CHECK(EventsOf(directory / "links/rec.bin") == events);
  std::filesystem::rename(ring_path, directory / "away");
  const std::string without = EventsOf(path);
  CHECK(without != events);
  const Outcome lossy = Heaprec("verify " + path);
  CHECK(lossy.code == 0);
  CHECK(lossy.out.find("cut off, its ring is gone (up to two seconds of samples are lost)") != std::string::npos);
  if (header.ring_path != ring_path) {
    std::filesystem::create_symlink(directory / "away", ring_path);
    CHECK(EventsOf(path) == without);
  }
  CHECK(EventsOf(directory / "out.bin") == events);
  const json verified = json::parse(Heaprec("verify --json " + directory / "out.bin").out)["recordings"][0];
  CHECK(verified["ok"] == true);
  CHECK(verified["state"] == "ended: recovered");
  CHECK(verified["losses"]["salvage"]["ring_found"] == false);
}

TEST_CASE_METHOD(Scratch, "a copy that is cut short does not read the ring a second time") {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  WriteKilled(path, header, header.ring_path, {1200 * kMs, 2200 * kMs});
  REQUIRE(Heaprec("recover -q " + path + " -o " + directory / "out.bin").code == 0);
  const std::string whole = Contents(directory / "out.bin");
  Overwrite(directory / "out.bin", whole.substr(0, whole.size() - 1));
  const json events = json::parse(Heaprec("print --json " + directory / "out.bin").out)["events"];
  CHECK(events.size() == 2);  // what the file's whole blocks have
}

// A young recording of one thread whose ring has counted more points than it has samples of.
Outcome RecoverWithExcess(const Directory& directory, uint64_t points) {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  const RecordingFile young(directory / "rec.bin", header);
  RingFile ring(header);
  Event event = At(200 * kMs);
  event.id = 77;
  ring.Define(0, event);
  ring.Add(0, event);
  ring.header().counters.points += points;
  ring.WriteTo(header.ring_path);
  CHECK(Heaprec("recover " + directory / "rec.bin" + " -o " + directory / "out.bin").code == 0);
  return Heaprec("verify --json " + directory / "out.bin");
}

// A kill right behind a flush, or a disk that stayed full: its last block says when it was written.
TEST_CASE_METHOD(Scratch,
                 "What the ring has may be older than the file's last flush, and the recovered file verifies") {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  WriteKilled(path, header, header.ring_path, {1200 * kMs}, 1500 * kMs);
  REQUIRE(Heaprec("recover -q " + path + " -o " + directory / "out.bin").code == 0);
  const Outcome verified = Heaprec("verify " + directory / "out.bin");
  INFO(verified.err);
  CHECK(verified.code == 0);
  CHECK(EventsOf(directory / "out.bin") == EventsOf(path));
}

TEST_CASE_METHOD(Scratch, "Points that a kill met under way are lost by name, and the recovered file verifies") {
  const Outcome verified = RecoverWithExcess(directory, 257);
  INFO(verified.out);
  CHECK(verified.code == 0);
  CHECK(json::parse(verified.out)["recordings"][0]["losses"]["lost"]["killed"]["points"] == 257);
  CHECK(Heaprec("summary " + directory / "out.bin").out.find("the kill lost 257 sample points") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "More points than threads can have had under way are wrong counters, not what a kill lost") {
  const Outcome verified = RecoverWithExcess(directory, 258);
  CHECK(verified.code == 1);
  CHECK(verified.err.find("259 points, but 1 committed + 0 thinned + 257 lost") != std::string::npos);
  const Outcome killed = Heaprec("verify " + path);
  CHECK(killed.code == 1);
  CHECK(killed.err.find("259 points, but 1 committed + 0 thinned + 257 lost") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "What stood in damaged bytes is counted as lost in the recovered file, which is clean") {
  const std::vector<size_t> ends = WriteBlocks(path, 5, /*ended=*/true);
  // Further apart than parity of so short a recording can repair.
  Flip(path, ends[2] - 3);
  Flip(path, ends[2] - 60);
  const Outcome verified = Heaprec("verify " + path);
  CHECK(verified.code == 4);
  CHECK(verified.err.find("offset " + std::to_string(ends[1]) + ": block payload hash differs") != std::string::npos);
  CHECK(Heaprec("print " + path).out.find("p.C4") != std::string::npos);
  const Outcome recovered = Heaprec("recover " + path + " -o " + directory / "out.bin");
  CHECK(recovered.code == 4);
  CHECK(recovered.err.find("4 samples; 1 lost in damaged bytes") != std::string::npos);
  CHECK(EventsOf(directory / "out.bin") == EventsOf(path));
  const Outcome clean = Heaprec("verify " + directory / "out.bin");
  CHECK(clean.code == 0);
  CHECK(clean.err.empty());
  const json lost =
      json::parse(Heaprec("summary --json " + directory / "out.bin").out)["losses"]["lost"]["write_failed"];
  CHECK(lost["points"] == 1);
  CHECK(lost["bytes"] == 2400.0);
}

TEST_CASE_METHOD(
    Scratch, "A copy of a damaged recording is no more trustworthy than the recording, and neither is a copy of that") {
  const std::string copy = directory / "copy.bin", again = directory / "again.bin";
  bool ended = true, is_cut_out = false;
  SECTION("one that has ended") {}
  SECTION("one that was cut off") { ended = false; }
  SECTION("one out of which data was cut") { is_cut_out = true; }
  const std::vector<size_t> ends = WriteBlocks(path, 60, ended);
  std::string bytes = Contents(path);
  bytes.replace(ends[9], ends[40] - ends[9], is_cut_out ? 0 : ends[40] - ends[9], '\0');
  Overwrite(path, bytes);
  CHECK(Heaprec("summary " + path).out.find("trustworthy: no, because ") != std::string::npos);
  const uint64_t own = json::parse(Heaprec("verify --json " + path).out)["recordings"][0]["skipped_bytes"];
  REQUIRE((own > 0) == !is_cut_out);
  const uint64_t skipped = is_cut_out ? 1 : own;
  const char* const reason = is_cut_out ? "a part of the recording is missing" : " damaged bytes were skipped";
  for (const std::string verb : {"recover", "trim", "merge", "redact"}) {
    INFO(verb);
    const Outcome first = Heaprec(verb + " -q -f -o " + copy + " " + path);
    INFO(first.err);
    CHECK(first.code == 4);
    CHECK(Heaprec(verb + " -q -f -o " + again + " " + copy).code == 0);
    for (const std::string& one : {copy, again}) {
      const Outcome verified = Heaprec("verify --json " + one);
      CHECK(verified.code == 0);
      CHECK(json::parse(verified.out)["recordings"][0]["skipped_bytes"] == skipped);
      const Outcome summary = Heaprec("summary " + one);
      CHECK(summary.code == 0);
      CHECK(summary.out.find("trustworthy: no, because ") != std::string::npos);
      CHECK(summary.out.find(reason) != std::string::npos);
      CHECK(Heaprec("check --budget 'total<1TiB' " + one).code == 1);
    }
  }
}

TEST_CASE_METHOD(Scratch, "The first block of a recording, damaged, costs itself alone") {
  const std::vector<size_t> ends = WriteBlocks(path, 3, /*ended=*/true);
  Flip(path, ends[0] - 3);
  const Outcome printed = Heaprec("print " + path);
  CHECK(printed.code == 4);
  CHECK(printed.out.find("# 2 samples") != std::string::npos);
  CHECK(printed.out.find("p.C1") != std::string::npos);
  CHECK(printed.out.find("[lost]") != std::string::npos);  // its thread stood in the first block
}

TEST_CASE_METHOD(Scratch, "What parity repairs costs nothing, is reported, and is recovered clean") {
  const std::string out = directory / "out.bin";
  const std::vector<size_t> ends = WriteBlocks(path, 80, /*ended=*/true);
  const std::string events = EventsOf(path);
  Flip(path, ends[0] - 3);
  Flip(path, ends[0] + 20);
  const Outcome verified = Heaprec("verify " + path);
  CHECK(verified.code == 4);
  CHECK(verified.out == path + ": damaged, 80 samples in 81 blocks, ended: jvm exit, damaged bytes repaired: 24\n");
  CHECK(verified.err == "heaprec: " + path + ": offset " + std::to_string(ends[0] - 3) +
                            ": block payload hash differs (24 bytes repaired)\n");
  CHECK(EventsOf(path) == events);
  const Outcome summary = Heaprec("summary --json " + path);
  CHECK(summary.code == 4);
  const json summarised = json::parse(summary.out);
  CHECK(summarised["trustworthy"] == true);
  CHECK(summarised["losses"]["skipped"].empty());
  REQUIRE(summarised["losses"]["repaired"].size() == 1);
  CHECK(summarised["losses"]["repaired"][0]["begin"] == ends[0] - 3);
  CHECK(Heaprec("summary " + path).out.find("24 damaged bytes repaired") != std::string::npos);
  const std::string doctor = Heaprec("doctor " + path).out;
  INFO(doctor);
  CHECK(doctor.find("none: the bytes were restored from parity records, and no sample or name is missing") !=
        std::string::npos);
  CHECK(doctor.find("are missing") == std::string::npos);
  const Outcome recovered = Heaprec("recover " + path + " -o " + out);
  CHECK(recovered.code == 4);
  CHECK(recovered.err.find(out + ": 80 samples; 24 damaged bytes repaired\n") != std::string::npos);
  CHECK(Heaprec("verify " + out).code == 0);
  CHECK(EventsOf(out) == events);
}

TEST_CASE_METHOD(Scratch, "A file cut in its first block is not called trustworthy") {
  const std::vector<size_t> ends = WriteBlocks(path, 1, /*ended=*/false);
  Overwrite(path, Contents(path).substr(0, ends[0] - 1));
  const Outcome summary = Heaprec("summary " + path);
  CHECK(summary.out.find("trustworthy: no, because nothing could be read") != std::string::npos);
  CHECK(summary.out.find("bytes of an unfinished block at the end") != std::string::npos);
  const Outcome verified = Heaprec("verify " + path);
  CHECK(verified.code == 1);
  CHECK(verified.err.find("no block could be read") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A recovered copy is not trustworthy if nothing of the original could be read") {
  const std::string out = directory / "out.bin", budget = "check --budget 'total<1GiB' ";
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  bool is_trustworthy = false;
  SECTION("cut in its first block, ring gone") {
    RecordingFile file(path, header);
    file.Add(At(kMs));
    file.Flush({8});
    Overwrite(path, Contents(path).substr(0, file.size() - 1));
  }
  SECTION("its only block damaged") {
    const std::vector<size_t> ends = WriteBlocks(path, 1, /*ended=*/false);
    Flip(path, ends[0] - 3);
    Flip(path, ends[0] - 40);
    Overwrite(path, Contents(path) + std::string(5000, 'x'));
  }
  SECTION("a ring without samples shows that there were none") {
    const RecordingFile file(path, header);
    RingFile(header).WriteTo(header.ring_path);
    is_trustworthy = true;
  }
  CHECK(json::parse(Heaprec("summary --json " + path).out)["trustworthy"] == is_trustworthy);
  CHECK(Heaprec("recover -q " + path + " -o " + out).code != 6);
  std::filesystem::remove(header.ring_path);
  const Outcome verified = Heaprec("verify " + out);
  CHECK(verified.code == 0);
  CHECK(verified.out.find(is_trustworthy ? "ended: recovered" : "ended: nothing recovered") != std::string::npos);
  const json summary = json::parse(Heaprec("summary --json " + out).out);
  CHECK(summary["trustworthy"] == is_trustworthy);
  CHECK((summary["reasons"].dump().find("nothing could be read") == std::string::npos) == is_trustworthy);
  CHECK(Heaprec(budget + out).code == (is_trustworthy ? 0 : 1));
  // If nothing was observed, there is no detection limit.
  CHECK(summary["detection_limit"]["bytes"].is_null());
  CHECK(Heaprec("summary --verbose " + out).out.find("detection limit: unknown, because there are no samples\n") !=
        std::string::npos);
  const json top = json::parse(Heaprec("top --json " + out).out);
  for (const char* what : {"bytes", "objects", "share"}) CHECK(top["detection_limit"][what].is_null());
  CHECK(Heaprec("top " + out).out.find("detection limit: unknown, because there are no samples\n") !=
        std::string::npos);
  const json check = json::parse(Heaprec(budget + "--json --accept-untrustworthy " + out).out);
  CHECK(check["checks"][0]["value"].is_null() == !is_trustworthy);
  CHECK(check["checks"][0]["outcome"] == (is_trustworthy ? "within" : "unknown"));
}

TEST_CASE_METHOD(Scratch, "Counters that contradict the rows are found, with the block's offset") {
  RecordingFile file(path, SomeHeader());
  const size_t header = file.size();
  file.Add(At(kMs));
  file.counters().written += 1;
  file.Add(format::Interval{0, 1, 2400, 5, 2, 0});
  file.Flush();
  file.counters().written -= 2;
  file.Add(format::Interval{0, 1, 2400, 1, 151, 0});
  file.End("jvm exit", kSecond);
  const Outcome verified = Heaprec("verify " + path);
  CHECK(verified.code == 1);
  const auto says = [&verified](const std::string& what) { return verified.err.find(what) != std::string::npos; };
  CHECK(says("offset " + std::to_string(header + 40) + ": "));  // behind the header of its chunk
  CHECK(says("recorder counters say 2 samples written, but the block has 1"));
  CHECK(says("interval 0: 2 samples kept, but the block has 1"));
  CHECK(says("interval 0: follows a later interval"));
  CHECK(says("interval 0: more samples kept than buffered"));
  CHECK(says("interval 0: more samples kept than the cap allows"));
  CHECK(says("a recorder counter decreased"));
}

TEST_CASE_METHOD(Scratch, "Verify looks at all files, and the worst decides") {
  WriteSmall(directory / "good.bin");
  const std::vector<size_t> ends = WriteBlocks(directory / "bad.bin", 2, true);
  Flip(directory / "bad.bin", ends[0] - 3);
  Overwrite(directory / "text", "no recording");
  const std::string good = directory / "good.bin ";
  CHECK(Heaprec("verify " + good + directory / "bad.bin").code == 4);
  CHECK(Heaprec("verify " + good + directory / "text " + directory / "bad.bin").code == 3);
  const json all =
      json::parse(Heaprec("verify --json " + good + directory / "text " + directory / "bad.bin").out)["recordings"];
  REQUIRE(all.size() == 3);
  CHECK(all[0]["ok"] == true);
  CHECK(all[1].contains("error"));
  CHECK(all[2]["losses"]["skipped"][0]["why"] == "block payload hash differs");
}

TEST_CASE_METHOD(Scratch, "Recover reads and writes pipes") {
  WriteSmall(path);
  const Outcome piped = Heaprec("recover -q - -o - < " + path + " | $HEAPREC verify -");
  CHECK(piped.code == 0);
  CHECK(piped.out == "standard input: ok, 3 samples in 1 block, ended: jvm exit\n");
}

// Recordings that are being written, or were cut off: salvage from the ring, print --follow.

format::FileHeader RunningHeader() {
  format::FileHeader header = SomeHeader();
  header.pid = static_cast<uint32_t>(getpid());
  header.start_monotonic_ns = MonotonicNs();
  return header;
}

TEST_CASE_METHOD(Scratch, "A killed recording's ring is shown, with exit 0 and its number in the loss line") {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  WriteKilled(path, header, header.ring_path, {1200 * kMs});
  const Outcome outcome = Heaprec("print " + path);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("16:40:01.200000") != std::string::npos);
  CHECK(outcome.out.find("# 2 samples; 1 salvaged from the ring\n") != std::string::npos);
  const std::string summary = Heaprec("summary --verbose " + path).out;
  CHECK(summary.find("1 sample from the ring\n") != std::string::npos);
  CHECK(summary.find("cut off") != std::string::npos);
  CHECK(summary.find("\ntrustworthy: yes\n") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "print --follow prints blocks as they come and ends when the recording ends") {
  RecordingFile file(path, RunningHeader());
  file.Add(At(kMs));
  file.Flush();
  Outcome outcome;
  std::thread follower([&] { outcome = Heaprec("print --follow " + path + " | tee " + directory / "seen"); });
  const auto wait_for = [&](size_t events) {
    while (Count(Contents(directory / "seen"), "startTime") < events) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  wait_for(1);
  file.Add(At(2 * kMs));
  file.Flush();
  wait_for(2);
  CHECK(Contents(directory / "seen").find("# ") == std::string::npos);
  file.Add(At(3 * kMs));
  file.End("jvm exit", kSecond);
  follower.join();
  CHECK(outcome.code == 0);
  CHECK(Count(outcome.out, "startTime") == 3);
  CHECK(outcome.out.ends_with("# 3 samples\n"));
}

TEST_CASE_METHOD(Scratch, "print --follow ends on SIGINT with the loss line, and at once if the process is gone") {
  format::FileHeader header = RunningHeader();
  RecordingFile(path, header).Flush();
  // Not an asynchronous job of the shell: those ignore SIGINT.
  const Outcome interrupted = Shell("timeout --preserve-status -s INT 1 $HEAPREC print --follow " + path);
  CHECK(interrupted.code == 0);
  CHECK(interrupted.out == "# 0 samples\n");

  header.pid = 0;
  WriteSmall(directory / "dead.bin", header);
  CHECK(Heaprec("print --follow " + directory / "dead.bin")
            .out.ends_with("# 3 samples kept of 4 (rate limit; sums stay unbiased)\n"));
}

TEST_CASE_METHOD(Scratch, "A running recording is shown as far as it is, and summary says that it runs") {
  format::FileHeader header = RunningHeader();
  RecordingFile file(path, header);
  file.Add(At(kMs));
  file.Flush();
  CHECK(Heaprec("print " + path).code == 0);
  const json summary = json::parse(Heaprec("summary --json " + path).out);
  CHECK(summary["running"] == true);
  CHECK(summary["trustworthy"] == true);
  // A process that was started after the recording is another one with the same number.
  header.start_monotonic_ns = 1;
  RecordingFile old(directory / "old.bin", header);
  old.Flush();
  CHECK(json::parse(Heaprec("summary --json " + directory / "old.bin").out)["running"] == false);
}

}  // namespace

}  // namespace heaprec::tools::testing
