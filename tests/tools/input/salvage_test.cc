#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "format/model/names.h"
#include "format/ring/content_keys.h"
#include "tests/tools/recording_fixture.h"
#include "throttle/interval_reducer.h"
#include "throttle/random.h"
#include "throttle/varopt.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"

namespace heaprec::tools::testing {
namespace {

struct Found {
  format::Sample sample;
  std::string class_name, thread, leaf, root;
};

struct Everything {
  std::vector<Found> events;  // in order
  SalvageReport salvage;
  format::StreamCounters counters;
};

Everything ReadAll(const std::string& path) {
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  Everything all;
  Names names;
  while (const auto block = (*recording)->Next()) {
    names.Enter(*block);
    for (const format::Sample& sample : block->samples) {
      Found found{sample, std::string(names.Class(sample.class_id)), std::string(names.Thread(sample.thread)), "", ""};
      ForEachFrame(names, sample.stack, 0, [&](const format::Frame& frame) {
        found.root = std::string(names.Method(frame.method)) + ":" + std::to_string(frame.line);
        if (found.leaf.empty()) found.leaf = found.root;
      });
      all.events.push_back(found);
    }
  }
  all.salvage = (*recording)->salvage();
  all.counters = (*recording)->counters();
  return all;
}

// A file and a ring that belong together.
struct Pair {
  Directory directory;
  std::string file = directory / "rec.bin", ring = directory / "rec.ring";
  format::FileHeader header = WithRing(ring);

