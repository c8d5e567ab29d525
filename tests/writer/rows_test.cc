// Rows: all points of the intervals in a block, by class and path to the site.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

struct Point {
  std::string class_name;
  std::vector<std::string> stack;  // leaf first: methods of p/C, or "owner.method" of any other
  uint64_t size;
  double weight;
  bool is_truncated = false;
};

// With its definitions, in a lane; its stack right before it.
void Commit(Bench* bench, uint64_t id, uint64_t time_ns, const Point& point) {
  buffer::LaneLease lease(bench->ring(), static_cast<uint32_t>(id), 2000);
  REQUIRE(lease.ok());
  PutClass(&lease, point.class_name);
  std::vector<format::RingFrame> frames;
  for (const std::string& text : point.stack) {
    const size_t dot = text.find('.');
    const std::string owner = dot == std::string::npos ? "p/C" : text.substr(0, dot);
    const std::string name = dot == std::string::npos ? text : text.substr(dot + 1);
    frames.push_back({format::MethodKey(owner, name, "()V"), 1, 7});
    Put(&lease, format::RecordType::kMethod,
        format::MethodRecord{
            {}, frames.back().method, static_cast<uint32_t>(owner.size()), static_cast<uint16_t>(name.size()), 3},
        owner + name + "()V");
  }
  format::SampleRecord sample{};
  if (!frames.empty()) {
    sample.stack_key = format::KeyOfStack(frames, point.is_truncated);
    Put(&lease, format::RecordType::kStack,
        format::StackRecord{{}, sample.stack_key, static_cast<uint32_t>(frames.size()), point.is_truncated ? 1U : 0},
        {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(frames[0])});
  }
  sample.monotonic_ns = kStart + time_ns;
  sample.id = id;
  sample.class_key = format::ClassKey(point.class_name);
  sample.size = point.size;
  sample.weight = sample.point_weight = point.weight;
  Put(&lease, format::RecordType::kSample, sample);
  bench->shared_counters().Point();
  bench->shared_counters().Committed();
}

const std::string kCopy = "java/util/Arrays.copyOf", kClone = "java/lang/Object.clone";

}  // namespace

TEST_CASE("The rows of a block are all points of its intervals, whether kept as samples or not") {
  Bench bench(5);
  std::mt19937_64 random(3);
  const std::vector<std::vector<std::string>> stacks{
      {}, {"site"}, {"site", "caller"}, {kCopy, "site", "caller"}, {kCopy, kClone, "other", "caller"}, {"other"}};
  const std::vector<std::string> paths{"",
                                       "p/C.site:7",
                                       "p/C.site:7",
                                       kCopy + ":7 < p/C.site:7",
                                       kCopy + ":7 < " + kClone + ":7 < p/C.other:7",
                                       "p/C.other:7"};
  std::map<std::pair<std::string, std::string>, format::Row> expected;
  for (uint64_t id = 1; id <= 200; ++id) {
    const size_t which = random() % stacks.size();
    const uint64_t size = 8 * (2 + random() % 5);
    const double weight = id % 7 == 0 ? static_cast<double>(size) : 1000 + static_cast<double>(random() % 100);
    const std::string name = "p/C" + std::to_string(random() % 3);
    Commit(&bench, id, id * kSecond / 100, {name, stacks[which], size, weight});
    expected[{name, paths[which]}].Add(size, weight);
    if (id == 99) bench.TickAt(kSecond);  // id 100 belongs to the next interval
  }
  bench.EndAt(5 * kSecond / 2);
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 11);
  CHECK(read.points == std::vector<uint64_t>{99, 101});  // the end closes two intervals
  REQUIRE(read.rows.size() == expected.size());
  for (const auto& [key, row] : expected) {
    CAPTURE(key.first, key.second);
    REQUIRE(read.rows.contains(key));
    const format::Row& got = read.rows.at(key);
    CHECK(got.points == row.points);
    CHECK(got.seen == row.seen);
    CHECK(got.bytes == Approx(row.bytes).epsilon(1e-3));
    CHECK(got.objects == Approx(row.objects).epsilon(3e-3));
    CHECK(got.bytes_variance == Approx(row.bytes_variance).epsilon(0.05));
  }
}

