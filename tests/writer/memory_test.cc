// The drain's heap, whatever is recorded: every stack new, every class, every thread.
#include <malloc.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "format/ring/content_keys.h"
#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

constexpr uint64_t kDepth = 48;

// A sample whose stack, class and thread nobody has seen before; one of its methods is new as well.
void Unseen(Bench* bench, uint64_t id, uint64_t time_ns) {
  buffer::LaneLease lease(bench->ring(), static_cast<uint32_t>(id), 3000);
  REQUIRE(lease.ok());
  const std::string number = std::to_string(id);
  std::vector<format::RingFrame> frames;
  for (uint64_t level = 0; level < kDepth; ++level) {
    const uint64_t name = level == 0 ? id : (id * 31 + level * 7) % 2000;
    const std::string owner = "com/example/generated/Class" + std::to_string(name);
    frames.push_back(
        {format::MethodKey(owner, "method", "()V"), static_cast<int32_t>(level), static_cast<int32_t>(id % 900)});
    if (level > 0 && id >= 2000) continue;
    if (level == 0 || id % 40 == 0) PutMethod(&lease, owner, "method");
  }
  format::SampleRecord sample = SampleOf(id, time_ns);
  sample.stack_key = PutStack(&lease, frames);
  const std::string type = "com/example/generated/Data" + number, name = "pool-" + number;
  PutClass(&lease, type);
  sample.class_key = format::ClassKey(type);
  sample.thread_key = format::ThreadKey(id, 7, false, name);
  Put(&lease, format::RecordType::kThread,
      format::ThreadRecord{{}, sample.thread_key, id, 7, 0, static_cast<uint16_t>(name.size())}, name);
  sample.size = 16 + id % 4096;
  Put(&lease, format::RecordType::kSample, sample);
  bench->CountCommitted();
}

}  // namespace

TEST_CASE("Three minutes of stacks, classes and threads that were never seen before take less than 7.25 MiB of heap") {
  constexpr uint64_t kPerSecond = 180;  // what stage 1 lets through at 150/s
  constexpr size_t kMax = 29 << 18;
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  size_t most = 0;
  DrainConfig config;
  config.block_ns = 2 * kSecond;
  Bench bench(150, config);
  for (uint64_t second = 0; second < 180; ++second) {
    for (uint64_t i = 0; i < kPerSecond; ++i) {
      Unseen(&bench, second * kPerSecond + i + 1, second * kSecond + i * kSecond / kPerSecond);
      if (i % 20 != 0) continue;
      bench.TickAt(second * kSecond + i * kSecond / kPerSecond);
      most = std::max<size_t>(most, mallinfo2().uordblks + mallinfo2().hblkhd - before);
    }
  }
  bench.EndAt(180 * kSecond + 1);
  std::printf("heap of the drain: %.2f MB at most, %d chunks, %.1f bytes per event\n", static_cast<double>(most) / 1e6,
              bench.chunks(), static_cast<double>(std::filesystem::file_size(bench.path())) / (180 * 150));
  CHECK(most < kMax);
  CHECK(bench.chunks() <= 50);  // each writes all names again
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 180 * 150);
  CHECK(std::count(read.leaf_methods.begin(), read.leaf_methods.end(), "") == 0);
  CHECK(std::count(read.classes.begin(), read.classes.end(), "") == 0);
}

}  // namespace heaprec::writer