  static format::FileHeader WithRing(const std::string& path) {
    format::FileHeader header = SomeHeader();
    header.ring_path = path;
    return header;
  }
};

// First 8 bytes of the id 0xa0, 0xa1, ... as little endian.
constexpr uint64_t kIdBits = 0xa7a6a5a4a3a2a1a0;

Event At(uint64_t time_ns, uint64_t id, double weight = 2400) {
  return {.time_ns = time_ns, .weight = weight, .id = id};
}

// A file with these events, which a kill cut off, and what its ring has.
struct Killed : Pair {
  RingFile records{header};
  explicit Killed(const std::vector<Event>& in_file = {}) {
    RecordingFile recording(file, header);
    for (const Event& event : in_file) recording.Add(event);
    recording.Flush();
  }
  Everything Read() const {
    records.WriteTo(ring);
    return ReadAll(file);
  }
};

TEST_CASE("Records of the ring that the file lacks are read after it, with all their names") {
  Killed killed({At(100 * kMs, 1)});
  RingFile& ring = killed.records;
  Event event{.time_ns = 1100 * kMs,
              .class_name = "[Lx/Only$Ring;",
              .weight = 4800,
              .thread = "ring thread",
              .stack = {"q/Ring.leaf:11", "q/Ring.root"},
              .id = 2};
  ring.Define(1, event);
  ring.Add(1, event);
  const Everything all = killed.Read();
  REQUIRE(all.events.size() == 2);
  const Found& found = all.events[1];
  CHECK(found.sample.id == 2);
  CHECK(found.sample.time_ns == 1100 * kMs);
  CHECK(found.sample.weight == 4800);
  CHECK(found.class_name == "x.Only$Ring[]");
  CHECK(found.thread == "ring thread");
  CHECK(found.leaf == "q.Ring.leaf:11");
  CHECK(found.root == "q.Ring.root:-1");
  CHECK(all.salvage.held == 1);
  CHECK(all.salvage.events == 1);
  CHECK(all.salvage.unnamed == 0);
}

namespace {

// By class; of a block whose rows are lost: "lost".
struct PointsOfRows {
  std::vector<std::map<std::string, uint64_t>> blocks;
  std::vector<size_t> intervals;  // of each block
};

PointsOfRows RowsIn(const std::string& path) {
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  PointsOfRows all;
  while (const auto block = (*recording)->Next()) {
    auto& points = all.blocks.emplace_back();
    for (const format::Row& row : block->rows) points[block->dictionaries->classes.at(row.class_id)] += row.points;
    if (block->row_interval) ++points["lost"];
    all.intervals.push_back(block->intervals.size());
  }
  return all;
}

// Two blocks of a second each: with three and five points, of which each second has one sample.
void WriteOpenRows(RecordingFile* file) {
  for (uint64_t second = 0; second < 2; ++second) {
    Event event = At(second * kSecond + 100 * kMs, second + 1);
    event.class_name = "p/C" + std::to_string(second);
    file->AddRow(event, 3 + 2 * second, 1);
    file->Add(format::Interval{second, 9, 9000, 3 + 2 * second, 1, 2400});
    file->FlushWithOpenRows((second + 1) * kSecond);
  }
}

}  // namespace

TEST_CASE("The rows of an open row interval are read from the ring") {
  using Points = std::map<std::string, uint64_t>;
  Pair pair;
  RecordingFile file(pair.file, pair.header);
  WriteOpenRows(&file);
  RingFile ring(pair.header);
  Event event = At(2100 * kMs, 3);
  event.class_name = "p/Ring";
  ring.Define(1, event);
  ring.AddPoint(1, event);
  auto& pages = ring.AddRowPages();
  const auto expect = [&](const std::vector<Points>& blocks) {
    ring.WriteTo(pair.ring);
    const PointsOfRows read = RowsIn(pair.file);
    CHECK(read.blocks == blocks);
    CHECK(read.intervals == std::vector<size_t>{2, 1});
  };
  const Points of_ring{{"p/Ring", 1}};
  expect({{{"lost", 1}}, of_ring});  // nothing was published
  file.FillRowPage(&pages[1]);
  expect({{{"p/C0", 3}, {"p/C1", 5}}, of_ring});
  // Killed before the next block was written, and within the page of that one.
  const uint64_t own = pages[1].block;
  pages[0].block = own + 1;
  expect({{{"p/C0", 3}, {"p/C1", 5}}, of_ring});
  pages[0].block = 0;
  expect({{{"p/C0", 3}, {"p/C1", 5}}, of_ring});
  pages[1].block = own - 1;
  expect({{{"lost", 1}}, of_ring});
  pages[1].block = own;
  pages[1].entries[0].class_id = 1000;  // which the chunk does not have
  expect({{{"p/C1", 5}}, of_ring});
  pages[1].rows = format::kRingRows;
  pages[1].outside = 1;
  expect({{{"lost", 1}}, of_ring});
  // A recorder that could not write its last block had room for counts.
  pages[1].outside = 0;
  pages[1].rows = 2;
  pages[1].entries[0].class_id = 0;
  ring.WriteTo(pair.ring);
  file.StartNextChunk();
  file.Flush({}, 2 * kSecond + 1);
  CHECK(RowsIn(pair.file).blocks == std::vector<Points>{{{"p/C0", 3}, {"p/C1", 5}}, {}, of_ring});
  std::filesystem::remove(pair.ring);
  const PointsOfRows without = RowsIn(pair.file);
  CHECK(without.blocks.front() == Points{{"lost", 1}});
  CHECK(without.intervals.front() == 2);
}

TEST_CASE("A salvaged interval has rows of all its points, by class and path to the site") {
  Pair pair;
  pair.header.interval_cap = 3;
  RecordingFile file(pair.file, pair.header);
  file.Add(At(100 * kMs, 1));
  file.Flush();
  RingFile ring(pair.header);
  std::map<std::pair<std::string, std::string>, format::Row> expected;
  for (uint64_t id = 2; id < 22; ++id) {
    Event event = At((1000 + id) * kMs, id, static_cast<double>(1000 + id));
    event.class_name = "p/C" + std::to_string(id % 2);
    event.size = 16 + 8 * (id % 3);
    const std::string site = "p/Site.m" + std::to_string(id % 2);
    event.stack = {site + ":7", "p/Main.main:3"};
    if (id % 5 == 0) event.stack.insert(event.stack.begin(), "java/util/Arrays.copyOf:9");
    if (id % 4 == 0) {  // light: its stack is the path
      event.stack.pop_back();
      ring.DefineClass(0, event.class_name);
      ring.DefineStack(0, event);
      ring.AddPoint(0, event);
    } else {
      ring.Define(0, event);
      ring.Add(0, event);
    }
    const std::string leaf = id % 5 == 0 ? "java.util.Arrays.copyOf:9 " : "";
    expected[{"p.C" + std::to_string(id % 2), leaf + "p.Site.m" + std::to_string(id % 2) + ":7 "}].Add(event.size,
                                                                                                       event.weight);
  }
  ring.WriteTo(pair.ring);

  auto recording = Recording::Open(pair.file);
  REQUIRE(recording.ok());
  std::map<std::pair<std::string, std::string>, format::Row> rows;
  Names names;
  while (const auto block = (*recording)->Next()) {
    names.Enter(*block);
    if (!block->rows.empty()) {
      CHECK(block->samples.size() == 3);
      CHECK(block->intervals.at(0).buffered == 20);
      CHECK(block->counters[format::Stream::kAllocations].second_stage == 17);
    }
    for (format::Row row : block->rows) {
      std::string path;
      CHECK_FALSE(ForEachFrame(names, row.stack, 0, [&](const format::Frame& frame) {
        path += std::string(names.Method(frame)) + ":" + std::to_string(frame.line) + " ";
      }));
      const std::string class_name(names.Class(row.class_id));
      row.class_id = row.stack = format::kNone;
      rows[{class_name, path}] = row;
    }
  }
  CHECK(rows == expected);
}

TEST_CASE("Objects outside of TLABs are counted in the interval in which they were written, by class") {
  Killed killed({At(100 * kMs, 1)});
  RingFile& ring = killed.records;
  Event array = At(1100 * kMs, 2);
  array.class_name = "[J";
  ring.DefineClass(0, array.class_name);
  ring.DefineClass(1, "p/Huge");
  ring.Define(0, array);
  ring.Add(0, array);  // a sample of the same objects does not add to what is counted
  ring.AddOutside(0, array, 3, 3'000'000);
  array.time_ns = 1900 * kMs;
  ring.AddOutside(1, array, 1, 500'000);
  Event huge = At(1950 * kMs, 0);
  huge.class_name = "p/Huge";
  ring.AddOutside(1, huge, 2, 9'000'000);
  array.time_ns = 2500 * kMs;  // a second without any point
  ring.AddOutside(0, array, 7, 7'000'000);
  ring.WriteTo(killed.ring);

  auto recording = Recording::Open(killed.file);
  REQUIRE(recording.ok());
  std::map<uint64_t, std::map<std::string, std::pair<uint64_t, uint64_t>>> counted;  // objects and bytes
  Names names;
  while (const auto block = (*recording)->Next()) {
    names.Enter(*block);
    for (const format::Row& row : block->outside) {
      counted[block->intervals.at(0).index][std::string(names.Class(row.class_id))] = {row.points, row.seen};
      CHECK(row.stack == format::kNone);
      CHECK(row.bytes_variance == 0);
    }
  }
  CHECK(counted.size() == 2);
  CHECK(counted[1] ==
        std::map<std::string, std::pair<uint64_t, uint64_t>>{{"long[]", {4, 3'500'000}}, {"p.Huge", {2, 9'000'000}}});
  CHECK(counted[2] == std::map<std::string, std::pair<uint64_t, uint64_t>>{{"long[]", {7, 7'000'000}}});
  CHECK((*recording)->salvage().held == 1);
}

TEST_CASE("Records that the file's lane positions cover are not read twice") {
  Pair pair;
  RingFile ring(pair.header);
  const Event first = At(100 * kMs, 1), second = At(1100 * kMs, 2);
  ring.Define(0, first);
  ring.Add(0, first);
  const uint64_t position = ring.head(0);
  ring.Add(0, second);
  ring.WriteTo(pair.ring);
  RecordingFile file(pair.file, pair.header);
  file.Add(first);
  file.Flush({position, 0});

  const Everything all = ReadAll(pair.file);
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[0].sample.id == 1);
  CHECK(all.events[1].sample.id == 2);
  // The definitions lie before the position: they come from the file.
  CHECK(all.events[1].class_name == "java.lang.String");
  CHECK(all.events[1].leaf == "p.Leaf.allocate:7");
  CHECK(all.events[1].thread == "main");
}

TEST_CASE("Definitions are found in any chunk of the file, also without an event that uses them") {
  Pair pair;
  RecordingFile file(pair.file, pair.header);
  Event old = At(2100 * kMs, 9);
  old.class_name = "old/Class";
  old.stack = {"old/Site.leaf:1", "old/Site.middle:2", "old/Site.root:3"};
  old.thread = "old thread";
  file.Define(old);
  file.Add(At(100 * kMs, 1));
  file.Flush();
  file.StartChunk();
  file.Add(At(1100 * kMs, 2));
  file.Flush();
  RingFile ring(pair.header);
  ring.Add(0, old);
  ring.WriteTo(pair.ring);

  const Everything all = ReadAll(pair.file);
  REQUIRE(all.events.size() == 3);
  CHECK(all.events[2].class_name == "old.Class");
  CHECK(all.events[2].leaf == "old.Site.leaf:1");
  CHECK(all.events[2].root == "old.Site.root:3");
  CHECK(all.events[2].thread == "old thread");
  CHECK(all.salvage.unnamed == 0);
}

TEST_CASE("If a definition is missing, this is counted and the event kept") {
  Killed killed;
  RingFile& ring = killed.records;
  ring.Add(0, At(100 * kMs, 1));
  const Everything all = killed.Read();
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].class_name == kUnknown);
  CHECK(all.salvage.unnamed == 1);
}

