// Figures of groups over several recordings, and the tables that hold them.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/groups/grouping.h"

namespace heaprec::tools {
namespace {

// Samples of objects of `size` bytes that stand for `weight` bytes each, one after the other.
struct Of {
  GroupTable::Key key;
  uint64_t size;
  double weight;
  int count;
};

// `lost`: bytes of lost points, counted too.
void AddRecording(const std::vector<Of>& all, GroupTable* table, double lost = 0) {
  format::FileHeader header;
  header.interval_ns = 1'000'000'000;
  Design design(header);
  format::Block block;
  std::vector<GroupTable::Key> keys;
  double bytes = lost;
  for (const Of& of : all) {
    for (int i = 0; i < of.count; ++i) {
      format::Sample sample;
      sample.size = of.size;
      sample.weight = of.weight;
      block.samples.push_back(sample);
      keys.push_back(of.key);
      bytes += of.weight;
    }
  }
  format::Interval interval;
  interval.bytes = static_cast<uint64_t>(bytes);
  block.intervals.push_back(interval);
  table->Start();
  for (const WeightedSample& drawn : design.Add(block)) table->Add(keys[drawn.index], drawn);
  table->Close(Estimator(design, lost));
}

bool Holds(const Estimate& estimate) { return estimate.low <= estimate.value && estimate.value <= estimate.high; }

TEST_CASE("The figures of one recording are the estimator's") {
  GroupTable table;
  AddRecording({{7, 24, 2400, 30}, {3, 1000, 5000, 6}}, &table);
  REQUIRE(table.Rows().size() == 2);
  const GroupEstimates& small = table.Of(7);
  CHECK(small.samples == 30);
  CHECK(small.bytes.value == Approx(72'000));
  CHECK(small.objects.value == Approx(3'000));
  CHECK(small.share.value == Approx(72.0 / 102));
  CHECK(small.mean_size.value == Approx(24));
  CHECK(table.Of(3).share.value == Approx(30.0 / 102));
  CHECK(table.Of(99).bytes.value == 0);
  CHECK(table.Of(99).bytes.high == table.Unseen().bytes.high);
  CHECK(table.Unseen().bytes.high > 0);
}

TEST_CASE("The losses of several recordings may all belong to one group") {
  constexpr double kLost = 50'000;
  const std::vector<Of> all{{0, 24, 2400, 40}, {1, 100, 2400, 60}};
  GroupTable lossless, lossy;
  for (int i = 0; i < 4; ++i) {
    AddRecording(all, &lossless);
    AddRecording(all, &lossy, kLost);
  }
  for (const GroupTable::Key group : {0, 1, 99}) {
    CAPTURE(group);
    const GroupEstimates &without = lossless.Of(group), &with = lossy.Of(group);
    CHECK(with.bytes.high == Approx(without.bytes.high + 4 * kLost));
    CHECK(with.share.high * (960'000 + 4 * kLost) == Approx(without.share.high * 960'000 + 4 * kLost));
    CHECK(with.share.low * (960'000 + 4 * kLost) == Approx(without.share.low * 960'000));
    CHECK(Holds(with.bytes));
    CHECK(Holds(with.objects));
    CHECK(Holds(with.share));
  }
}

TEST_CASE("Several recordings add up, and errors grow with the square root of their number") {
  GroupTable one, four;
  const std::vector<Of> all{{0, 24, 2400, 40}, {1, 100, 2400, 60}};
  AddRecording(all, &one);
  for (int i = 0; i < 4; ++i) AddRecording(all, &four);
  const GroupEstimates &a = one.Of(0), &b = four.Of(0);
  CHECK(b.samples == 4 * a.samples);
  CHECK(b.bytes.value == Approx(4 * a.bytes.value));
  CHECK(b.bytes.high - b.bytes.value == Approx(2 * (a.bytes.high - a.bytes.value)));
  CHECK(b.bytes.value - b.bytes.low == Approx(2 * (a.bytes.value - a.bytes.low)));
  CHECK(b.objects.high - b.objects.value == Approx(2 * (a.objects.high - a.objects.value)));
  CHECK(b.share.value == Approx(a.share.value));
  CHECK(b.share.high - b.share.value == Approx((a.share.high - a.share.value) / 2));
  CHECK(b.mean_size.value == Approx(24));
  CHECK(b.mean_size.high - b.mean_size.value == Approx((a.mean_size.high - a.mean_size.value) / 2).margin(1e-9));
}

TEST_CASE("A group that is in only one recording may be in the other without samples") {
  GroupTable late, early;
  AddRecording({{0, 24, 2400, 50}}, &late);
  AddRecording({{0, 24, 2400, 50}, {1, 24, 2400, 10}}, &late);
  AddRecording({{0, 24, 2400, 50}, {1, 24, 2400, 10}}, &early);
  AddRecording({{0, 24, 2400, 50}}, &early);
  CHECK(late.Of(1).bytes.value == Approx(24'000));
  CHECK(late.Of(1).bytes.high == Approx(early.Of(1).bytes.high));
  CHECK(late.Of(1).share.value == Approx(10.0 / 110));
  CHECK(late.Of(1).share.high == Approx(early.Of(1).share.high));
  CHECK(late.Of(1).mean_size.value == Approx(24));
  GroupTable alone;
  AddRecording({{0, 24, 2400, 50}, {1, 24, 2400, 10}}, &alone);
  CHECK(late.Of(1).bytes.high > alone.Of(1).bytes.high);
}

TEST_CASE("Mean sizes of recordings are weighted with their objects, whose shares are uncertain") {
  GroupTable table;
  // 2,000 objects, then 10,000; of another group so many bytes again, or the bytes would be counted.
  AddRecording({{0, 100, 10'000, 20}, {1, 24, 10'000, 20}}, &table);
  AddRecording({{0, 20, 10'000, 20}, {1, 24, 10'000, 20}}, &table);
  const GroupEstimates& both = table.Of(0);
  CHECK(both.mean_size.value == Approx(400'000.0 / 12'000));
  CHECK(both.mean_size.value == Approx(both.bytes.value / both.objects.value));
  CHECK(Holds(both.mean_size));
  CHECK(both.mean_size.high > 1.01 * both.mean_size.value);
}

TEST_CASE("A recording without samples changes nothing") {
  GroupTable table, same;
  const std::vector<Of> all{{0, 24, 2400, 40}, {1, 100, 2400, 60}};
  AddRecording(all, &same);
  AddRecording({}, &table);
  AddRecording(all, &table);
  AddRecording({}, &table);
  CHECK(table.Of(0).bytes.high == same.Of(0).bytes.high);
  CHECK(table.Of(0).share.low == same.Of(0).share.low);
  CHECK(table.Of(0).mean_size.high == same.Of(0).mean_size.high);
  CHECK(table.Of(0).samples == 40);
}

}  // namespace
}  // namespace heaprec::tools