TEST_CASE("A path has a maximum length, and says whether the stack continues without a site") {
  Bench bench(150);
  std::string most = kCopy + ":7";
  for (size_t i = 1; i < format::kLongestPath; ++i) most += " < " + kCopy + ":7";
  std::vector<std::string> stack(format::kLongestPath, kCopy);
  Commit(&bench, 1, kSecond / 10, {"p/A", stack, 16, 1000});
  Commit(&bench, 2, kSecond / 10, {"p/B", stack, 16, 1000, /*is_truncated=*/true});
  stack.emplace_back("site");
  Commit(&bench, 3, kSecond / 10, {"p/C", stack, 16, 1000});
  Commit(&bench, 4, kSecond / 10, {"p/D", {kCopy, "site"}, 16, 1000, /*is_truncated=*/true});
  bench.EndAt(kSecond / 2);
  const auto read = bench.ReadBack();
  CHECK(read.rows.size() == 4);
  CHECK(read.rows.contains({"p/A", most}));
  CHECK(read.rows.contains({"p/B", most + " < ..."}));
  CHECK(read.rows.contains({"p/C", most + " < ..."}));
  CHECK(read.rows.contains({"p/D", kCopy + ":7 < p/C.site:7"}));
}

TEST_CASE("Rows continue from chunk to chunk, and a block whose samples are lost has none") {
  Bench bench(150);
  uint64_t id = 0;
  const auto commit = [&](uint64_t second) {
    Commit(&bench, ++id, second * kSecond + 1, {"p/A", {kCopy, "site", "caller"}, 16, 1000});
  };
  commit(0);
  bench.TickAt(kSecond);
  commit(69);
  bench.TickAt(70 * kSecond);  // past the length of a chunk
  commit(70);
  bench.TickAt(71 * kSecond);
  uint64_t second = 71;
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()) + 10);
    const auto lost = [&] {
      return bench.shared_counters().Snapshot().lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
    };
    for (; lost() == 0 && second < 1100; ++second) {
      for (int i = 0; i < 20; ++i) commit(second);
      bench.TickAt((second + 1) * kSecond);
    }
    REQUIRE(lost() == id - 3);
  }
  commit(second);
  bench.EndAt((second + 1) * kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.chunks.size() >= 3);
  CHECK(read.points == std::vector<uint64_t>{1, 1, 1, 1});
  CHECK(read.rows.size() == 1);
  CHECK(read.rows.contains({"p/A", kCopy + ":7 < p/C.site:7"}));
}

namespace {

// Row intervals of several blocks: when they end, and that file and ring have each point once, whenever the process
// ends. What happens within a write is in tests/crash.

// With a ring that outlives the process.
std::unique_ptr<Bench> MakeBench(const Limits& limits = {}) {
  return std::make_unique<Bench>(150, DrainConfig{}, 0, limits, SyncPolicy{}, Syncer::Where::kAtOnce,
                                 /*has_ring_file=*/true);
}

// Light points, each of one of so many classes in turn.
class Points {
 public:
  Points(Bench* bench, uint64_t classes) : bench_(*bench), classes_(classes) {}

  void Commit(uint64_t count, uint64_t time_ns) {
    for (uint64_t i = 0; i < count; ++i, ++committed_) {
      const std::string name = "p/Class" + std::to_string(committed_ % classes_);
      const auto lane = static_cast<uint32_t>(committed_ % 4);
      if (committed_ < classes_) bench_.DefineClass(name, lane);
      buffer::LaneLease lease(bench_.ring(), lane, 200);
      REQUIRE(lease.ok());
      std::byte* const record = lease.Reserve(format::RecordType::kPoint, sizeof(format::PointRecord));
      REQUIRE(record != nullptr);
      buffer::CopyFixed(record, format::PointRecord{{}, kStart + time_ns, format::ClassKey(name), {}, 16, 1000});
      lease.Commit();
      bench_.shared_counters().Point();
      bench_.shared_counters().Committed();
    }
  }
  uint64_t committed() const { return committed_; }