TEST_CASE("Native stacks that the drain had not named have their addresses") {
  Killed killed;
  RingFile& ring = killed.records;
  Event event = At(100 * kMs, 1);
  event.stack = {"0x1234", "0x5678"};
  ring.Define(0, event);
  ring.Add(0, event);
  const Everything all = killed.Read();
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].leaf == "?.0x1233:-1");
  CHECK(all.events[0].root == "?.0x5677:-1");
  CHECK(all.salvage.unnamed == 0);
}

TEST_CASE("Each interval of the ring is reduced to the cap exactly as by the drain") {
  Pair pair;
  pair.header.interval_cap = 10;
  RecordingFile file(pair.file, pair.header);
  file.Flush();
  RingFile ring(pair.header);
  ring.Define(0, At(0, 1));
  ring.DefineClass(0, "q/Other");
  std::map<uint64_t, std::vector<throttle::BufferedPoint>> expected;
  double total = 0;
  for (uint64_t id = 1; id <= 200; ++id) {
    const double weight = 1000.0 * static_cast<double>(1 + id % 17);
    const uint64_t time = id * 10 * kMs;  // 0.01 s to 2 s: intervals 0, 1 and one event of 2
    Event event = At(time, id, weight);
    if (id % 3 == 0) event.class_name = "q/Other";
    event.call_path = id * 7 % 5;
    ring.Add(static_cast<uint32_t>(id % 2), event);
    expected[time / kSecond].push_back(
        {.id = id, .weight = weight, .class_key = format::ClassKey(event.class_name), .call_path = event.call_path});
    total += weight;
  }
  ring.WriteTo(pair.ring);

  const Everything all = ReadAll(pair.file);
  std::map<uint64_t, double> found;
  for (const Found& event : all.events) found[event.sample.id] = event.sample.weight;
  size_t kept = 0;
  double sum = 0;
  for (const auto& [interval, points] : expected) {
    const auto reduction = throttle::ReduceToCap(points, 10, throttle::Mix64(kIdBits ^ interval));
    for (const size_t index : reduction.kept) {
      INFO("id " << points[index].id);
      REQUIRE(found.contains(points[index].id));
      CHECK(found[points[index].id] == reduction.WeightOf(points[index].weight));
      ++kept;
    }
  }
  for (const auto& [id, weight] : found) sum += weight;
  CHECK(kept == 21);
  CHECK(all.events.size() == 21);
  CHECK(sum == Approx(total).epsilon(1e-9));  // thinning passes the weight on
  CHECK(all.salvage.held == 200);
  CHECK(all.counters.second_stage == 179);
  CHECK(all.counters.written == 21);
}

