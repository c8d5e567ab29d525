#include <algorithm>
#include <string>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

void Sample(Bench* bench, uint64_t id, uint64_t time_ns, const OneFrame& stack, Brings brings, double weight = 1000) {
  buffer::LaneLease lease(bench->ring(), 0, 400);
  REQUIRE(lease.ok());
  if (brings == Brings::kStack) stack.PutInto(&lease);
  format::SampleRecord sample{};
  sample.monotonic_ns = kStart + time_ns;
  sample.id = id;
  sample.stack_key = stack.key();
  sample.size = 100;
  sample.weight = sample.point_weight = weight;
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