 private:
  Bench& bench_;
  const uint64_t classes_;
  uint64_t committed_ = 0;
};

struct Left {
  std::vector<uint64_t> blocks;  // how many each row interval in the file has
  uint64_t in_file = 0, in_page = 0, in_lanes = 0;
  bool has_page = false, has_open = false;
  uint64_t all() const { return in_file + in_page + in_lanes; }
};

struct PointCounter final : format::RecordVisitor {
  uint64_t points = 0;
  void OnClass(uint64_t, std::string_view) override {}
  void OnMethod(uint64_t, std::string_view, std::string_view, std::string_view) override {}
  void OnStack(format::StackKey, std::span<const format::RingFrame>, bool, uint32_t, uint64_t) override {}
  void OnThread(uint64_t, const format::ThreadRecord&, std::string_view) override {}
  void OnWindow(const format::WindowRecord&) override {}
  void OnSample(const format::SampleRecord&, uint32_t, uint64_t, uint64_t) override {}
  void OnPoint(const format::PointRecord&, uint32_t, uint64_t) override { ++points; }
};

uint64_t Sum(const std::vector<uint64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

uint64_t Sum(const std::vector<format::Row>& rows) {
  uint64_t points = 0;
  for (const format::Row& row : rows) points += row.points;
  return points;
}

// What a reader finds if the process is killed now.
Left Look(Bench* bench) {
  std::ifstream file(bench->path(), std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  format::MemoryByteSource source(bytes, "rec");
  auto reader = format::Reader::Open(&source);
  REQUIRE(reader.ok());
  (*reader)->JoinRowIntervals();
  Left left;
  std::vector<uint64_t> positions(4);
  uint32_t chunk = 0, next = 0;
  const auto note = [&](const format::Block& block) {
    positions = block.lane_positions;
    if (std::exchange(chunk, block.chunk) != block.chunk) next = 0;
    left.blocks.push_back(block.sequence + 1 - std::exchange(next, block.sequence + 1));
  };
  while (const auto block = (*reader)->Next()) {
    CHECK_FALSE(block->row_interval);
    left.in_file += Sum(block->rows);
    note(*block);
  }
  if (const auto open = (*reader)->TakeOpen()) {
    left.has_open = true;
    const auto rows = format::RowsBehind(*bench->ring().rows(), format::RowPageOf(open->chunk, open->sequence),
                                         open->dictionaries->classes.size(), open->dictionaries->stacks.size());
    left.has_page = rows.has_value();
    if (rows) left.in_page = Sum(rows->rows);
    note(*open);
  }
  if (bench->ring().header().state.load() == static_cast<uint32_t>(format::RingState::kClosed)) return left;
  const auto view = format::RingView::Of({bench->ring().bytes(), bench->ring().size()}).value();
  PointCounter counter;
  for (uint32_t lane = 0; lane < bench->ring().lane_count(); ++lane) {
    const auto reached = format::WalkLane(view, lane, std::max(positions[lane], bench->ring().lane(lane).tail.load()),
                                          bench->ring().lane(lane).head.load(), counter);
    REQUIRE(reached.ok());
  }
  left.in_lanes = counter.points;
  return left;
}

// Commits `per_second` points of `classes` classes in the middle of each of `seconds` seconds.
std::vector<uint64_t> BlocksOfIntervals(uint64_t classes, uint64_t per_second, uint64_t seconds) {
  const auto bench_of_file = MakeBench();
  Bench& bench = *bench_of_file;
  Points points(&bench, classes);
  for (uint64_t second = 0; second < seconds; ++second) {
    points.Commit(per_second, second * kSecond + kSecond / 2);
    bench.TickAt((second + 1) * kSecond);
    const Left left = Look(&bench);
    CHECK(left.all() == points.committed());
    CHECK(left.has_page == left.has_open);
  }
  bench.EndAt(seconds * kSecond + kSecond / 4);
  const Left left = Look(&bench);
  CHECK(left.in_file == points.committed());
  CHECK_FALSE(left.has_open);
  return left.blocks;
}

}  // namespace

TEST_CASE("A row interval is longer with more rows, and file and ring have each point once") {
  // Of few sites each block has its rows.
  CHECK(BlocksOfIntervals(12, 100, 5) == std::vector<uint64_t>{1, 1, 1, 1, 1, 1});
  CHECK(BlocksOfIntervals(100, 200, 9) == std::vector<uint64_t>{2, 2, 2, 2, 2});
  CHECK(BlocksOfIntervals(300, 600, 14) == std::vector<uint64_t>{6, 6, 3});
  CHECK(BlocksOfIntervals(1000, 1000, 24) == std::vector<uint64_t>{10, 10, 5});
}

TEST_CASE("Many new rows make an interval longer, until the ring has no space for them") {
  // 400 a second: after 20 s and more it has lasted long enough.
  CHECK(BlocksOfIntervals(1'000'000, 400, 25).front() == 10);
  CHECK(BlocksOfIntervals(5000, 1500, 20).front() == 13);
  CHECK(BlocksOfIntervals(1'000'000, 1500, 12) == std::vector<uint64_t>{6, 6, 1});
}

TEST_CASE("A recording of a second has the rows of all its points") {
  CHECK(BlocksOfIntervals(2000, 4000, 1) == std::vector<uint64_t>{2});
}

TEST_CASE("A file that is full ends its row interval, and the next file begins one") {
  Limits limits;
  limits.rotate_ns = 5 * kSecond;
  const auto bench_of_file = MakeBench(limits);
  Bench& bench = *bench_of_file;
  Points points(&bench, 1'000'000);  // new ones all the time: alone, the interval would last ten blocks
  for (uint64_t second = 0; second < 12; ++second) {
    points.Commit(600, second * kSecond + kSecond / 2);
    bench.TickAt((second + 1) * kSecond);
  }
  bench.EndAt(12 * kSecond + kSecond / 4);
  std::vector<uint64_t> counted;
  for (const auto& entry : std::filesystem::directory_iterator(bench.directory())) {
    if (entry.path().extension() != ".hrec") continue;
    const auto read = Bench::ReadBack(entry.path());
    CHECK(read.points.size() == 1);  // a block that has rows: the last of the file
    counted.push_back(Sum(read.points));
  }
  std::ranges::sort(counted);
  CHECK(counted == std::vector<uint64_t>{1200, 3000, 3000});
}

TEST_CASE("Around a whole minute of the clock each block has its rows, so that no interval goes beyond it") {
  CHECK(BlocksOfIntervals(1000, 1000, 66) == std::vector<uint64_t>{10, 10, 10, 10, 10, 7, 1, 1, 1, 1, 6});
}

TEST_CASE("Without a shared ring each block has its rows") {
  Bench bench(150);
  Points points(&bench, 300);
  for (uint64_t second = 0; second < 3; ++second) {
    points.Commit(600, second * kSecond + kSecond / 2);
    bench.TickAt((second + 1) * kSecond);
    CHECK(Look(&bench).in_file == points.committed());
  }
}

TEST_CASE("While a block cannot be written, the ring has the rows of the last written one") {
  const auto bench_of_file = MakeBench();
  Bench& bench = *bench_of_file;
  Points points(&bench, 300);
  for (uint64_t second = 0; second < 2; ++second) {
    points.Commit(600, second * kSecond + kSecond / 2);
    bench.TickAt((second + 1) * kSecond);
  }
  REQUIRE(Look(&bench).in_page == 1200);
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()));
    for (uint64_t second = 2; second < 4; ++second) {
      points.Commit(600, second * kSecond + kSecond / 2);
      bench.TickAt((second + 1) * kSecond);
      const Left left = Look(&bench);
      CHECK(left.in_page == 1200);
      CHECK(left.all() == points.committed());
    }
  }
  points.Commit(600, 4 * kSecond + kSecond / 2);
  for (const uint64_t now : {5, 6, 7}) {
    bench.TickAt(now * kSecond);
    CHECK(Look(&bench).all() == points.committed());
  }
  bench.EndAt(8 * kSecond);
  CHECK(Look(&bench).in_file == points.committed());
}

