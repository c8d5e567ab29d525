// Row intervals of several blocks: when they end, and that file and ring have each point once, whenever the process
// ends. What happens within a write is in tests/crash.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

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

// So many of `classes` classes a second, at its middle, for so long.
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

}  // namespace heaprec::writer
