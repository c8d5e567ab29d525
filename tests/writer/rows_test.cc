// Rows: all points of the intervals in a block, by class and path to the site.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
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

}  // namespace heaprec::writer
