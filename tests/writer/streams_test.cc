// The drain with two streams: each has its intervals, its cap and its counters.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
TEST_CASE("Exceptions have their own intervals, cap and counters") {
  Bench bench(100, {}, 5);
  for (uint64_t i = 1; i <= 40; ++i) {
    bench.Sample(i, i * kSecond / 41, 1000, static_cast<uint32_t>(i));
    bench.Sample(100 + i, i * kSecond / 41 + 1, 3, static_cast<uint32_t>(i), format::Kind::kException);
  }
  bench.TickAt(kSecond / 2);
  CHECK(bench.ReadBack().samples.size() == 5);  // the allocations' second is not over
  buffer::SharedCounters(bench.ring().header().exceptions.counters).SetPopulation(120, 0);
  bench.TickAt(kSecond);
  const auto read = bench.ReadBack();
  double thrown = 0;
  for (const format::Sample& sample : read.samples) thrown += sample.weight_objects() * (sample.weight_bytes() == 0);
  CHECK(read.samples.size() == 40 + 2 * 5);
  CHECK(thrown == Approx(40 * 3.0));
  CHECK(read.counters.written == 40);
  CHECK(read.thrown.written == 10);
  CHECK(read.thrown.second_stage == 30);
  CHECK(read.thrown.candidates == 120);
  REQUIRE(read.intervals.size() == 3);
  CHECK(read.intervals[0].stream == format::Stream::kExceptions);
  uint64_t counted = 0;
  for (const format::Interval& one : read.intervals)
    counted += one.stream == format::Stream::kExceptions ? one.candidates : 0;
  CHECK(counted == 120);
}

