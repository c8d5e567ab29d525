// census from outside: counts and estimates by class, thread and second, what is missing, comparisons, refusals; and
// what becomes of a census in print, verify, recover, trim, and in the ring of a killed process.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using nlohmann::json;

format::FileHeader CensusHeader(format::CensusMode mode = format::CensusMode::kAll) {
  format::FileHeader header = SomeHeader();
  header.census = mode;
  return header;
}

// Three walks in two seconds: 30 strings, 5 nodes, and one array outside of TLABs.
void WriteAll(const std::string& path) {
  RecordingFile file(path, CensusHeader());
  file.AddWalk(kSecond / 2, "main", 1, {{"java/lang/String", 10, 240}, {"p/Node", 5, 160}});
  file.AddWalk(kSecond / 2, "other", 1, {{"java/lang/String", 20, 480}});
  file.Flush();
  file.StartChunk();
  file.AddWalk(3 * kSecond / 2, "main", 1, {{"[B", 1, 1'000'016}});
  file.census().tlabs = 2;
  file.census().tlab_bytes = 880;
  file.census().outside = 1;
  file.census().outside_bytes = 1'000'016;
  file.End("jvm exit", 2 * kSecond);
}

// Writes `walks` equal walks, drawn from 1,000 TLABs with `tlab_bytes` in total; 0: not counted.
void WriteDrawn(const std::string& path, int walks, double weight, uint64_t tlab_bytes) {
  RecordingFile file(path, CensusHeader(format::CensusMode::kDrawn));
  for (int i = 0; i < walks; ++i) {
    file.AddWalk(3 * kSecond / 2, "main", weight, {{"java/lang/String", 10, 240}, {"p/Node", 5, 160}});
  }
  file.census().tlabs = 1000;
  file.census().tlab_bytes = tlab_bytes;
  file.End("jvm exit", 2 * kSecond);
}

json CensusOf(const std::string& arguments) { return Parsed("census --json " + arguments); }
json RowOf(const json& census, const std::string& name) { return RowIn(census["rows"], name); }
double Objects(const json& census, const std::string& name) { return RowOf(census, name)["objects"]["value"]; }
double Bytes(const json& census, const std::string& name) { return RowOf(census, name)["bytes"]["value"]; }

}  // namespace