TEST_CASE("maxsamples=N applies to file and ring together, as for the drain") {
  Pair pair;
  pair.header.interval_cap = 10;
  pair.header.max_samples = 12;
  constexpr uint64_t kIntervals = 8, kInFile = 3, kPoints = 40;
  throttle::IntervalReducer drain({.cap = 10, .recording = kIdBits, .max_samples = 12});
  RecordingFile file(pair.file, pair.header);
  RingFile ring(pair.header);
  ring.Define(0, At(0, 1));
  std::map<uint64_t, double> expected;
  for (uint64_t interval = 0; interval < kIntervals; ++interval) {
    if (interval == 1 || interval == 5) {  // light points only: an interval with points, too
      drain.NoteIntervalsWithPoints(1);
      if (interval < kInFile) file.Add(format::Interval{interval, 0, 0, 1, 0, 0});
      if (interval >= kInFile) ring.AddPoint(0, At(interval * kSecond + kSecond / 2, 0));
      continue;
    }
    std::vector<throttle::BufferedPoint> points;
    for (uint64_t i = 1; i <= kPoints; ++i) {
      const Event event = At(interval * kSecond + i * kSecond / 64, interval * kPoints + i, 1000 + 10.0 * i);
      points.push_back({.id = event.id, .weight = event.weight, .time_ns = event.time_ns});
      if (interval >= kInFile) ring.Add(0, event);
    }
    const auto reduction = drain.Reduce(interval, points);
    for (const throttle::KeptPoint& kept : reduction.kept) {
      expected[points[kept.index].id] = kept.weight;
      if (interval < kInFile) file.Add(At(points[kept.index].time_ns, points[kept.index].id, kept.weight));
    }
    if (interval < kInFile) file.Add(format::Interval{interval, 0, 0, kPoints, reduction.kept.size(), reduction.tau});
  }
  file.Flush();
  ring.WriteTo(pair.ring);

  std::map<uint64_t, double> found;
  for (const Found& event : ReadAll(pair.file).events) found[event.sample.id] = event.sample.weight;
  CHECK(found == expected);
  CHECK(found.size() <= 12);
  CHECK(found.size() >= 6);  // of 12 x 8 / (8 + 1.2) = 10.4 that are due, in 6 of 8 intervals
}

