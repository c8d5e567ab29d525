// Rows in verify, print and the commands that copy recordings.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "format/reader/chunk_span.h"
#include "tests/tools/small_recording.h"
#include "tools/input/file_source.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

Event PathOf(Event event) {
  event.stack.resize(1);
  return event;
}

// Six seconds of one sample and two points each, a block for every two, two chunks.
void WriteRows(const std::string& path) {
  RecordingFile file(path, HeaderOf(1));
  for (uint64_t second = 0; second < 6; ++second) {
    if (second == 2) file.StartChunk();
    file.Add(format::Window{1, 0, 1e-4});
    Event event{.time_ns = second * kSecond + 500 * kMs,
                .class_name = second % 2 == 0 ? "p/Even" : "com/acme/Odd",
                .stack = {"com/acme/Order.price:7", "java/lang/Thread.run:3"}};
    file.Add(event);
    file.AddPoint(PathOf(event));
    event.class_name = "p/Dropped";
    file.AddPoint(PathOf(event));
    file.counters().candidates += 5;
    ++file.counters().points;
    ++file.counters().committed;
    ++file.counters().second_stage;
    file.Add(format::Interval{second, 5, 4800, 2, 1, 2400});
    if (second == 3) file.Flush({}, 4 * kSecond);
  }
  file.End("jvm exit", 6 * kSecond);
}

json Rows(const std::string& path, const std::string& filters = "") {
  const auto printed = Heaprec("print --kind row --json " + filters + " " + path);
  REQUIRE(printed.code == 0);
  return json::parse(printed.out)["events"];
}

uint64_t Points(const std::string& path, const std::string& filters = "") {
  uint64_t points = 0;
  for (const json& row : Rows(path, filters)) points += row["points"].get<uint64_t>();
  return points;
}

std::set<std::string> Classes(const std::string& path) {
  std::set<std::string> classes;
  for (const json& row : Rows(path)) classes.insert(row["class"].get<std::string>());
  return classes;
}

}  // namespace

TEST_CASE_METHOD(Scratch, "print shows rows if it is asked for them, and filters them by class and site") {
  WriteRows(path);
  const json rows = Rows(path, "--class p.Dropped --limit 1");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["kind"] == "row");
  CHECK(rows[0]["points"] == 2);
  CHECK(rows[0]["seen_bytes"] == 48);
  CHECK(rows[0]["bytes"].get<double>() == Approx(4800).epsilon(1e-3));
  CHECK(rows[0]["objects"].get<double>() == Approx(200).epsilon(3e-3));
  CHECK(rows[0]["bytes_variance"].get<double>() == Approx(2 * 2400 * 2376.0).epsilon(0.05));
  REQUIRE(rows[0]["path"]["frames"].size() == 1);
  CHECK(rows[0]["path"]["frames"][0]["method"] == "com.acme.Order.price");
  CHECK(Points(path) == 12);
  CHECK(Points(path, "--class p.Even") == 3);
  CHECK(Points(path, "--site com.acme.Order.price") == 12);
  CHECK(Points(path, "--site p.Other.site") == 0);
  CHECK(Points(path, "--thread main") == 0);
  CHECK(Heaprec("print --kind row " + path).out.find("heaprec.AllocationRow {") != std::string::npos);
  CHECK(Heaprec("print " + path).out.find("AllocationRow") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "sql has the rows, whose sums are those of top") {
  const std::string golden = "tests/golden/javac.hrec";
  WriteRows(path);
  for (const std::string& command :
       {path, golden, "--class 'com.sun.*' " + golden, "--site p.Other.site " + path, "--from 2s --to 4s " + path}) {
    for (const std::string by : {"class", "site"}) {
      CAPTURE(command, by);
      const json top = json::parse(Heaprec("top --names exact --json --by " + by + " " + command).out);
      const auto asked = Heaprec("sql --json " + command + " 'select " + by +
                                 " as name, sum(points) as points, sum(calibrated_bytes) as bytes, "
                                 "sum(calibrated_objects) as objects from points group by 1'");
      REQUIRE(asked.code == 0);
      std::map<std::string, json> sums;
      for (const json& row : json::parse(asked.out)) sums[row["name"]] = row;
      CHECK(sums.size() == top["tables"][0]["rows"].size());
      for (const json& row : top["tables"][0]["rows"]) {
        const json& sum = sums[row["name"]];
        CHECK(sum["points"] == row["points"]);
        CHECK(sum["bytes"].get<double>() == Approx(row["bytes"]["value"].get<double>()).epsilon(1e-9));
        CHECK(sum["objects"].get<double>() == Approx(row["objects"]["value"].get<double>()).epsilon(1e-9));
      }
    }
  }
  const auto count = [&](const std::string& filter) {
    return Heaprec("sql --csv " + filter + " " + path + " 'select count(*), min(begin), max(end) from points'").out;
  };
  CHECK(count("").ends_with("\n9,0,6\n"));
  CHECK(count("--from 1s").ends_with("\n6,2,6\n"));
  CHECK(count("--thread main").ends_with("\n0,,\n"));
}