TEST_CASE("A sample that waits for a long interval uses at most half of its lane") {
  Bench bench(10'000, {}, 5);
  bench.ring().header().interval_ns = 3600 * kSecond;
  bench.Sample(1, kSecond / 4);
  const uint32_t lane_bytes = bench.ring().lane_bytes();
  for (uint64_t i = 2; bench.ring().lane(0).head.load() < 3 * lane_bytes; ++i) {
    const uint64_t time_ns = i * kSecond / 100;
    bench.Sample(i, time_ns, 1, 0, format::Kind::kException);
    bench.TickAt(time_ns);
  }
  CHECK(bench.ring().lane(0).tail.load() > 2 * lane_bytes);
  bench.EndAt(3599 * kSecond);
  const auto read = bench.ReadBack();
  CHECK(std::any_of(read.samples.begin(), read.samples.end(), [](const auto& sample) { return sample.id == 1; }));
}

namespace {

// What walks of TLABs found, from the threads into rows: sums, names, chunks, full pages, and files that cannot be
// written.

uint64_t ObjectsIn(const Bench::Read& read) {
  uint64_t objects = 0;
  for (const auto& [key, row] : read.census) objects += row.objects.counted;
  return objects;
}

}  // namespace

TEST_CASE("Walks add up by second and class, and counters agree") {
  Bench bench(150);
  bench.Walk(kSecond / 4, "p/A", 10);
  bench.Walk(kSecond / 2, "p/A", 5);
  bench.Walk(kSecond / 2, "p/B", 7, 4);
  bench.TickAt(kSecond + kSecond / 50);
  bench.Walk(3 * kSecond / 2, "p/A", 1);
  bench.EndAt(2 * kSecond);
  const Bench::Read read = bench.ReadBack();
  REQUIRE(read.census.size() == 3);
  const format::CensusRow& first = read.census.at({0, "p/A"});
  CHECK(first.walks == 2);
  CHECK(first.objects == format::CensusSum{15, 0, 0, 0});
  CHECK(first.bytes.counted == 15 * 24);
  CHECK(read.census.at({0, "p/B"}).objects == format::CensusSum{7, 21, 4 * 3 * 49, 4 * 3 * 7 * 7 * 24});
  CHECK(read.census.at({1, "p/A"}).objects.counted == 1);
  CHECK(read.census_counters.walks == 4);
  CHECK(read.census_counters.walked_bytes == 23 * 24);
}

TEST_CASE("Every chunk names the classes of its rows") {
  Limits limits;
  limits.max_age_ns = 8 * kSecond;  // a chunk a second
  Bench bench(150, {}, 0, limits);
  for (uint64_t second = 0; second < 6; ++second) {
    bench.Walk(second * kSecond + kSecond / 2, "p/A", 2);
    bench.Sample(second + 1, second * kSecond + kSecond / 2);
    for (uint64_t tick = 1; tick <= 4; ++tick) bench.TickAt(second * kSecond + tick * kSecond / 4);
  }
  bench.EndAt(6 * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(read.chunks.size() > 2);
  for (const auto& [key, row] : read.census) CHECK(key.second == "p/A");
  CHECK(ObjectsIn(read) == 12);
}

TEST_CASE("All objects are counted, however many walks, threads and classes there are before the drain runs") {
  Bench bench(150);
  constexpr uint64_t kWalks = 200'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&bench, t] {
      for (uint64_t i = 0; i < kWalks / 4; ++i) bench.Walk(kSecond / 2, "p/C" + std::to_string(t * kWalks + i), 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  bench.EndAt(kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(ObjectsIn(read) == 3 * kWalks);
  CHECK(read.census_counters.lost == 0);
  CHECK(read.census.size() > 1000);
  CHECK(read.census.at({0, ""}).objects.counted > 0);  // of classes that have no row of their own
}

TEST_CASE("Walks during a drain that writes block after block are each counted once") {
  Bench bench(150);
  constexpr uint64_t kWalks = 50'000;
  std::atomic<int> at_work{4};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kWalks; ++i) bench.Walk(kSecond / 2, "p/C" + std::to_string(i % 50), 1);
      --at_work;
    });
  }
  uint64_t ticks = 0;
  while (at_work > 0) bench.TickAt(++ticks * kSecond / 1000);
  for (std::thread& thread : threads) thread.join();
  bench.EndAt((ticks + 1) * kSecond / 1000);
  const Bench::Read read = bench.ReadBack();
  INFO(read.blocks << " blocks");
  CHECK(read.blocks > 1);
  CHECK(ObjectsIn(read) == 4 * kWalks);
  CHECK(read.census.size() == 50);
}

TEST_CASE("While a disk stays full, no walk is lost") {
  Bench bench(150);
  bench.Walk(kSecond / 2, "p/A", 1);
  bench.TickAt(kSecond);
  uint64_t second = 1;
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()) + 10);
    for (; second < 300; ++second) {
      bench.Walk(second * kSecond + 1, "p/A", 3);
      bench.Sample(second, second * kSecond + 2);
      bench.TickAt((second + 1) * kSecond);
    }
  }
  bench.Walk(second * kSecond + 1, "p/A", 5);
  bench.EndAt((second + 1) * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(ObjectsIn(read) == 6 + 3 * 299);
  CHECK(read.census_counters.walked_bytes == 24 * ObjectsIn(read));
  CHECK(read.census_counters.lost == 0);
}

TEST_CASE("Walks are lost, and counted, if neither file nor ring can hold them at the end") {
  const FileSizeLimit full(64 << 10);
  Bench bench(2000);
  Load load{bench};
  const uint64_t& second = load.second;
  while (bench.outages().empty() && second < 1000) {
    bench.Walk(second * kSecond, "p/A", 3);
    load.Second();
  }
  REQUIRE(second < 1000);
  bench.EndAt((second + 1) * kSecond);
  const Bench::Read read = bench.ReadBack();
  CHECK(read.ending == "test");
  CHECK(ObjectsIn(read) < 3 * second);
  CHECK(ObjectsIn(read) + 3 * read.census_counters.lost == 3 * second);
  CHECK(24 * ObjectsIn(read) + read.census_counters.lost_bytes == read.census_counters.walked_bytes);
}