TEST_CASE("Intervals without samples because of maxsamples=N stay in order, and their number takes no time") {
  Pair pair;
  pair.header.max_samples = 2;
  const uint64_t before = GENERATE(as<uint64_t>(), 0, uint64_t{1} << 62);  // as a hostile header says
  pair.header.start.intervals_with_points[format::Stream::kAllocations] = before;
  const RecordingFile file(pair.file, pair.header);
  RingFile ring(pair.header);
  ring.Define(0, At(0, 1));
  constexpr uint64_t kIntervals = 6;
  for (uint64_t id = 1; id <= kIntervals; ++id) ring.Add(0, At((id - 1) * kSecond + 500 * kMs, id));
  ring.WriteTo(pair.ring);

  auto recording = Recording::Open(pair.file);
  REQUIRE(recording.ok());
  std::vector<uint64_t> intervals;
  uint64_t samples = 0, end_ns = 0;
  while (const auto block = (*recording)->Next()) {
    for (const format::Interval& interval : block->intervals) intervals.push_back(interval.index);
    samples += block->samples.size();
    CHECK(block->end_ns > end_ns);
    end_ns = block->end_ns;
  }
  CHECK(intervals == std::vector<uint64_t>{0, 1, 2, 3, 4, 5});
  CHECK(samples <= (before == 0 ? 2 : 1));
}