TEST_CASE_METHOD(Scratch, "Copies have the rows of what they copy, with the names that they write") {
  const std::string copy = directory / "copy.bin";
  WriteRows(path);
  for (const std::string& command : {"recover " + path + " -o " + copy, "merge -o " + copy + " " + path,
                                     "redact -o " + copy + " " + path, "trim -o " + copy + " " + path}) {
    CAPTURE(command);
    REQUIRE(Heaprec(command).code == 0);
    CHECK(Points(copy) == 12);
    CHECK(Rows(copy).size() == Rows(path).size());
    CHECK(Classes(copy).size() == 3);
    CHECK((Classes(copy) == Classes(path)) == !command.starts_with("redact"));
    CHECK(Heaprec("verify " + copy).code == 0);
    std::filesystem::remove(copy);
  }
}

TEST_CASE_METHOD(Scratch, "trim divides no block that has rows, and says so") {
  const std::string part = directory / "part.bin";
  WriteRows(path);
  const auto whole = Heaprec("trim --from 2s --to 4s -o " + part + " " + path);
  CHECK(whole.err == "heaprec: " + part + ": 2 samples of 1 recording\n");
  CHECK(Points(part) == 4);
  const auto extended = Heaprec("trim -f --from 2500ms --to 3s -o " + part + " " + path);
  CHECK(extended.err ==
        "heaprec: " + part + ": 2 samples of 1 recording; extended to whole blocks: 2.000 s to 4.000 s\n");
  CHECK(Points(part) == 4);
  CHECK(Heaprec("verify " + part).code == 0);
  CHECK(Heaprec("trim -f --from 3s --to 4100ms -o " + part + " " + path).code == 0);
  CHECK(Points(part) == 8);
  CHECK(Heaprec("verify " + part).code == 0);
}

TEST_CASE_METHOD(Scratch, "verify finds rows that do not agree with intervals or samples") {
  const auto findings = [&](double weight, uint64_t points, double point_lambda = 0) {
    {
      RecordingFile file(path, HeaderOf(1));
      file.Add(format::Window{1, 0, 1e-4, point_lambda});
      const Event event = At(500 * kMs);
      file.Add(event);
      Event point = PathOf(event);
      point.weight = weight;
      for (uint64_t i = 0; i < points; ++i) file.AddPoint(point);
      file.Add(format::Interval{0, 5, 2400, 1, 1, 0});
      file.End("jvm exit", kSecond);
    }
    const std::string err = Heaprec("verify " + path).err;
    std::filesystem::remove(path);
    return err;
  };
  CHECK(findings(2400, 1).empty());
  CHECK(findings(2400, 0).empty());  // a recording may have no rows
  CHECK(findings(2400, 2).find("rows: 2 points, but the intervals have 1 point") != std::string::npos);
  CHECK(findings(400, 1, 6e-4).empty());  // the only point was kept by chance
  CHECK(findings(2500, 1).find(" bytes, but the samples represent 2400") != std::string::npos);
}

namespace {

// `seconds` of two points each, of which one is kept, in blocks of two seconds, of which `per_chunk` are a chunk.
void WriteLong(const std::string& path, uint64_t seconds, uint64_t per_chunk, double weight = 2400) {
  RecordingFile file(path, HeaderOf(1));
  for (uint64_t second = 0; second < seconds; ++second) {
    file.Add(format::Window{1, 0, 1e-4});
    Event event{.time_ns = second * kSecond + 500 * kMs,
                .class_name = "p/C" + std::to_string(second % 5),
                .stack = {"com/acme/Order.price:" + std::to_string(second % 3), "java/lang/Thread.run:3"}};
    file.Add(event);
    event.weight = weight;
    file.AddPoint(PathOf(event));
    event.class_name = "p/Dropped";
    file.AddPoint(PathOf(event));
    file.counters().candidates += 5;
    file.counters().candidate_bytes += 4800;
    ++file.counters().points;
    ++file.counters().committed;
    ++file.counters().second_stage;
    file.Add(format::Interval{second, 5, 4800, 2, 1, 2400});
    const uint64_t passed = second + 1;
    if (passed == seconds || passed % 2 != 0) continue;
    if (passed % (2 * per_chunk) == 0) {
      file.StartChunk(passed * kSecond);
    } else {
      file.Flush({}, passed * kSecond);
    }
  }
  file.End("jvm exit", seconds * kSecond);
}

// The chunk at the beginning of a recording.
format::ChunkSpan FirstChunk(const std::string& path) {
  const auto source = std::move(*FileSource::Open(path));
  const auto reader = std::move(*format::Reader::Open(source.get()));
  const auto chunk = format::FindChunk(source.get(), reader->header(), reader->position(), UINT64_MAX);
  REQUIRE(chunk);
  return *chunk;
}

}  // namespace