namespace {

// Snapshots: of their accounts the file has what changed, and all of it again after ten seconds.

using format::AccountItem;
using format::Amount;

void PutSnapshot(Bench* bench, uint64_t id, uint64_t time_ns, const std::vector<Amount>& amounts) {
  std::vector<uint64_t> codes;
  codes.reserve(amounts.size());
  for (const Amount amount : amounts) codes.push_back(amount.code());
  format::StateRecord record{};
  record.monotonic_ns = kStart + time_ns;
  record.id = id;
  record.items = static_cast<uint16_t>(codes.size());
  buffer::LaneLease lease(bench->ring(), 0, 2000);
  REQUIRE(lease.ok());
  Put(&lease, format::RecordType::kState, record,
      {reinterpret_cast<const char*>(codes.data()), codes.size() * sizeof(codes[0])});
}

std::vector<format::ProcessState> StatesOf(const Bench& bench) {
  const OpenedFile file(bench.path());
  std::vector<format::ProcessState> states;
  while (auto block = file.reader->Next()) states.insert(states.end(), block->states.begin(), block->states.end());
  return states;
}

}  // namespace

TEST_CASE("What has not changed is written again after ten seconds, across blocks and chunks") {
  Bench bench(5);
  const Amount fixed = Amount::Of(7);
  for (uint64_t second = 1; second <= 25; ++second) {
    PutSnapshot(&bench, second, second * kSecond, {fixed, Amount::NoLimit(), Amount::Of(second), {}});
    bench.TickAt(second * kSecond);
  }
  bench.EndAt(26 * kSecond);
  format::ProcessAccount known;
  std::vector<uint64_t> with_fixed;
  for (const format::ProcessState& state : StatesOf(bench)) {
    known.Update(state.account);
    CHECK(known[AccountItem::kCgroupMax] == fixed);
    CHECK(known[AccountItem::kCgroupHigh] == Amount::NoLimit());
    CHECK(known[AccountItem::kCgroupSwapMax] == Amount::Of(state.id));
    CHECK_FALSE(known[AccountItem::kCgroupCurrent].was_taken());
    if (state.account[AccountItem::kCgroupMax].was_taken()) with_fixed.push_back(state.id);
  }
  CHECK(with_fixed == std::vector<uint64_t>{1, 11, 21});
}

TEST_CASE("An amount that changes back is written each time") {
  Bench bench(5);
  for (uint64_t second = 1; second <= 4; ++second) {
    PutSnapshot(&bench, second, second * kSecond,
                {Amount::Of(second % 2), second == 3 ? Amount::NotKnown() : Amount()});
  }
  bench.EndAt(5 * kSecond);
  const auto states = StatesOf(bench);
  REQUIRE(states.size() == 4);
  for (const format::ProcessState& state : states)
    CHECK(state.account[AccountItem::kCgroupMax] == Amount::Of(state.id % 2));
  CHECK(states[2].account[AccountItem::kCgroupHigh] == Amount::NotKnown());
  CHECK_FALSE(states[3].account[AccountItem::kCgroupHigh].was_taken());
}

namespace {

void Sample(Bench* bench, uint64_t id, uint64_t time_ns, const OneFrame& stack, Brings brings, double weight = 1000) {
  buffer::LaneLease lease(bench->ring(), 0, 400);
  REQUIRE(lease.ok());
  if (brings == Brings::kStack) stack.PutInto(&lease);
  format::SampleRecord sample = SampleOf(id, time_ns, weight);
  sample.stack_key = stack.key();
  Put(&lease, format::RecordType::kSample, sample);
}

}  // namespace

