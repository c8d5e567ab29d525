// Rows: all points of the intervals in a block, by class and path to the site.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/ring/content_keys.h"
#include "tests/format/ring_image.h"
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
    PutMethod(&lease, owner, name);
  }
  format::SampleRecord sample = SampleOf(id, time_ns, point.weight);
  if (!frames.empty()) sample.stack_key = PutStack(&lease, frames, point.is_truncated);
  sample.class_key = format::ClassKey(point.class_name);
  sample.size = point.size;
  Put(&lease, format::RecordType::kSample, sample);
  bench->CountCommitted();
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
    const auto lost = [&] { return WriteFailed(bench.shared_counters().Snapshot()); };
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

  // Commits `count` points in the middle of a second, and runs the drain at its end.
  void Second(uint64_t count, uint64_t second) {
    Commit(count, second * kSecond + kSecond / 2);
    bench_.TickAt((second + 1) * kSecond);
  }
  void Commit(uint64_t count, uint64_t time_ns) {
    for (uint64_t i = 0; i < count; ++i, ++committed_) {
      const std::string name = "p/Class" + std::to_string(committed_ % classes_);
      const auto lane = static_cast<uint32_t>(committed_ % 4);
      if (committed_ < classes_) bench_.DefineClass(name, lane);
      buffer::LaneLease lease(bench_.ring(), lane, 200);
      REQUIRE(lease.ok());
      Put(&lease, format::RecordType::kPoint,
          format::PointRecord{{}, kStart + time_ns, format::ClassKey(name), {}, 16, 1000});
      bench_.CountCommitted();
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

uint64_t Sum(const std::vector<uint64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

uint64_t Sum(const std::vector<format::Row>& rows) {
  uint64_t points = 0;
  for (const format::Row& row : rows) points += row.points;
  return points;
}

// What a reader finds if the process is killed now.
Left Look(Bench* bench) {
  const OpenedFile file(bench->path());
  file.reader->JoinRowIntervals();
  Left left;
  std::vector<uint64_t> positions(4);
  uint32_t chunk = 0, next = 0;
  const auto note = [&](const format::Block& block) {
    positions = block.lane_positions;
    if (std::exchange(chunk, block.chunk) != block.chunk) next = 0;
    left.blocks.push_back(block.sequence + 1 - std::exchange(next, block.sequence + 1));
  };
  while (const auto block = file.reader->Next()) {
    CHECK_FALSE(block->row_interval);
    left.in_file += Sum(block->rows);
    note(*block);
  }
  if (const auto open = file.reader->TakeOpen()) {
    left.has_open = true;
    const auto rows = format::RowsBehind(*bench->ring().rows(), format::RowPageOf(open->chunk, open->sequence),
                                         open->dictionaries->classes.size(), open->dictionaries->stacks.size());
    left.has_page = rows.has_value();
    if (rows) left.in_page = Sum(rows->rows);
    note(*open);
  }
  if (bench->ring().header().state.load() == static_cast<uint32_t>(format::RingState::kClosed)) return left;
  const auto view = format::RingView::Of({bench->ring().bytes(), bench->ring().size()}).value();
  format::testing::CountingVisitor counter;
  for (uint32_t lane = 0; lane < bench->ring().lane_count(); ++lane) {
    const auto reached = format::WalkLane(view, lane, std::max(positions[lane], bench->ring().lane(lane).tail.load()),
                                          bench->ring().lane(lane).head.load(), counter);
    REQUIRE(reached.ok());
  }
  left.in_lanes = static_cast<uint64_t>(counter.light_points);
  return left;
}

// Commits `per_second` points of `classes` classes in the middle of each of `seconds` seconds.
std::vector<uint64_t> BlocksOfIntervals(uint64_t classes, uint64_t per_second, uint64_t seconds) {
  const auto bench_of_file = MakeBench();
  Bench& bench = *bench_of_file;
  Points points(&bench, classes);
  for (uint64_t second = 0; second < seconds; ++second) {
    points.Second(per_second, second);
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
    points.Second(600, second);
  }
  bench.EndAt(12 * kSecond + kSecond / 4);
  std::vector<uint64_t> counted;
  for (const auto& entry : std::filesystem::directory_iterator(bench.folder().path())) {
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
    points.Second(600, second);
    CHECK(Look(&bench).in_file == points.committed());
  }
}

TEST_CASE("While a block cannot be written, the ring has the rows of the last written one") {
  const auto bench_of_file = MakeBench();
  Bench& bench = *bench_of_file;
  Points points(&bench, 300);
  for (uint64_t second = 0; second < 2; ++second) {
    points.Second(600, second);
  }
  REQUIRE(Look(&bench).in_page == 1200);
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()));
    for (uint64_t second = 2; second < 4; ++second) {
      points.Second(600, second);
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
      points.Second(1200, second);
    }
  }
  bench.EndAt(21 * kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.chunks.size() > 1);
  CHECK(WriteFailed(read.counters) == 0);  // light points are no samples
}

}  // namespace heaprec::writer