TEST_CASE_METHOD(Scratch, "Tables read from roll-ups say what blocks say") {
  const std::string one = directory / "one.bin", many = directory / "many.bin";
  WriteLong(one, 40, 100);
  WriteLong(many, 40, 2);
  REQUIRE(FirstChunk(many).roll_up > 0);
  REQUIRE(Heaprec("verify " + many).code == 0);
  for (const std::string question :
       {"--by class", "--by site", "--by site --lines", "--by class --from 6s --to 31s", "--by class --class p.C1"}) {
    CAPTURE(question);
    const json expected = json::parse(Heaprec("top --json " + question + " " + one).out);
    const json found = json::parse(Heaprec("top --json " + question + " " + many).out);
    const json &rows = expected["tables"][0]["rows"], &same = found["tables"][0]["rows"];
    REQUIRE(rows.size() == same.size());
    std::map<std::string, json> of;
    for (const json& row : same) of[row["name"].get<std::string>()] = row;
    for (const json& row : rows) {
      CAPTURE(row["name"]);
      REQUIRE(of.count(row["name"].get<std::string>()) == 1);
      const json& other = of[row["name"].get<std::string>()];
      CHECK(row["points"] == other["points"]);
      for (const char* const value : {"value", "low", "high"}) {
        CHECK(row["bytes"][value].get<double>() == Approx(other["bytes"][value].get<double>()).epsilon(0.01));
      }
    }
    for (const char* const total : {"samples", "points", "matched", "trustworthy"})
      CHECK(expected["scan"][total] == found["scan"][total]);
  }
}

TEST_CASE_METHOD(Scratch, "verify finds a roll-up that is not the sum of its blocks") {
  const std::string other = directory / "other.bin";
  WriteLong(path, 24, 2);
  WriteLong(other, 24, 2, 2600);
  const format::ChunkSpan own = FirstChunk(path), wrong = FirstChunk(other);
  const std::string bytes = Contents(path), others = Contents(other);
  const std::string spliced = directory / "spliced.bin";
  std::ofstream(spliced, std::ios::binary)
      << bytes.substr(0, own.roll_up) << others.substr(wrong.roll_up, wrong.roll_up_end - wrong.roll_up)
      << bytes.substr(own.next);
  const auto verified = Heaprec("verify " + spliced);
  CHECK(verified.code == 1);
  CHECK(verified.err.find("roll-up of chunk 0 against its blocks: other weights") != std::string::npos);
  // Tables have what it says: it is what they read.
  CHECK(Heaprec("top --json --by class " + spliced).out != Heaprec("top --json --by class " + path).out);
  CHECK(json::parse(Heaprec("top --json --by class --no-rows " + spliced).out)["tables"] ==
        json::parse(Heaprec("top --json --by class --no-rows " + path).out)["tables"]);
}

// The weights' parts beyond the sizes are rounding errors of floating-point numbers.
TEST_CASE_METHOD(Scratch, "verify accepts a roll-up of points whose weights hardly exceed their sizes") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> points_per_byte(0.01, 0.1);
  {
    RecordingFile file(path, HeaderOf(1));
    for (uint64_t second = 0; second < 40; ++second) {
      file.Add(format::Window{1, 0, 1e-4});
      Event event = At(second * kSecond + 500 * kMs);
      file.Add(event);
      event = PathOf(event);
      event.size = 1016;
      uint64_t points = 0;
      for (int number = 0; number < 20; ++number) {
        event.class_name = "p/C" + std::to_string(number);
        for (uint64_t left = 1 + random() % 3; left > 0; --left, ++points) {
          event.weight = 1016 / -std::expm1(-1016 * points_per_byte(random));
          file.AddPoint(event);
        }
      }
      file.counters().points += points;
      ++file.counters().committed;
      file.counters().second_stage += points - 1;
      file.Add(format::Interval{second, points, points * 1016, points, 1, 2400});
      if (second % 4 == 3) {
        file.StartChunk((second + 1) * kSecond);
      } else {
        file.Flush({}, (second + 1) * kSecond);
      }
    }
    file.End("jvm exit", 40 * kSecond);
  }
  REQUIRE(FirstChunk(path).roll_up > 0);
  CHECK(Heaprec("verify " + path).err.find("roll-up") == std::string::npos);
}

}  // namespace heaprec::tools::testing