TEST_CASE("A stack that no kept sample needs is not announced, and only its path is in the file") {
  Bench bench(1);
  const OneFrame heavy("heavy"), light("light");
  Sample(&bench, 1, kSecond / 10, light, Brings::kStack, 1);
  Sample(&bench, 2, kSecond / 5, heavy, Brings::kStack, 1e9);  // far above tau: kept for certain
  bench.TickAt(kSecond / 2);
  CHECK(bench.emitted().empty());
  bench.TickAt(kSecond);
  CHECK(bench.emitted() == std::vector<format::StackKey>{heavy.key()});
  bench.EndAt(3 * kSecond / 2);
  const auto read = bench.ReadBack();
  CHECK(read.leaf_methods == std::vector<std::string>{"p/C.heavy:14"});
  CHECK(read.stacks == 2);
  CHECK(read.rows.size() == 2);
}

TEST_CASE("A stack that occurs a second time is announced at once, and later samples do not bring it") {
  Bench bench(150);
  const OneFrame stack("often");
  Sample(&bench, 1, kSecond / 10, stack, Brings::kStack);
  Sample(&bench, 2, kSecond / 10, stack, Brings::kStack);
  bench.TickAt(kSecond / 8);
  CHECK(std::ranges::count(bench.emitted(), stack.key()) >= 1);
  Sample(&bench, 3, kSecond / 2, stack, Brings::kNothing);
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.leaf_methods == std::vector<std::string>(3, "p/C.often:14"));
  CHECK(read.stacks == 1);
}

TEST_CASE("Definitions that a buffered sample brought stay in the lane as long as the sample") {
  Bench bench(150);
  Sample(&bench, 1, kSecond / 2, OneFrame("early"), Brings::kStack);
  const uint64_t late_begin = bench.head();
  const OneFrame late("late");
  Sample(&bench, 2, 3 * kSecond / 2, late, Brings::kStack);
  bench.TickAt(kSecond);
  // The tail stands before the stack, behind the method: that is in the chunk.
  CHECK(bench.tail() > late_begin);
  CHECK(bench.tail() < bench.head() - sizeof(format::SampleRecord));
  bench.TickAt(2 * kSecond);
  CHECK(bench.tail() == bench.head());
  CHECK(bench.ReadBack().leaf_methods == std::vector<std::string>{"p/C.early:14", "p/C.late:14"});
}

TEST_CASE("A stack waits for its sample, but not for one that never arrives") {
  Bench bench(150);
  bench.LetTimePass();
  {
    buffer::LaneLease lease(bench.ring(), 0, 400);
    OneFrame("orphan").PutInto(&lease);
    bench.Sample(1, kSecond / 2, 1000, /*lane=*/1);
    bench.TickAt(kSecond);
    CHECK(bench.tail() < bench.head());
  }
  bench.Sample(2, 3 * kSecond / 2, 1000, /*lane=*/1);
  bench.TickAt(2 * kSecond);
  CHECK(bench.tail() == bench.head());
}

TEST_CASE("A stack that waits for a long interval outlives its lane's bytes and the chunk of its methods") {
  // Of allocations, beside exceptions of half a second; and of both.
  const bool both = GENERATE(false, true);
  Bench bench(150, {}, 5);
  bench.ring().header().interval_ns = 3600 * kSecond;
  if (both) bench.ring().header().exceptions.interval_ns = 3600 * kSecond;
  Sample(&bench, 1, kSecond / 10, OneFrame("patient"), Brings::kStack);
  bench.TickAt(kSecond);
  for (uint64_t second = 70; second <= 280; second += 70) {
    bench.TickAt(second * kSecond);
    // What has been given back is written by others.
    std::memset(reinterpret_cast<std::byte*>(&bench.ring().lane(0)) + format::kLaneHeaderBytes, 0x5a, bench.tail());
  }
  CHECK(bench.chunks() >= 3);
  bench.EndAt(290 * kSecond);
  CHECK(bench.ReadBack().leaf_methods == std::vector<std::string>{"p/C.patient:14"});
}

}  // namespace heaprec::writer