TEST_CASE_METHOD(Scratch, "With a census of all a filter by class has its exact count, and so have shares of it") {
  {
    RecordingFile file(path, CensusHeader());
    file.Add(format::Window{1, 0, 1e-4});
    const auto add = [&](const std::string& class_name, int samples) {
      for (int i = 0; i < samples; ++i) {
        file.Add(Event{.time_ns = kMs * 10, .class_name = class_name, .size = 100, .weight = 10'000});
      }
    };
    add("p/Often", 60), add("p/Rare", 7), add("p/Rarer", 2);
    file.AddWalk(
        kSecond / 2, "main", 1,
        {{"p/Often", 6'000, 600'000}, {"p/Rare", 250, 50'000}, {"p/Rarer", 200, 40'000}, {"p/Never", 10, 2'000}});
    file.Add(format::Interval{.index = 0, .candidates = 100, .bytes = 692'000, .buffered = 69, .kept = 69});
    file.counters().candidate_bytes = 692'000;
    file.End("jvm exit", kSecond);
  }
  const auto parsed = [](const std::string& arguments) { return json::parse(Heaprec(arguments).out); };
  for (const auto& [filter, bytes, objects] : {std::tuple("p.Rarer", 40'000, 200),
                                               {"p.Rare", 50'000, 250},
                                               {"p.Rare*", 90'000, 450},
                                               {"p.Never", 2'000, 10},
                                               {"p.*", 692'000, 6'460}}) {
    CAPTURE(filter);
    for (const bool of_selection : {false, true}) {
      CAPTURE(of_selection);
      const json top = parsed(std::string("top --by class --json --share-of ") + (of_selection ? "selection" : "all") +
                              " --class '" + filter + "' " + path);
      for (const char* end : {"value", "low", "high"}) {
        CHECK(top["matched"]["bytes"][end] == bytes);
        CHECK(top["matched"]["objects"][end] == objects);
      }
      const double whole = of_selection ? bytes : 692'000.0;
      for (const json& row : top["tables"][0]["rows"]) {
        CHECK(row["share"]["value"].get<double>() == Approx(row["bytes"]["value"].get<double>() / whole));
      }
      // Sites are estimated; of a selection their shares add up.
      const json by_site = parsed(std::string("top --by site --json --share-of ") +
                                  (of_selection ? "selection" : "all") + " --class '" + filter + "' " + path);
      double sum = 0;
      for (const json& row : by_site["tables"][0]["rows"]) {
        const json& share = row["share"];
        CHECK(share["low"] <= share["value"]);
        CHECK(share["value"] <= share["high"]);
        sum += share["value"].get<double>();
      }
      if (of_selection && sum > 0) CHECK(sum == Approx(1));
    }
  }
  // Other filters leave out a part of what was counted.
  const json part = parsed("top --by class --json --class p.Rare --to 0.5s " + path);
  CHECK(part["matched"]["bytes"]["low"] < part["matched"]["bytes"]["high"]);
}

TEST_CASE_METHOD(Scratch, "A census of all is exact, by class, thread and second") {
  WriteAll(path);
  const json by_class = CensusOf(path);
  CHECK(by_class["exact"] == true);
  CHECK(Objects(by_class, "java.lang.String") == 30);
  CHECK(Bytes(by_class, "p.Node") == 160);
  CHECK(Objects(by_class, "byte[]") == 1);
  CHECK(by_class["total"]["objects"]["value"] == 36);
  CHECK(by_class["total"]["bytes"]["low"] == by_class["total"]["bytes"]["high"]);
  CHECK(by_class["rows"][0]["name"] == "byte[]");
  const json by_thread = CensusOf("--by thread " + path);
  CHECK(Bytes(by_thread, "main") == 400 + 1'000'016);
  CHECK(Objects(by_thread, "other") == 20);
  const json by_time = CensusOf("--by time " + path);
  CHECK(Objects(by_time, "     0 s") == 35);
  CHECK(Objects(by_time, "     1 s") == 1);
  CHECK(Objects(CensusOf("--by thread --class String " + path), "main") == 10);
  CHECK(CensusOf("--thread other " + path)["total"]["objects"]["value"] == 20);
  CHECK(CensusOf("--from 1s " + path)["total"]["objects"]["value"] == 1);
  CHECK(CensusOf("--sort objects --limit 1 " + path)["rows"].size() == 1);
  const Outcome text = Heaprec("census " + path);
  CHECK(text.out.find("977 KiB in 36 objects, each counted\n") == 0);
  CHECK(text.out.ends_with("# 3 walks of 2 TLABs and 1 objects outside\n"));
  // The counters are for the whole recording, whatever the filters.
  for (const char* const part : {"--from 1s ", "--to 1s ", "--thread main "}) {
    CHECK_THAT(Heaprec(std::string("census ") + part + path).out,
               EndsWith("\n# in the whole recording: 3 walks of 2 TLABs and 1 objects outside\n"));
  }
  CHECK(Heaprec("verify " + path).code == 0);
}

TEST_CASE_METHOD(Scratch,
                 "A census that is drawn stands for more than it found, with an interval that holds what was found") {
  WriteDrawn(path, 100, 10, 0);
  const json census = CensusOf(path);
  CHECK(census["exact"] == false);
  const json objects = RowOf(census, "java.lang.String")["objects"];
  CHECK(objects["value"] == 10'000);
  // sqrt(100 walks x 10 x 9 x 10^2) = 949
  CHECK(objects["high"].get<double>() == Approx(10'000 + 1.96 * 949).epsilon(0.02));
  CHECK(objects["low"].get<double>() == Approx(10'000 - 1.96 * 949).epsilon(0.05));
  // What a walk finds it finds together: (10 + 5)^2, not 10^2 + 5^2.
  const json total = census["total"]["objects"];
  CHECK(total["value"] == 15'000);
  CHECK(total["high"].get<double>() == Approx(15'000 + 1.96 * 1423).epsilon(0.02));
  CHECK(CensusOf("--class /Node/ " + path)["total"]["objects"]["value"] == 5000);
  CHECK(Heaprec("verify " + path).code == 0);
  const std::string once = directory / "once.bin";
  RecordingFile rare(once, CensusHeader(format::CensusMode::kDrawn));
  rare.AddWalk(0, "main", 1000, {{"java/lang/String", 10, 240}});
  rare.End("jvm exit", kSecond);
  CHECK(RowOf(CensusOf(once), "java.lang.String")["objects"]["low"] >= 10);
}

TEST_CASE_METHOD(Scratch, "The bytes of a drawn census are those that the recorder counted, or its walks are too few") {
  WriteDrawn(path, 100, 10, 420'000);
  const json census = CensusOf(path);
  CHECK(census["total"]["bytes"]["value"] == 420'000);
  CHECK(census["total"]["bytes"]["low"] == 420'000);
  // The class has the same share of each walk, so its bytes are as certain as the total.
  const json bytes = RowOf(census, "java.lang.String")["bytes"];
  CHECK(bytes["value"] == Approx(252'000));
  CHECK(bytes["high"].get<double>() - bytes["low"].get<double>() < 0.001 * 252'000);
  CHECK(CensusOf("--class /Node/ " + path)["total"]["bytes"]["value"] == Approx(168'000));
  CHECK_THAT(Heaprec("census " + path).out, StartsWith("410 KiB in 15.8 k (15.7k-15.8k) objects; bytes counted, "
                                                       "objects from 100 walks\n"));
  CHECK(json::parse(Heaprec("summary --json " + path).out)["census"]["bytes"]["high"] == 420'000);

  const std::string light = directory / "light.bin";
  WriteDrawn(light, 3, 1.5, 50'000'000);
  const json ranges = CensusOf(light);
  CHECK(ranges["total"]["bytes"]["low"] == 50'000'000);
  CHECK(RowOf(ranges, "p.Node")["bytes"]["value"].is_null());
  CHECK(RowOf(ranges, "p.Node")["bytes"]["low"] == 480);
  CHECK(RowOf(ranges, "p.Node")["bytes"]["high"] == 50'000'000 - 720);
  CHECK(RowOf(ranges, "p.Node")["objects"]["high"].is_null());
  const std::string text = Heaprec("census " + light).out;
  INFO(text);
  CHECK(text.find("47.7 MiB in at least 45 objects") == 0);
  CHECK(text.find("480 B-47.7 MiB") != std::string::npos);
  CHECK_THAT(text, EndsWith("# too few walks: they estimate 1.8 KiB, the count is 47.7 MiB; rows are ranges\n"
                            "# record longer, or raise N in census=N/s\n"));
}

TEST_CASE_METHOD(Scratch, "A recording in which nothing was walked does not change the counts of the others") {
  const std::string empty = directory / "empty.bin";
  WriteDrawn(path, 100, 10, 420'000);
  for (const format::CensusMode mode : {format::CensusMode::kDrawn, format::CensusMode::kAll}) {
    RecordingFile(empty, CensusHeader(mode)).End("jvm exit", kSecond);
    const json alone = CensusOf(path);
    for (const std::string& both : {path + " " + empty, empty + " " + path}) {
      const json census = CensusOf(both);
      CHECK(census["total"]["bytes"] == alone["total"]["bytes"]);
      CHECK(RowOf(census, "java.lang.String")["bytes"] == RowOf(alone, "java.lang.String")["bytes"]);
    }
  }
  // Killed before its first block, and the ring is gone: what it counted is unknown.
  format::FileHeader header = CensusHeader(format::CensusMode::kDrawn);
  header.ring_path = "/no/such/folder/heaprec.ring";
  const std::string lost = directory / "lost.bin";
  (void)RecordingFile(lost, header);
  CHECK(CensusOf(path + " " + lost)["total"]["bytes"]["low"] < CensusOf(path)["total"]["bytes"]["low"]);
}

TEST_CASE_METHOD(Scratch,
                 "The bytes of a part of a drawn census are estimated: the recorder did not count its candidates") {
  const std::string part = directory / "part.bin";
  WriteDrawn(path, 100, 10, 420'000);
  for (const std::string span : {"--from 1s", "--to 2s", "--from 1s --to 2s"}) {
    INFO(span);
    REQUIRE(Heaprec("trim -f " + span + " -o " + part + " " + path).code == 0);
    const json bytes = CensusOf(part)["total"]["bytes"];
    CHECK(bytes["value"] == 400'000);
    CHECK(bytes["low"] < 400'000);
    const Outcome text = Heaprec("census " + part);
    CHECK_THAT(text.out, Contains(", estimated from 100 walks\n"));
    CHECK_THAT(text.out, EndsWith("\n# 100 walks\n"));
    CHECK(CensusOf(part + " " + path)["total"]["bytes"]["low"] < 800'000);
    CHECK(Heaprec("verify " + part).code == 0);
  }
}

TEST_CASE_METHOD(Scratch, "What is missing in a census is said, and verify finds a census that contradicts itself") {
  RecordingFile file(path, CensusHeader());
  file.AddWalk(0, "main", 1, {{"p/Node", 5, 160}});
  format::CensusCounters& counters = file.census();
  counters.tlabs = 3;
  counters.tlab_bytes = 160 + 64 + 40;
  counters.walks += 1;
  counters.walked_bytes += 40;
  counters.lost = 1;
  counters.lost_bytes = 40;
  counters.aborted = 1;
  counters.aborted_bytes = 64;
  counters.unvisited = 1;
  counters.unvisited_bytes = 1000;
  file.End("jvm exit", kSecond);
  CHECK(Heaprec("verify " + path).code == 0);
  const Outcome text = Heaprec("census " + path);
  CHECK(text.out.find("1 aborted (64 B); 1 lost (40 B); 1 active TLABs at the end not counted (1000 B)") !=
        std::string::npos);
  CHECK(CensusOf(path)["exact"] == false);

  const std::string wrong = directory / "wrong.bin";
  RecordingFile other(wrong, CensusHeader());
  other.AddWalk(0, "main", 1, {{"p/Node", 5, 160}});
  other.census().tlabs = 1;
  other.census().tlab_bytes = 200;
  other.End("jvm exit", kSecond);
  const Outcome verified = Heaprec("verify " + wrong);
  CHECK(verified.code == 1);
  CHECK(verified.err.find("census: 200 bytes due, but 160 walked and 0 not walked") != std::string::npos);
}

TEST_CASE_METHOD(Scratch,
                 "The census of a recording that was cut off is not exact, and what the kill took is counted as lost") {
  const std::string copy = directory / "copy.bin";
  RecordingFile file(path, CensusHeader());
  file.AddWalk(0, "main", 1, {{"p/Node", 5, 160}});
  file.census().tlabs = 3;
  file.census().tlab_bytes = 160 + 40 + 300;
  file.census().walks = 2;
  file.census().walked_bytes = 160 + 40;  // the rows of one walk are not in the file, the third is under way
  file.Flush();
  REQUIRE(Heaprec("recover -q -o " + copy + " " + path).code == 0);
  for (const std::string& one : {path, copy}) {
    INFO(one);
    CHECK(Heaprec("verify " + one).code == 0);
    const Outcome text = Heaprec("census " + one);
    CHECK(text.out.find("each counted") == std::string::npos);
    CHECK_THAT(text.out, EndsWith("; 340 B lost; TLABs in use when the recording was cut off, or copied, are not "
                                  "counted\n"));
    CHECK(CensusOf(one)["exact"] == false);
  }
}

TEST_CASE_METHOD(Scratch, "The census of a damaged recording is not exact, and neither is that of its copy") {
  const std::string copy = directory / "copy.bin";
  RecordingFile file(path, CensusHeader());
  std::vector<size_t> ends;
  for (uint64_t second = 0; second < 3; ++second) {
    file.AddWalk(second * kSecond, "main", 1, {{"p/Node" + std::to_string(second), 5, 160}});
    file.census().tlabs = second + 1;
    file.census().tlab_bytes = (second + 1) * 160;
    file.Flush({}, (second + 1) * kSecond);
    ends.push_back(file.size());
  }
  file.End("jvm exit", 3 * kSecond);
  REQUIRE(CensusOf(path)["exact"] == true);
  std::string bytes = Contents(path);
  bytes.replace(ends[0], ends[1] - ends[0], ends[1] - ends[0], '\0');
  Overwrite(path, bytes);
  REQUIRE(Heaprec("recover -q -o " + copy + " " + path).code == 4);
  CHECK(Heaprec("verify " + copy).code == 0);
  for (const std::string& one : {path, copy}) {
    const json census = json::parse(Heaprec("census --json " + one).out);
    CHECK(census["exact"] == false);
    CHECK(census["total"]["bytes"]["value"] == 2 * 160);
    CHECK(census["recordings"][0]["lost_bytes"] == 160);
  }
}

TEST_CASE_METHOD(Scratch, "Walks whose rows are in the next part are not lost in a copy of the first part") {
  const std::string copy = directory / "copy.bin";
  RecordingFile file(path, CensusHeader());
  file.AddWalk(0, "main", 1, {{"p/Node", 5, 160}});
  file.census().tlabs = 2;
  file.census().tlab_bytes = file.census().walked_bytes = 160 + 40;
  file.census().walks = 2;
  file.End("rotated", kSecond);
  REQUIRE(Heaprec("redact -q -o " + copy + " " + path).code == 0);
  CHECK(CensusOf(copy)["exact"] == true);
  CHECK(CensusOf(copy)["recordings"][0]["lost_bytes"] == 0);
}

TEST_CASE_METHOD(Scratch, "A range in which no second begins has no counts, and census says why") {
  WriteAll(path);
  const std::string note =
      "\n# a census counts whole seconds: none with walks begins in this range; choose a longer one\n";
  CHECK_THAT(Heaprec("census --from 0.2s --to 0.4s " + path).out, EndsWith(note));
  CHECK(Heaprec("census --from 0.2s --to 1.4s " + path).out.find(note) == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "Parts of a recording count on from its start, so what they counted is not added up again") {
  const std::string first = path, second = directory / "rec-1.bin";
  WriteAll(first);
  format::FileHeader header = CensusHeader();
  header.start.part = 1;
  header.start.begin_ns = 2 * kSecond;
  RecordingFile file(second, header);
  file.AddWalk(5 * kSecond / 2, "main", 1, {{"java/lang/String", 100, 2400}});
  file.census().tlabs = 3;
  file.census().tlab_bytes = 3280;
  file.census().outside = 1;
  file.census().outside_bytes = 1'000'016;
  file.census().walks = 4;
  file.End("jvm exit", 3 * kSecond);
  CHECK(Objects(CensusOf(first + " " + second), "java.lang.String") == 130);
  const std::string both = Heaprec("census " + first + " " + second).out, later = Heaprec("census " + second).out;
  INFO(both << later);
  CHECK(both.find("# 4 walks of 3 TLABs and 1 objects outside\n") != std::string::npos);
  CHECK(later.find("# 4 walks of 3 TLABs and 1 objects outside; since the recording began\n") != std::string::npos);
  CHECK(Heaprec("census " + first).out.find("since the recording began") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A census is compared with one before it") {
  const std::string before = directory / "before.bin", after = directory / "after.bin";
  WriteAll(before);
  RecordingFile file(after, CensusHeader());
  file.AddWalk(0, "main", 1, {{"java/lang/String", 50, 1200}, {"p/New", 1, 16}});
  file.census().tlabs = 1;
  file.census().tlab_bytes = 1216;
  file.End("jvm exit", kSecond);
  const json census = CensusOf(after + " --baseline " + before);
  CHECK(RowOf(census, "java.lang.String")["objects_difference"]["value"] == 20);
  CHECK(RowOf(census, "p.Node")["bytes_difference"]["value"] == -160);
  CHECK(RowOf(census, "p.New")["before"]["objects"]["value"] == 0);
  CHECK(census["rows"][0]["name"] == "byte[]");
  const Outcome text = Heaprec("census " + after + " --baseline " + before);
  CHECK(text.out.find("before: 977 KiB in 36 objects, each counted\nafter:  1.19 KiB in 51 objects") == 0);
}

TEST_CASE_METHOD(Scratch, "print shows the rows of a census, and trim and recover keep what they may") {
  WriteAll(path);
  const json printed = json::parse(Heaprec("print --json --kind census --class Node " + path).out);
  REQUIRE(printed["events"].size() == 1);
  CHECK(printed["events"][0]["class"] == "p.Node");
  CHECK(printed["events"][0]["thread"] == "main");
  CHECK(printed["events"][0]["objects"] == 5.0);
  const std::string second = directory / "second.bin", recovered = directory / "recovered.bin";
  REQUIRE(Heaprec("trim --from 1s " + path + " -o " + second).code == 0);
  CHECK(CensusOf(second)["total"]["objects"]["value"] == 1);
  CHECK(Heaprec("verify " + second).code == 0);
  REQUIRE(Heaprec("recover " + path + " -o " + recovered).code == 0);
  CHECK(CensusOf(recovered)["total"]["objects"]["value"] == 36);
  CHECK(CensusOf(recovered)["recordings"][0]["outside"] == 1);
  CHECK(Heaprec("verify " + recovered).code == 0);
}

TEST_CASE_METHOD(Scratch, "What walks found before a kill is in the ring, and what is in the file counts once") {
  const std::string ring_path = directory / "rec.ring";
  format::FileHeader header = CensusHeader();
  header.ring_path = ring_path;
  RecordingFile file(path, header);
  RingFile ring(header);
  ring.AddWalk(1, kSecond / 4, "p/Node", 5, 160);  // the file has it
  ring.AddWalk(2, kSecond / 2, "p/Late", 7, 224);
  file.AddWalk(kSecond / 4, "main", 1, {{"p/Node", 5, 160}});
  file.census().tlabs = 1;
  file.census().tlab_bytes = 160;
  file.SetCensusPage(1);
  file.Flush({0, 0});
  ring.WriteTo(ring_path);
  const json census = CensusOf(path);
  INFO(census.dump());
  CHECK(Objects(census, "p.Node") == 5);
  CHECK(Objects(census, "p.Late") == 7);
}

TEST_CASE_METHOD(Scratch, "What walks found in blocks that were not written is lost in a recovered recording") {
  const std::string clean = directory / "clean.bin";
  RecordingFile file(path, CensusHeader(format::CensusMode::kDrawn));
  file.AddWalk(kSecond / 4, "main", 1, {{"p/Node", 5, 160}});
  file.census().walks += 1;
  file.census().walked_bytes += 1000;
  file.Flush({}, kSecond / 2);
  REQUIRE(Heaprec("recover " + path + " -o " + clean).code == 0);
  const Outcome verified = Heaprec("verify " + clean);
  INFO(verified.out << verified.err);
  CHECK(verified.code == 0);
  CHECK(CensusOf(clean)["recordings"][0]["lost_bytes"] == 1000);
}

TEST_CASE_METHOD(Scratch, "A recording without a census is refused with the way to one") {
  { RecordingFile(path, SomeHeader()).End("jvm exit", kSecond); }
  const Outcome none = Heaprec("census " + path);
  CHECK(none.code == 3);
  CHECK(none.err.find("census=all") != std::string::npos);
  format::FileHeader header = SomeHeader();
  header.census_unavailable_reason = "no symbols of ThreadLocalAllocBuffer";
  std::filesystem::remove(path);  // a recording would follow the other one in it
  { RecordingFile(path, header).End("jvm exit", kSecond); }
  CHECK(Heaprec("census " + path).err.find("no census: no symbols of ThreadLocalAllocBuffer") != std::string::npos);
  CHECK(Heaprec("census --by site " + path).code == 2);
}

TEST_CASE_METHOD(
    Scratch,
    "What was sampled of a class is scaled to what a census counted of it, everywhere but in print and export") {
  RecordingFile file(path, CensusHeader());
  const auto sample = [&](int count, const std::string& class_name, const std::string& site) {
    for (int i = 0; i < count; ++i) file.Add(Event{.time_ns = 1000, .class_name = class_name, .stack = {site + ":7"}});
  };
  sample(30, "java/lang/String", "p/A.text");
  sample(10, "java/lang/String", "p/B.text");
  sample(20, "p/Node", "p/A.node");
  file.AddWalk(kSecond / 2, "main", 1, {{"java/lang/String", 5000, 120'000}, {"p/Node", 1000, 24'000}});
  file.census().tlabs = 1;
  file.census().tlab_bytes = 144'000;
  file.Add(format::Interval{.index = 0, .bytes = 144'000});
  file.End("jvm exit", kSecond);

  const auto bytes_of = [](const std::string& arguments, const std::string& name) {
    const Outcome outcome = Heaprec("top --json " + arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const json document = json::parse(outcome.out);
    return RowOf(document["tables"][0], name)["bytes"];
  };
  for (const std::string& from : {path, "- < " + path}) {
    const json of_class = bytes_of("--by class " + from, "java.lang.String");
    CHECK(of_class["value"] == 120'000);
    CHECK(of_class["low"] == 120'000);
    CHECK(of_class["high"] == 120'000);
  }
  CHECK(bytes_of("--by class --no-census " + path, "java.lang.String")["value"].get<double>() == Approx(96'000));
  CHECK(bytes_of("--by site " + path, "p.B.text")["value"].get<double>() == Approx(30'000));

  CHECK(Heaprec("top " + path).out.find("; adjusted by the census\n") != std::string::npos);
  CHECK(Heaprec("top --no-census " + path).out.find("census") == std::string::npos);
  const json summary = json::parse(Heaprec("summary --json " + path).out);
  CHECK(summary["classes"][0]["bytes"]["low"] == 120'000);
  CHECK(summary["census_adjustment"]["strata"] == 2);
  CHECK(Heaprec("summary " + path).out.find("; adjusted by the census\n") != std::string::npos);
  const json plain = json::parse(Heaprec("summary --json --no-census " + path).out);
  CHECK(plain["classes"][0]["bytes"]["low"] < 120'000);
  CHECK(plain["census_adjustment"].is_null());

  const json pattern = json::parse(Heaprec("top --json --class 'java.lang.*' " + path).out)["matched"]["bytes"];
  CHECK(pattern["value"] == 120'000);
  CHECK(pattern["low"] == 120'000);

  const std::string cut = directory / "cut.bin";
  REQUIRE(Heaprec("trim --to 1s -o " + cut + " " + path).code == 0);
  const std::string both = Heaprec("top " + path + " " + cut).out;
  INFO(both);
  CHECK(both.find("; 1 adjusted by a census; not adjusted by its census: it did not end with this recording") !=
        std::string::npos);
  CHECK(Heaprec("export --format csv " + path).out.find(",2400,") != std::string::npos);
}

}  // namespace heaprec::tools::testing