TEST_CASE("Rows of written blocks are lost with a chunk that cannot be completed") {
  const auto bench_of_file = MakeBench();
  Bench& bench = *bench_of_file;
  Points points(&bench, 300);
  points.Commit(600, kSecond / 2);
  bench.TickAt(kSecond);
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()));
    for (uint64_t second = 1; second < 20; ++second) {
      points.Commit(1200, second * kSecond + kSecond / 2);
      bench.TickAt((second + 1) * kSecond);
    }
  }
  bench.EndAt(21 * kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.chunks.size() > 1);
  CHECK(read.counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)] == 0);  // light points are no samples
}

namespace {

// Light points beside samples: in the same lanes and intervals, in rows and counters, in no sample.

// Of class p/C1, whose definition Bench::Sample writes.
void Point(Bench* bench, uint64_t time_ns, const OneFrame& path, Brings brings, double weight = 250,
           uint32_t lane = 0) {
  buffer::LaneLease lease(bench->ring(), lane, 400);
  REQUIRE(lease.ok());
  if (brings == Brings::kStack) path.PutInto(&lease);
  Put(&lease, format::RecordType::kPoint,
      format::PointRecord{{}, kStart + time_ns, format::ClassKey("p/C1"), path.key(), 100, weight});
  bench->shared_counters().Point();
  bench->shared_counters().Committed();
}

struct SumOfRows {
  uint64_t points = 0;
  double bytes = 0;
};

// By class and site; what was counted outside of TLABs has "outside" for a site.
std::map<std::string, SumOfRows> ReadRows(const Bench& bench) {
  const std::vector<std::byte> bytes = BytesOf(bench.path());
  format::MemoryByteSource source(bytes, "rec");
  auto reader = format::Reader::Open(&source);
  REQUIRE(reader.ok());
  std::map<std::string, SumOfRows> sums;
  while (auto block = (*reader)->Next()) {
    uint64_t points = 0, buffered = 0;
    for (const format::Row& row : block->rows) {
      const std::string name = row.class_id == format::kNone ? "" : block->dictionaries->classes[row.class_id];
      SumOfRows& sum = sums[name + " " + LeafMethod(*block->dictionaries, row.stack)];
      sum.points += row.points;
      sum.bytes += row.bytes;
      points += row.points;
    }
    for (const format::Row& row : block->outside) {
      CHECK(row.bytes == static_cast<double>(row.seen));
      CHECK(row.bytes_variance == 0);
      SumOfRows& sum = sums[block->dictionaries->classes.at(row.class_id) + " outside"];
      sum.points += row.points;
      sum.bytes += row.bytes;
    }
    for (const format::Interval& interval : block->intervals) buffered += interval.buffered;
    CHECK(points == buffered);
  }
  return sums;
}

}  // namespace

