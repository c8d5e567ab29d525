// What the command makes of tracked objects: lifecycle events and survivors are printed, verified, salvaged and carried
// along.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/live_recording.h"
#include "tools/input/recording.h"

namespace heaprec::tools::testing {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;
using nlohmann::json;

Event Born(uint64_t id, uint64_t time_ns) {
  Event event{.time_ns = time_ns, .class_name = "p/Leak" + std::to_string(id), .id = id};
  return event;
}

// Sample 1 and 2 in the first second, 3 in the second; 1 dies, 2 is released; then a chunk with survivor 3, in which 4
// is born, never tracked.
void WriteLifecycleEvents(const std::string& path, const std::function<void(RecordingFile*)>& more = {}) {
  RecordingFile file(path, LiveHeader());
  file.Add(Born(1, 100 * kMs));
  file.Add(Born(2, 200 * kMs));
  file.Add(format::Interval{0, 5, 4800, 2, 2, 0});
  file.Flush();
  file.Add(Born(3, 1100 * kMs));
  file.Add(format::Interval{1, 5, 2400, 1, 1, 0});
  file.Add(LifecycleEvent{1, 1500 * kMs, LifecycleKind::kDied, 4, 0});
  file.Add(LifecycleEvent{2, 2 * kSecond, LifecycleKind::kEvicted, 5, 9600});
  file.StartChunk();
  file.AddCheckpointSample(Born(3, 1100 * kMs), 9600, 3);
  file.Add(Born(4, 2100 * kMs));
  file.Add(format::Interval{2, 5, 2400, 1, 1, 0});
  file.Add(LifecycleEvent{4, 3 * kSecond, LifecycleKind::kUntracked, 5, 0});
  if (more) more(&file);
  file.End("jvm exit", 4 * kSecond);
}

struct Tracked {
  std::vector<LifecycleEvent> lifecycle_events;
  std::map<uint64_t, std::string> live_checkpoint;  // their classes
  std::map<uint64_t, double> thresholds;
  uint64_t untracked = 0;
};

Tracked Read(const std::string& path) {
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  Tracked tracked;
  while (const auto block = (*recording)->Next()) {
    tracked.lifecycle_events.insert(tracked.lifecycle_events.end(), block->lifecycle_events.begin(),
                                    block->lifecycle_events.end());
    for (const format::CheckpointSample& checkpoint_sample : block->live_checkpoint) {
      tracked.live_checkpoint[checkpoint_sample.sample.id] =
          block->dictionaries->classes.at(checkpoint_sample.sample.class_id);
      tracked.thresholds[checkpoint_sample.sample.id] = checkpoint_sample.threshold;
    }
  }
  tracked.untracked = (*recording)->counters().untracked;
  return tracked;
}

TEST_CASE_METHOD(Scratch, "fates are printed where they are asked for") {
  WriteLifecycleEvents(path);
  CHECK(json::parse(Heaprec("print --json " + path).out)["events"].size() == 4);
  const json printed = json::parse(Heaprec("print --json --kind died,evicted,untracked " + path).out)["events"];
  REQUIRE(printed.size() == 3);
  CHECK((printed[0]["kind"] == "died" && printed[0]["sample"] == 1 && printed[0]["collections"] == 4));
  CHECK((printed[1]["kind"] == "evicted" && printed[1]["threshold_bytes"] == 9600));
  CHECK((printed[2]["kind"] == "untracked" && printed[2]["sample"] == 4));
  const std::string text = Heaprec("print --kind evicted " + path).out;
  CHECK(Count(text, "heaprec.ObjectLifecycle {") == 1);
  CHECK(Count(text, "kind = evicted") == 1);
  CHECK(json::parse(Heaprec("print --json --kind died --class p.Leak1 " + path).out)["events"].empty());
}

TEST_CASE_METHOD(Scratch, "fates that cannot be are found") {
  const std::string right = directory / "right.bin", wrong = directory / "wrong.bin";
  WriteLifecycleEvents(right);
  CHECK(Heaprec("verify " + right).code == 0);
  const auto [what, add] = GENERATE(table<std::string, std::function<void(RecordingFile*)>>({
      {"of sample 1: not tracked", [](RecordingFile* file) { file->Add(LifecycleEvent{1, 3 * kSecond, LifecycleKind::kDied, 9, 0}); }},
      {"of sample 77: not tracked",
       [](RecordingFile* file) { file->Add(LifecycleEvent{77, 3 * kSecond, LifecycleKind::kDied, 9, 0}); }},
      {"earlier than the previous one", [](RecordingFile* file) { file->Add(LifecycleEvent{3, kSecond, LifecycleKind::kDied, 9, 0}); }},
      {"invalid threshold",
       [](RecordingFile* file) { file->Add(LifecycleEvent{3, 3 * kSecond, LifecycleKind::kEvicted, 9, 0}); }},
      {"its samples are not the live ones", [](RecordingFile* file) { file->AddCheckpointSample(Born(1, 100 * kMs)); }},
      {"live checkpoint after the first", [](RecordingFile* file) {
         file->Flush();
         file->AddCheckpointSample(Born(3, 1100 * kMs));
       }},
      {"say 2 samples not tracked", [](RecordingFile* file) { ++file->counters().untracked; }},
  }));
  WriteLifecycleEvents(wrong, add);
  const Outcome found = Heaprec("verify " + wrong);
  CAPTURE(found.out, found.err);
  CHECK(found.code == 1);
  CHECK(Count(found.out + found.err, what) == 1);
}

TEST_CASE_METHOD(Scratch, "whoever writes a recording anew takes fates and survivors along") {
  const std::string out = directory / "out.bin";
  WriteLifecycleEvents(path);
  const Tracked given = Read(path);
  REQUIRE((given.lifecycle_events.size() == 3 && given.live_checkpoint.size() == 1 && given.untracked == 1));
  const std::string command =
      GENERATE("merge -o OUT", "recover -o OUT", "trim -o OUT", "redact --pattern nothing -o OUT");
  CAPTURE(command);
  REQUIRE(Heaprec(std::string(command).replace(command.find("OUT"), 3, out) + " " + path).code == 0);
  const Tracked read = Read(out);
  CHECK(read.lifecycle_events == given.lifecycle_events);
  CHECK(read.live_checkpoint == given.live_checkpoint);
  CHECK(read.thresholds == given.thresholds);
  CHECK(read.untracked == 1);
  CHECK(Heaprec("verify " + out).code == 0);
}

TEST_CASE_METHOD(Scratch, "names of survivors are redacted") {
  WriteLifecycleEvents(path);
  REQUIRE(Heaprec("redact -o " + (directory / "out.bin") + " " + path).code == 0);
  CHECK(Read(directory / "out.bin").live_checkpoint.at(3).find("Leak") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "a span begins with those who are alive then, and has the fates of its own samples only") {
  const std::string out = directory / "out.bin";
  WriteLifecycleEvents(path);
  SECTION("in the first chunk") {
    REQUIRE(Heaprec("trim --from 1s -o " + out + " " + path).code == 0);
    const Tracked read = Read(out);
    CHECK(read.live_checkpoint == std::map<uint64_t, std::string>{{1, "p/Leak1"}, {2, "p/Leak2"}, {3, "p/Leak3"}});
    REQUIRE(read.lifecycle_events.size() == 3);
    CHECK(read.lifecycle_events[0] == LifecycleEvent{1, 500 * kMs, LifecycleKind::kDied, 4, 0});
  }
  SECTION("between the fates: a release counts for those who were born before") {
    REQUIRE(Heaprec("trim --from 2100ms -o " + out + " " + path).code == 0);
    const Tracked read = Read(out);
    CHECK(read.live_checkpoint == std::map<uint64_t, std::string>{{3, "p/Leak3"}});
    CHECK(read.thresholds.at(3) == 9600);
    CHECK(read.lifecycle_events.size() == 1);
  }
  CHECK(Heaprec("verify " + out).code == 0);
}

TEST_CASE_METHOD(Scratch, "a span whose first block has only a census begins with those who are alive then") {
  format::FileHeader header = LiveHeader();
  header.census = format::CensusMode::kAll;
  {
    RecordingFile file(path, header);
    file.Add(Born(1, 100 * kMs));
    file.Add(format::Interval{0, 5, 2400, 1, 1, 0});
    file.Flush();
    file.AddWalk(3 * kSecond / 2, "main", 1, {{"p/Node", 5, 160}});
    file.Flush();
    file.Add(Born(2, 2100 * kMs));
    file.Add(format::Interval{2, 5, 2400, 1, 1, 0});
    file.End("jvm exit", 4 * kSecond);
  }
  const std::string out = directory / "out.bin";
  REQUIRE(Heaprec("trim --from 1s -o " + out + " " + path).code == 0);
  CHECK(Read(out).live_checkpoint == std::map<uint64_t, std::string>{{1, "p/Leak1"}});
  const auto verified = Heaprec("verify " + out);
  CAPTURE(verified.out);
  CHECK(verified.out.find("live checkpoint after") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "a span of a later part begins with those that were live when the part began") {
  const std::string out = directory / "out.bin";
  {
    format::FileHeader header = LiveHeader();
    header.start.part = 1;
    header.start.begin_ns = kSecond;
    header.start.next_interval[format::Stream::kAllocations] = 1;
    RecordingFile file(path, header);
    file.AddCheckpointSample(Born(1, 100 * kMs), 9600, 3);
    file.Add(Born(2, 1100 * kMs));
    file.Add(format::Interval{1, 5, 2400, 1, 1, 0});
    file.Add(LifecycleEvent{1, 1500 * kMs, LifecycleKind::kDied, 4, 0});
    file.End("jvm exit", 2 * kSecond);
  }
  for (const std::string span : {"", "--from 0s ", "--to 1800ms ", "--from 1s "}) {
    CAPTURE(span);
    REQUIRE(Heaprec("trim -q -f " + span + "-o " + out + " " + path).code == 0);
    const Tracked part = Read(out);
    CHECK(part.live_checkpoint == std::map<uint64_t, std::string>{{1, "p/Leak1"}});
    CHECK(part.lifecycle_events == std::vector{LifecycleEvent{1, 500 * kMs, LifecycleKind::kDied, 4, 0}});
    CHECK(Heaprec("verify " + out).code == 0);
  }
}

TEST_CASE_METHOD(Scratch, "deaths in the ring count, of samples in the file and in the ring, once") {
  format::FileHeader header = LiveHeader();
  header.ring_path = directory / "rec.ring";
  RecordingFile file(path, header);
  file.Add(Born(1, 100 * kMs));
  file.Add(Born(2, 200 * kMs));
  file.Add(format::Interval{0, 5, 4800, 2, 2, 0});
  file.Add(LifecycleEvent{1, 900 * kMs, LifecycleKind::kDied, 0, 0});
  file.Flush({0, 0});
  RingFile ring(header);
  for (uint64_t id = 3; id <= 5; ++id) {
    Event event = Born(id, 1100 * kMs);
    event.tracking_index = id == 5 ? 0 : 7;
    ring.Define(0, event);
    ring.Add(0, event);
  }
  ring.AddDeath(1, 1, 900 * kMs);  // in the file already
  ring.AddDeath(1, 2, 1200 * kMs, 3);
  ring.AddDeath(1, 3, 1300 * kMs, 4);
  ring.AddDeath(1, 3, 1350 * kMs, 4);
  ring.AddDeath(1, 99, 1400 * kMs, 5);  // of a sample that was not kept
  ring.header().counters.points += 2;
  ring.header().counters.committed += 2;
  ring.header().counters.candidate_bytes = 20'000;
  ring.WriteTo(header.ring_path);
  const Tracked read = Read(path);
  REQUIRE(read.lifecycle_events.size() == 4);
  CHECK(read.lifecycle_events[0].sample == 1);
  std::map<uint64_t, LifecycleEvent> salvaged;
  for (size_t i = 1; i < 4; ++i) salvaged[read.lifecycle_events[i].sample] = read.lifecycle_events[i];
  CHECK(salvaged[2] == LifecycleEvent{2, 1200 * kMs, LifecycleKind::kDied, 3, 0});
  CHECK(salvaged[3] == LifecycleEvent{3, 1300 * kMs, LifecycleKind::kDied, 4, 0});
  CHECK(salvaged[5].kind == LifecycleKind::kUntracked);
  CHECK(read.untracked == 1);
  const Outcome verified = Heaprec("verify " + path);
  INFO(verified.out << verified.err);
  CHECK(verified.code == 0);

  // What the ring held has no checkpoint. Sample 2 was alive at 1 s all the same, and dies.
  const std::string copy = directory / "copy.bin", cut = directory / "cut.bin";
  REQUIRE(Heaprec("recover -q -o " + copy + " " + path).code == 0);
  for (const std::string& whole : {path, copy}) {
    CAPTURE(whole);
    REQUIRE(Heaprec("trim -q -f --from 1s -o " + cut + " " + whole).code == 0);
    const Tracked part = Read(cut);
    CHECK(part.live_checkpoint == std::map<uint64_t, std::string>{{2, "p/Leak2"}});
    REQUIRE(part.lifecycle_events.size() == 3);
    const LifecycleEvent death{2, 200 * kMs, LifecycleKind::kDied, 3, 0};
    CHECK(std::ranges::count(part.lifecycle_events, death) == 1);
    CHECK(Heaprec("verify " + cut).code == 0);
  }
}

}  // namespace
}  // namespace heaprec::tools::testing