TEST_CASE("A late sample counts in the next interval, at its start") {
  Pair pair;
  RecordingFile file(pair.file, pair.header);
  file.Add(At(100 * kMs, 1));
  file.Add(format::Interval{0, 1, 2400, 1, 1, 0});
  file.Flush();
  RingFile ring(pair.header);
  ring.Define(0, At(0, 1));
  ring.Add(0, At(900 * kMs, 2));
  ring.Add(0, At(1500 * kMs, 3));
  ring.WriteTo(pair.ring);

  const Everything all = ReadAll(pair.file);
  REQUIRE(all.events.size() == 3);
  CHECK(all.events[1].sample.id == 2);
  CHECK(all.events[1].sample.time_ns == kSecond);
  CHECK(all.events[2].sample.time_ns == 1500 * kMs);
}

// Streams beside the allocations: their header, and their counters after all has been read.
struct Native {
  Pair pair;
  Native() { pair.header.native = pair.header.mapped = {kSecond, 150, 150}; }
  format::StreamCounters Read(RingFile& ring, format::Stream stream, std::vector<Found>* events) {
    RecordingFile(pair.file, pair.header).Flush({0, 0});
    ring.WriteTo(pair.ring);
    *events = ReadAll(pair.file).events;
    auto recording = Recording::Open(pair.file);
    while ((*recording)->Next()) {
    }
    return (*recording)->counters(stream);
  }
};

Event PointAt(uint64_t time_ns, uint64_t number, double weight) {
  return {.time_ns = time_ns,
          .class_name = "malloc",
          .weight = weight,
          .kind = format::Kind::kNative,
          .id = format::FirstIdOf(format::Stream::kNative) + number};
}

TEST_CASE("A point of malloc that the drain had not processed becomes a sample, once, and is counted") {
  Native native;
  RingFile ring(native.pair.header);
  Event point = PointAt(100 * kMs, 7, 5000);
  point.thread = "worker";
  point.stack.clear();
  ring.AddNativePoint(0, point, {0x1234, 0x5678});
  // The drain has committed this one's sample, and died before it could say so.
  ring.AddNativePoint(1, PointAt(200 * kMs, 8, 6000), {0x1234});
  ring.Define(0, PointAt(200 * kMs, 8, 6000));
  ring.Add(0, PointAt(200 * kMs, 8, 6000));
  // The drain has taken this one: its sample is in the file, or the second stage dropped it.
  ring.AddNativePoint(1, PointAt(300 * kMs, 9, 7000), {0x1234}, /*is_taken=*/true);
  std::vector<Found> events;
  const format::StreamCounters counters = native.Read(ring, format::Stream::kNative, &events);
  REQUIRE(events.size() == 2);
  CHECK(events[0].sample.id == point.id);
  CHECK(events[0].sample.weight == 5000);
  CHECK(events[0].class_name == "malloc");
  CHECK(events[0].thread == "worker");
  CHECK(events[0].leaf == "?.0x1233:-1");
  CHECK(events[0].root == "?.0x5677:-1");
  CHECK(events[1].sample.weight == 6000);
  CHECK(events[1].leaf == "p.Leaf.allocate:7");
  CHECK(counters.points == 2);
  CHECK(counters.committed == 2);
  CHECK(counters.LostPoints() == 0);
}