TEST_CASE("Counts outside of TLABs are exact, separate from the rows, and in no interval's counts") {
  Bench bench(20);
  const auto count = [&bench](uint64_t time_ns, uint64_t objects, uint64_t bytes) {
    buffer::LaneLease lease(bench.ring(), 0, 400);
    REQUIRE(lease.ok());
    Put(&lease, format::RecordType::kOutside,
        format::PointRecord{{}, kStart + time_ns, format::ClassKey("p/C1"), {}, bytes, static_cast<double>(objects)});
  };
  bench.Sample(4, kSecond / 10);  // of class p/C1
  count(kSecond / 2, 3, 3'000'024);
  count(kSecond * 3 / 4, 4'000'000'000, 400'000'000'008);
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.counters.points == 1);
  CHECK(read.samples.size() == 1);
  auto rows = ReadRows(bench);
  CHECK(rows["p/C1 "].points == 1);
  CHECK(rows["p/C1 outside"].points == 4'000'000'003);
  CHECK(rows["p/C1 outside"].bytes == 400'003'000'032.0);
}

TEST_CASE("Light points are in the interval's counts and rows, but in no sample") {
  Bench bench(20);
  const OneFrame often("often"), once("once");
  for (uint64_t i = 1; i <= 50; ++i) bench.Sample(3 * i + 1, i * kSecond / 51);  // of class p/C1
  for (uint64_t i = 0; i < 300; ++i)
    Point(&bench, kSecond / 10 + i * kSecond / 1000, often, i == 0 ? Brings::kStack : Brings::kNothing, 250, i % 3);
  Point(&bench, kSecond / 2, once, Brings::kStack, 1000, 3);
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(!read.intervals.empty());
  CHECK(read.intervals[0].buffered == 351);
  CHECK(read.intervals[0].kept == 20);
  CHECK(read.samples.size() == 20);
  double weight = 0;
  for (const format::Sample& sample : read.samples) weight += sample.weight;
  CHECK(weight == Approx(50 * 1000.0));
  CHECK(read.counters.points == 351);
  CHECK(read.counters.committed == 351);
  CHECK(read.counters.written == 20);
  CHECK(read.counters.second_stage == 331);
  CHECK(read.counters.points == read.counters.SettledPoints());
  CHECK(read.counters.committed == read.counters.SettledSamples());
  auto rows = ReadRows(bench);
  CHECK(rows.size() == 3);
  CHECK(rows["p/C1 "].points == 50);
  CHECK(rows["p/C1 p/C.often:14"].points == 300);
  CHECK(rows["p/C1 p/C.often:14"].bytes == Approx(300 * 250.0).epsilon(1e-3));
  CHECK(rows["p/C1 p/C.once:14"].points == 1);
  CHECK(rows["p/C1 p/C.once:14"].bytes == Approx(1000).epsilon(1e-3));
}

TEST_CASE("An interval with only light points is not one whose samples are lost") {
  Bench bench(150);
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 2, OneFrame("only"), Brings::kStack);
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(!read.intervals.empty());
  CHECK(read.intervals[0].buffered == 1);
  CHECK(read.intervals[0].kept == 0);
  CHECK(std::isinf(read.intervals[0].tau));
}

