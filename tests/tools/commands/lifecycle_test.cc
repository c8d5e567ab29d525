// What the command makes of followed objects: fates and survivors are printed, verified, salvaged and carried along.
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/small_recording.h"
#include "tools/input/recording.h"

namespace heaprec::tools {
namespace {

using format::Fate;
using format::FateKind;
using nlohmann::json;
using testing::Directory;
using testing::Event;
using testing::Heaprec;
using testing::kMs;
using testing::kSecond;
using testing::RecordingFile;
using testing::RingFile;

format::FileHeader Following() {
  format::FileHeader header = testing::SomeHeader();
  header.live_bound = 4096;
  return header;
}

Event Born(uint64_t id, uint64_t time_ns) {
  Event event = testing::At(time_ns);
  event.id = id;
  event.class_name = "p/Leak" + std::to_string(id);
  return event;
}

// Sample 1 and 2 in the first second, 3 in the second; 1 dies, 2 is released; then a chunk with survivor 3, in which 4
// is born, never followed.
void WriteFates(const std::string& path, const std::function<void(RecordingFile*)>& more = {}) {
  RecordingFile file(path, Following());
  file.Add(Born(1, 100 * kMs));
  file.Add(Born(2, 200 * kMs));
  file.Add(format::Interval{0, 5, 4800, 2, 2, 0});
  file.Flush();
  file.Add(Born(3, 1100 * kMs));
  file.Add(format::Interval{1, 5, 2400, 1, 1, 0});
  file.Add(Fate{1, 1500 * kMs, FateKind::kDied, 4, 0});
  file.Add(Fate{2, 2 * kSecond, FateKind::kReleased, 5, 9600});
  file.StartChunk();
  file.AddSurvivor(Born(3, 1100 * kMs), 9600, 3);
  file.Add(Born(4, 2100 * kMs));
  file.Add(format::Interval{2, 5, 2400, 1, 1, 0});
  file.Add(Fate{4, 3 * kSecond, FateKind::kNotFollowed, 5, 0});
  if (more) more(&file);
  file.End("jvm exit", 4 * kSecond);
}

struct Followed {
  std::vector<Fate> fates;
  std::map<uint64_t, std::string> survivors;  // their classes
  std::map<uint64_t, double> thresholds;
  uint64_t not_followed = 0;
};

Followed Read(const std::string& path) {
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  Followed followed;
  while (const auto block = (*recording)->Next()) {
    followed.fates.insert(followed.fates.end(), block->fates.begin(), block->fates.end());
    for (const format::Survivor& survivor : block->survivors) {
      followed.survivors[survivor.sample.id] = block->dictionaries->classes.at(survivor.sample.class_id);
      followed.thresholds[survivor.sample.id] = survivor.threshold;
    }
  }
  followed.not_followed = (*recording)->books().not_followed;
  return followed;
}

TEST_CASE("fates are printed where they are asked for") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteFates(path);
  CHECK(json::parse(Heaprec("print --json " + path).out)["events"].size() == 4);
  const json printed = json::parse(Heaprec("print --json --kind died,released,not_followed " + path).out)["events"];
  REQUIRE(printed.size() == 3);
  CHECK((printed[0]["kind"] == "died" && printed[0]["sample"] == 1 && printed[0]["collections"] == 4));
  CHECK((printed[1]["kind"] == "released" && printed[1]["threshold_bytes"] == 9600));
  CHECK((printed[2]["kind"] == "not_followed" && printed[2]["sample"] == 4));
  const std::string text = Heaprec("print --kind released " + path).out;
  CHECK(testing::Count(text, "heaprec.ObjectFate {") == 1);
  CHECK(testing::Count(text, "kind = released") == 1);
  CHECK(json::parse(Heaprec("print --json --kind died --class p.Leak1 " + path).out)["events"].empty());
}

TEST_CASE("fates that cannot be are found") {
  const Directory directory;
  const std::string right = directory / "right.bin", wrong = directory / "wrong.bin";
  WriteFates(right);
  CHECK(Heaprec("verify " + right).code == 0);
  const auto [what, add] = GENERATE(table<std::string, std::function<void(RecordingFile*)>>({
      {"of sample 1: not tracked", [](RecordingFile* file) { file->Add(Fate{1, 3 * kSecond, FateKind::kDied, 9, 0}); }},
      {"of sample 77: not tracked",
       [](RecordingFile* file) { file->Add(Fate{77, 3 * kSecond, FateKind::kDied, 9, 0}); }},
      {"earlier than the previous one", [](RecordingFile* file) { file->Add(Fate{3, kSecond, FateKind::kDied, 9, 0}); }},
      {"invalid threshold",
       [](RecordingFile* file) { file->Add(Fate{3, 3 * kSecond, FateKind::kReleased, 9, 0}); }},
      {"its samples are not the live ones", [](RecordingFile* file) { file->AddSurvivor(Born(1, 100 * kMs)); }},
      {"live checkpoint after the first", [](RecordingFile* file) {
         file->Flush();
         file->AddSurvivor(Born(3, 1100 * kMs));
       }},
      {"say 2 samples not tracked", [](RecordingFile* file) { ++file->books().not_followed; }},
  }));
  WriteFates(wrong, add);
  const testing::Outcome found = Heaprec("verify " + wrong);
  CAPTURE(found.out, found.err);
  CHECK(found.code == 1);
  CHECK(testing::Count(found.out + found.err, what) == 1);
}

TEST_CASE("whoever writes a recording anew takes fates and survivors along") {
  const Directory directory;
  const std::string path = directory / "rec.bin", out = directory / "out.bin";
  WriteFates(path);
  const Followed given = Read(path);
  REQUIRE((given.fates.size() == 3 && given.survivors.size() == 1 && given.not_followed == 1));
  const std::string verb = GENERATE("merge -o OUT", "recover -o OUT", "trim -o OUT", "redact --pattern nothing -o OUT");
  CAPTURE(verb);
  REQUIRE(Heaprec(std::string(verb).replace(verb.find("OUT"), 3, out) + " " + path).code == 0);
  const Followed read = Read(out);
  CHECK(read.fates == given.fates);
  CHECK(read.survivors == given.survivors);
  CHECK(read.thresholds == given.thresholds);
  CHECK(read.not_followed == 1);
  CHECK(Heaprec("verify " + out).code == 0);
}

TEST_CASE("names of survivors are redacted") {
  const Directory directory;
  WriteFates(directory / "rec.bin");
  REQUIRE(Heaprec("redact -o " + (directory / "out.bin") + " " + (directory / "rec.bin")).code == 0);
  CHECK(Read(directory / "out.bin").survivors.at(3).find("Leak") == std::string::npos);
}

TEST_CASE("a span begins with those who are alive then, and has the fates of its own samples only") {
  const Directory directory;
  const std::string out = directory / "out.bin";
  WriteFates(directory / "rec.bin");
  SECTION("in the first chunk") {
    REQUIRE(Heaprec("trim --from 1s -o " + out + " " + (directory / "rec.bin")).code == 0);
    const Followed read = Read(out);
    CHECK(read.survivors == std::map<uint64_t, std::string>{{1, "p/Leak1"}, {2, "p/Leak2"}, {3, "p/Leak3"}});
    REQUIRE(read.fates.size() == 3);
    CHECK(read.fates[0] == Fate{1, 500 * kMs, FateKind::kDied, 4, 0});
  }
  SECTION("between the fates: a release counts for those who were born before") {
    REQUIRE(Heaprec("trim --from 2100ms -o " + out + " " + (directory / "rec.bin")).code == 0);
    const Followed read = Read(out);
    CHECK(read.survivors == std::map<uint64_t, std::string>{{3, "p/Leak3"}});
    CHECK(read.thresholds.at(3) == 9600);
    CHECK(read.fates.size() == 1);
  }
  CHECK(Heaprec("verify " + out).code == 0);
}

TEST_CASE("deaths in the ring count, of samples in the file and in the ring, once") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  format::FileHeader header = Following();
  header.ring_path = directory / "rec.ring";
  RecordingFile file(path, header);
  file.Add(Born(1, 100 * kMs));
  file.Add(Born(2, 200 * kMs));
  file.Add(format::Interval{0, 5, 4800, 2, 2, 0});
  file.Add(Fate{1, 900 * kMs, FateKind::kDied, 0, 0});
  file.Flush({0, 0});
  RingFile ring(header);
  for (uint64_t id = 3; id <= 5; ++id) {
    Event event = Born(id, 1100 * kMs);
    event.place = id == 5 ? 0 : 7;
    ring.Define(0, event);
    ring.Add(0, event);
  }
  ring.AddDeath(1, 1, 900 * kMs);  // in the file already
  ring.AddDeath(1, 2, 1200 * kMs, 3);
  ring.AddDeath(1, 3, 1300 * kMs, 4);
  ring.AddDeath(1, 3, 1350 * kMs, 4);
  ring.AddDeath(1, 99, 1400 * kMs, 5);  // of a sample that was not kept
  ring.header().books.points += 2;
  ring.header().books.committed += 2;
  ring.header().books.candidate_bytes = 20'000;
  ring.WriteTo(header.ring_path);
  const Followed read = Read(path);
  REQUIRE(read.fates.size() == 4);
  CHECK(read.fates[0].sample == 1);
  std::map<uint64_t, Fate> salvaged;
  for (size_t i = 1; i < 4; ++i) salvaged[read.fates[i].sample] = read.fates[i];
  CHECK(salvaged[2] == Fate{2, 1200 * kMs, FateKind::kDied, 3, 0});
  CHECK(salvaged[3] == Fate{3, 1300 * kMs, FateKind::kDied, 4, 0});
  CHECK(salvaged[5].kind == FateKind::kNotFollowed);
  CHECK(read.not_followed == 1);
  const testing::Outcome verified = Heaprec("verify " + path);
  INFO(verified.out << verified.err);
  CHECK(verified.code == 0);
}

}  // namespace
}  // namespace heaprec::tools