TEST_CASE("Mappings that the drain had not processed are lost, and counted") {
  Native native;
  RingFile ring(native.pair.header);
  ring.header().mapped.counters.points = ring.header().mapped.counters.committed = 3;
  ring.header().mapped.counters.second_stage = 3;
  ring.header().mapped.counters.candidate_bytes = 30'000;
  ring.header().mapping_calls.noted = 5;
  ring.header().mapping_calls.noted_bytes = 38'000;
  ring.header().mapping_calls.taken = 3;
  ring.header().mapping_calls.taken_bytes = 30'000;
  std::vector<Found> events;
  const format::StreamCounters counters = native.Read(ring, format::Stream::kMapping, &events);
  CHECK(counters.points == 5);
  CHECK(counters.lost[static_cast<size_t>(format::LossReason::kKilled)] == 2);
  CHECK(counters.lost_weight[static_cast<size_t>(format::LossReason::kKilled)] == 8'000);
  CHECK(counters.candidate_bytes == 38'000);
}

TEST_CASE("Samples that were neither in the ring nor in the file are lost by a kill, and counted") {
  Pair pair;
  const RecordingFile young(pair.file, pair.header);
  RingFile ring(pair.header);
  const auto write_ring = [&] {
    ring.header().counters.points = ring.header().counters.committed = 6;
    ring.header().counters.candidate_bytes = 30'000;
    ring.WriteTo(pair.ring);
  };
  SECTION("each weighs what one in the ring does on average") {
    for (const uint64_t id : {1, 2}) {
      const Event event = At(id * 100 * kMs, id, 2000 * static_cast<double>(id));
      ring.Define(0, event);
      ring.Add(0, event);
    }
    write_ring();
    const Everything all = ReadAll(pair.file);
    CHECK(all.events.size() == 2);
    CHECK(all.counters.committed == 2);
    CHECK(all.counters.lost[static_cast<size_t>(format::LossReason::kKilled)] == 4);
    CHECK(all.counters.lost_weight[static_cast<size_t>(format::LossReason::kKilled)] == 4 * 3000);
  }
  SECTION("if there is none, they weigh what was counted") {
    write_ring();
    const Everything all = ReadAll(pair.file);
    CHECK(all.events.empty());
    CHECK(all.counters.lost[static_cast<size_t>(format::LossReason::kKilled)] == 6);
    CHECK(all.counters.lost_weight[static_cast<size_t>(format::LossReason::kKilled)] == 30'000);
  }
}

TEST_CASE("A complete recording needs no ring, even if there is one") {
  Pair pair;
  RecordingFile file(pair.file, pair.header);
  file.Add(At(100 * kMs, 1));
  file.End("jvm exit", kSecond);
  RingFile ring(pair.header);
  ring.Define(0, At(0, 1));
  ring.Add(0, At(900 * kMs, 2));
  ring.WriteTo(pair.ring);
  const Everything all = ReadAll(pair.file);
  CHECK(all.events.size() == 1);
  CHECK_FALSE(all.salvage.ring_found);
}

TEST_CASE("The ring of another recording, a truncated one and a missing one are ignored") {
  Pair pair;
  RecordingFile file(pair.file, pair.header);
  file.Add(At(100 * kMs, 1));
  file.Flush();
  SECTION("none") {}
  SECTION("another recording's") {
    format::FileHeader other = pair.header;
    other.recording_id[3] ^= 1;
    RingFile ring(other);
    ring.Define(0, At(0, 1));
    ring.Add(0, At(900 * kMs, 2));
    ring.WriteTo(pair.ring);
  }
  SECTION("truncated") {
    RingFile ring(pair.header);
    ring.WriteTo(pair.ring);
    Overwrite(pair.ring, Contents(pair.ring).substr(0, 5000));
  }
  SECTION("empty") { Overwrite(pair.ring, ""); }
  const Everything all = ReadAll(pair.file);
  CHECK(all.events.size() == 1);
  CHECK_FALSE(all.salvage.ring_found);
}

namespace {

// A recording with one event in its file, whose ring is where `ring_path` says; another may be beside it.
struct Moved {
  Directory directory;
  const std::string file = directory / "rec.bin", beside = directory / "rec.ring";
  format::FileHeader header = SomeHeader();

  explicit Moved(const std::string& ring_path) {
    header.ring_path = ring_path;
    RecordingFile recording(file, header);
    recording.Add(At(100 * kMs, 1));
    recording.Flush();
  }
  void WriteRing(const std::string& path, uint64_t heartbeat_ns, uint64_t id) const {
    RingFile ring(header);
    ring.header().heartbeat_ns = heartbeat_ns;
    ring.Define(0, At(0, 1));
    ring.Add(0, At(900 * kMs, id));
    ring.WriteTo(path);
  }
  uint64_t LastId() const { return ReadAll(file).events.back().sample.id; }
};

}  // namespace

TEST_CASE("Of two rings the one with the newest heartbeat is read, or the other if it is damaged") {
  const Directory elsewhere;
  const std::string ring = elsewhere / "rec.ring";
  const Moved moved(ring);
  moved.WriteRing(ring, 10, 2);
  moved.WriteRing(moved.beside, 20, 3);
  CHECK(moved.LastId() == 3);
  Overwrite(moved.beside, Contents(moved.beside).substr(0, 5000));
  CHECK(moved.LastId() == 2);
  moved.WriteRing(moved.beside, 9, 3);
  CHECK(moved.LastId() == 2);
}

TEST_CASE("A ring beside a recording is a regular file, even if it is replaced during the check") {
  const Moved moved("/no/such/folder/rec.ring");
  moved.WriteRing(moved.beside, 10, 2);
  CHECK(moved.LastId() == 2);
  const std::string other = moved.directory / "other";
  SECTION("a FIFO") {
    std::filesystem::remove(moved.beside);
    REQUIRE(mkfifo(moved.beside.c_str(), 0600) == 0);
    CHECK(moved.LastId() == 1);
  }
  SECTION("swapped for a symbolic link") {
    moved.WriteRing(moved.directory / "away", 20, 3);
    std::filesystem::create_symlink(moved.directory / "away", other);
    std::atomic<bool> done = false;
    std::thread swapper([&] {
      while (!done) renameat2(AT_FDCWD, moved.beside.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    });
    std::set<uint64_t> read;
    for (int i = 0; i < 3000; ++i) read.insert(moved.LastId());
    done = true;
    swapper.join();
    CHECK(read.contains(2));
    CHECK_FALSE(read.contains(3));
  }
}

TEST_CASE("Salvage changes no byte of the ring") {
  Killed killed;
  RingFile& ring = killed.records;
  ring.Define(0, At(0, 1));
  ring.Add(0, At(900 * kMs, 2));
  ring.WriteTo(killed.ring);
  const std::string before = Contents(killed.ring);
  CHECK(ReadAll(killed.file).events.size() == 1);
  CHECK(Contents(killed.ring) == before);
}

TEST_CASE("A damaged lane is read up to the damage, the others completely, and the damage is reported") {
  Killed killed;
  RingFile& ring = killed.records;
  const Event any = At(0, 1);
  ring.Define(0, any);
  ring.Add(0, At(100 * kMs, 1));
  const uint64_t broken = ring.head(0);
  ring.Add(0, At(200 * kMs, 2));
  ring.Add(1, At(300 * kMs, 3));
  ring.lane(0)[format::kLaneHeaderBytes + broken] = std::byte{0xff};  // the record's size
  const Everything all = killed.Read();
  std::set<uint64_t> ids;
  for (const Found& found : all.events) ids.insert(found.sample.id);
  CHECK(ids == std::set<uint64_t>{1, 3});
  CHECK(all.salvage.errors.size() == 1);
}

TEST_CASE("A sample with an impossible weight is omitted and counted") {
  Killed killed;
  RingFile& ring = killed.records;
  ring.Define(0, At(0, 1));
  ring.Add(0, At(100 * kMs, 1, NAN));
  ring.Add(0, At(100 * kMs, 2, -1));
  ring.Add(0, At(100 * kMs, 3, INFINITY));
  ring.Add(0, At(100 * kMs, 4, 100));
  const Everything all = killed.Read();
  REQUIRE(all.events.size() == 1);
  CHECK(all.events[0].sample.id == 4);
  CHECK(all.salvage.invalid == 3);
}

}  // namespace
}  // namespace heaprec::tools::testing