TEST_CASE("A light point stays in its lane until its interval closes, with its definitions") {
  Bench bench(150);
  bench.DefineClass("p/C1");
  const uint64_t begin = bench.head();
  Point(&bench, kSecond / 2, OneFrame("early"), Brings::kStack);
  const uint64_t late = bench.head();
  Point(&bench, 3 * kSecond / 2, OneFrame("late"), Brings::kStack);
  bench.TickAt(kSecond / 2);
  CHECK(bench.tail() <= begin);
  bench.TickAt(kSecond);
  CHECK(bench.tail() >= late);
  CHECK(bench.tail() < bench.head() - sizeof(format::PointRecord));
  bench.TickAt(2 * kSecond);
  CHECK(bench.tail() == bench.head());
}

TEST_CASE("A path is announced as soon as it is scanned, and outlives the chunk for pending points") {
  Bench bench(150);
  const OneFrame path("often");
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 10, path, Brings::kStack);
  bench.TickAt(kSecond / 8);
  CHECK(bench.emitted() == std::vector<format::StackKey>{path.key()});
  const int chunks = bench.chunks();
  uint64_t second = 1;
  for (; bench.chunks() == chunks; ++second) {
    REQUIRE(second < 1000);
    bench.TickAt(second * kSecond);
  }
  // It waits while the chunk ends, and one that was under way comes after that.
  Point(&bench, second * kSecond - kSecond / 2, path, Brings::kNothing);
  bench.EndAt(second * kSecond);
  auto rows = ReadRows(bench);
  CHECK(rows.size() == 1);
  CHECK(rows["p/C1 p/C.often:14"].points == 2);
}

TEST_CASE("Points that wait while a chunk ends keep their class and path") {
  DrainConfig config;
  Bench bench(150, config, /*thrown_cap=*/5);
  bench.ring().header().interval_ns = 200 * kSecond;
  const OneFrame path("patient");
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 10, path, Brings::kStack);
  for (uint64_t second = 1; second <= 199; second += 18) bench.TickAt(second * kSecond);
  CHECK(bench.chunks() >= 1);
  bench.EndAt(199 * kSecond);
  auto rows = ReadRows(bench);
  CHECK(rows["p/C1 p/C.patient:14"].points == 1);
}

TEST_CASE("An interval with only light points has no sample, and counts as one with points") {
  DrainConfig config;
  config.max_samples = 7;
  Bench bench(150, config);
  bench.DefineClass("p/C1");
  Point(&bench, kSecond / 2, OneFrame("alone"), Brings::kStack);
  bench.TickAt(kSecond);
  bench.EndAt(3 * kSecond / 2);
  const auto read = bench.ReadBack();
  REQUIRE(!read.intervals.empty());
  CHECK(read.intervals[0].buffered == 1);
  CHECK(read.intervals[0].kept == 0);
  CHECK(read.counters.second_stage == 1);
  CHECK(read.samples.empty());
}

}  // namespace heaprec::writer
