// Estimates of small recordings that can be worked out by hand.
#include "tools/analysis/estimate/estimator.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/groups/grouping.h"
#include "tools/analysis/totals/totals.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

format::FileHeader Header(const char* source) {
  format::FileHeader header;
  header.interval_ns = kSecond;
  header.source = source;
  return header;
}

// Blocks of one interval each.
class Recorded {
 public:
  explicit Recorded(const char* source = "hooks") : design_(Header(source)) {}

  void Sample(uint64_t size, double weight, uint32_t thread = 0) {
    format::Sample sample;
    sample.time_ns = interval_ * kSecond + 5;
    sample.size = size;
    sample.weight = weight;
    sample.thread = thread;
    block_.samples.push_back(sample);
  }
  // A row of thread 1.
  void Row(const format::Row& row) { block_.rows.push_back(row); }
  void EndInterval(uint64_t counted, bool by_rows = false) {
    format::Interval interval;
    interval.index = interval_++;
    interval.bytes = counted;
    interval.buffered = interval.kept = block_.samples.size();
    block_.intervals.push_back(interval);
    for (const WeightedSample& drawn : design_.Add(block_, by_rows)) {
      if (by_rows || block_.samples[drawn.index].thread == 1) one_.Add(drawn);
    }
    block_ = {};
  }

  const Design& design() const { return design_; }
  const Subset& one() const { return one_; }  // the samples of thread 1

 private:
  Design design_;
  Subset one_;
  format::Block block_;
  uint64_t interval_ = 0;
};

double Pi(double lambda, double size) { return -std::expm1(-lambda * size); }

TEST_CASE("The variance of samples is that of independent draws") {
  Recorded recorded;
  const double weight = 500 / Pi(1e-3, 500);
  recorded.Sample(500, weight, 1);
  recorded.Sample(500, weight, 1);
  recorded.Sample(1'000'000, 1'000'000, 1);  // certain
  recorded.EndInterval(1'003'000);
  const Subset& of = recorded.one();
  const double p = Pi(1e-3, 500);
  CHECK(of.samples() == 3);
  CHECK(of.bytes() == Approx(2 * weight + 1'000'000));
  CHECK(of.objects() == Approx(2 / p + 1));
  CHECK(of.seen() == 1'001'000);
  CHECK(of.variance().bytes == Approx(2 * 500 * 500 * (1 - p) / (p * p)));
  CHECK(of.variance().objects == Approx(2 * (1 - p) / (p * p)));
  CHECK(of.variance().both == Approx(2 * 500 * (1 - p) / (p * p)));
  const double term = 500 * 500 * (1 - p) / (p * p);
  CHECK(of.bytes_fourth() == Approx(2 * term * term));
}

TEST_CASE("Rows have the sums of their points, whichever points were kept") {
  format::Row row;
  for (const uint64_t size : {16, 32, 400, 1000})
    row.Add(size, static_cast<double>(size) / Pi(1e-4, static_cast<double>(size)));
  Recorded by_rows;
  by_rows.Row(row);
  by_rows.Sample(16, 40'000);
  by_rows.EndInterval(50'000, /*by_rows=*/true);
  Recorded by_samples;
  for (const uint64_t size : {16, 32, 400, 1000})
    by_samples.Sample(size, static_cast<double>(size) / Pi(1e-4, static_cast<double>(size)), 1);
  by_samples.EndInterval(50'000);
  const Subset &rows = by_rows.one(), &samples = by_samples.one();
  CHECK(rows.samples() == 4);
  CHECK(rows.seen() == samples.seen());
  CHECK(rows.bytes() == Approx(samples.bytes()));
  CHECK(rows.objects() == Approx(samples.objects()));
  CHECK(rows.variance().bytes == Approx(samples.variance().bytes));
  CHECK(rows.variance().objects == Approx(samples.variance().objects));
  CHECK(rows.variance().both == Approx(samples.variance().both));
  CHECK(rows.bytes_fourth() == Approx(samples.bytes_fourth()));
  CHECK(rows.objects_fourth() == Approx(samples.objects_fourth()));
}

TEST_CASE("Calibrated estimates add up to the counted bytes, including lost ones") {
  Recorded recorded;
  for (uint32_t i = 0; i < 8; ++i) recorded.Sample(80, 80 / Pi(1e-4, 80), i % 2);
  recorded.EndInterval(100'000);
  const double sampled = recorded.design().all().bytes();
  const Estimator raw(recorded.design(), 5'000, Weights::kRaw), calibrated(recorded.design(), 5'000);
  CHECK(raw.factor() == 1);
  CHECK(calibrated.factor() == Approx(100'000 / (sampled + 5'000)));
  CHECK(calibrated.Total().value == Approx(100'000));
  CHECK(calibrated.Total().low == calibrated.Total().high);
  CHECK(raw.Total().low < sampled);
  CHECK(raw.Total().high > sampled);
  CHECK(raw.Total().value == Approx(sampled));
  CHECK(calibrated.Bytes(recorded.one()).value == Approx(calibrated.factor() * sampled / 2));
  CHECK(calibrated.Objects(recorded.one()).value == Approx(calibrated.factor() * recorded.one().objects()));
  CHECK(calibrated.Share(recorded.one()).value == Approx(0.5));
  CHECK(calibrated.MeanSize(recorded.one()).value == Approx(80));
  CHECK(calibrated.MeanSize(recorded.one()).high == Approx(80));
}

TEST_CASE("A large share has a narrower interval if the total is known") {
  Recorded recorded;
  for (uint32_t i = 0; i < 100; ++i) recorded.Sample(80, 80 / Pi(1e-4, 80), i < 90 ? 1 : 0);
  recorded.EndInterval(1'000'000);
  const Estimate raw = Estimator(recorded.design(), 0, Weights::kRaw).Bytes(recorded.one());
  const Estimate calibrated = Estimator(recorded.design(), 0).Bytes(recorded.one());
  CHECK((calibrated.high - calibrated.low) / (raw.high - raw.low) == Approx(std::sqrt(0.1)).epsilon(0.1));
  CHECK(calibrated.high < 1'000'000);
}

TEST_CASE("For objects of one size their number follows from the bytes") {
  Recorded recorded;
  for (uint32_t i = 0; i < 9; ++i) recorded.Sample(80, 80 / Pi(1e-4, 80), 1);
  recorded.EndInterval(80'000);
  const Estimate objects = Estimator(recorded.design(), 0).Objects(recorded.one());
  CHECK(objects.value == Approx(1000));
  CHECK(objects.low == Approx(1000));
  CHECK(objects.high == Approx(1000));
}

TEST_CASE("Lost points are in the total, and any subset may have none or all of them") {
  constexpr double kLost = 200'000;
  Recorded recorded;
  for (uint32_t i = 0; i < 200; ++i) recorded.Sample(80, 80 / Pi(1e-4, 80), i % 2);
  const double half = 100 * 80 / Pi(1e-4, 80), counted = std::round(2 * half + kLost);
  recorded.EndInterval(static_cast<uint64_t>(counted));
  const Subset& one = recorded.one();

  const Estimator lossy(recorded.design(), kLost), lossless(recorded.design(), 0);
  CHECK(lossy.Total().value == Approx(counted));
  CHECK(lossy.Total().low == lossy.Total().high);
  CHECK(lossy.Bytes(one).value == Approx(half));
  const Estimate known = lossless.Share(one);
  CHECK(lossy.Bytes(one).low == Approx(known.low * 2 * half));
  CHECK(lossy.Bytes(one).high == Approx(known.high * 2 * half + kLost));
  CHECK(lossy.Share(one).value == Approx(0.5));
  CHECK(lossy.Share(one).low == Approx(known.low * 2 * half / counted));
  CHECK(lossy.Share(one).high == Approx((known.high * 2 * half + kLost) / counted));
  CHECK(lossy.Objects(one).low <= half / 80);
  CHECK(lossy.Objects(one).high >= (half + kLost) / 80);

  Recorded nothing;
  nothing.EndInterval(300'000);
  CHECK(Estimator(nothing.design(), kLost).Total().value == Approx(300'000));
  CHECK(Estimator(nothing.design(), kLost).Bytes(nothing.one()).high >= 300'000);
}

TEST_CASE("A subset without samples has an upper end of a few samples") {
  Recorded recorded;
  for (int i = 0; i < 1000; ++i) recorded.Sample(80, 10'000);
  recorded.EndInterval(10'000'000);
  const Estimator estimator(recorded.design(), 0);
  const Subset none;
  CHECK(estimator.Bytes(none).value == 0);
  CHECK(estimator.Bytes(none).low == 0);
  CHECK(estimator.Bytes(none).high == Approx(36'500).epsilon(0.02));
  CHECK(estimator.Share(none).high == Approx(0.00365).epsilon(0.02));
  CHECK(estimator.Objects(none).high == Approx(36'500 / 16.0).epsilon(0.02));  // the smallest there are
  CHECK(std::isinf(estimator.MeanSize(none).high));
}

TEST_CASE("No interval ends below what was seen") {
  Recorded recorded;
  recorded.Sample(5'000'000, 5'000'000 / Pi(1e-6, 5'000'000), 1);
  recorded.Sample(24, 1e6);
  recorded.EndInterval(6'000'000);
  for (const Weights weights : {Weights::kRaw, Weights::kCalibrated}) {
    const Estimator estimator(recorded.design(), 0, weights);
    CHECK(estimator.Bytes(recorded.one()).low >= std::min(5e6, estimator.Bytes(recorded.one()).value));
    CHECK(estimator.Objects(recorded.one()).low >= std::min(1.0, estimator.Objects(recorded.one()).value));
  }
}

TEST_CASE("Samples of intervals without a count are calibrated by the others") {
  Recorded recorded;
  for (int i = 0; i < 10; ++i) recorded.Sample(80, 10'000);
  recorded.EndInterval(110'000);
  for (int i = 0; i < 10; ++i) recorded.Sample(80, 10'000, 1);
  recorded.EndInterval(0);  // salvaged
  const Estimator estimator(recorded.design(), 0);
  CHECK(estimator.factor() == Approx(1.1));
  CHECK(estimator.Total().value == Approx(220'000));
  CHECK(estimator.Total().low > 110'000);
  CHECK(estimator.Total().low < 200'000);
  CHECK(estimator.Total().high > 240'000);
}

TEST_CASE("A recording without samples, or without counted bytes, is not calibrated") {
  const Recorded empty;
  const Estimator of_nothing(empty.design(), 0);
  CHECK_FALSE(of_nothing.calibrated());
  CHECK(of_nothing.Total().high == 0);
  CHECK(of_nothing.Share(empty.one()).high == 1);
  CHECK(of_nothing.Bytes(empty.one()).value == 0);
  CHECK(of_nothing.Objects(empty.one()).value == 0);

  Recorded jvmti("jvmti");
  jvmti.Sample(80, 10'000, 1);
  jvmti.EndInterval(0);
  const Estimator estimator(jvmti.design(), 0);
  CHECK_FALSE(estimator.calibrated());
  CHECK(estimator.factor() == 1);
  CHECK(estimator.Bytes(jvmti.one()).high > 30'000);
}

TEST_CASE("A share of the selection is exact only if it is 100 %") {
  Recorded recorded;
  for (uint32_t i = 0; i < 10; ++i) recorded.Sample(80, 10'000, i < 4 ? 1 : 0);
  recorded.EndInterval(100'000);
  const Subset& four = recorded.one();
  const auto of_selection = [&](const Subset& whole, Estimator::ChosenBy chosen) {
    return Estimator(recorded.design(), 0, Weights::kCalibrated, &whole, 0, chosen).Share(four);
  };
  const Estimate all = of_selection(four, Estimator::ChosenBy::kAny);
  CHECK(all.low == 1);
  CHECK(all.high == 1);
  const Estimate of_time = of_selection(four, Estimator::ChosenBy::kTime);
  CHECK(of_time.value == 1);
  CHECK(of_time.low < 0.7);  // Clopper and Pearson's of 4 in 4 begins at 0.4
  CHECK(of_time.low > 0.3);
  const Estimate part = of_selection(recorded.design().all(), Estimator::ChosenBy::kAny);
  CHECK(part.value == Approx(0.4));
  // Clopper and Pearson's of 4 in 10 is 0.122 to 0.738.
  CHECK(part.low == Approx(0.122).epsilon(0.1));
  CHECK(part.high == Approx(0.738).epsilon(0.05));
}

TEST_CASE("Samples of unknown probability have the variance of their weights") {
  Recorded recorded("imported");
  recorded.Sample(80, 10'000'000, 1);
  recorded.EndInterval(9'000'000);
  CHECK(recorded.one().variance().bytes == Approx(1e14));
}

TEST_CASE("A share of equal independent samples has Clopper and Pearson's interval") {
  // 3 of 10: exactly 0.06674 and 0.65245.
  const Estimate some = ShareInterval(0.3, 0.3 * 0.7 / 10, 0.1);
  CHECK(some.value == 0.3);
  CHECK(some.low == Approx(0.06674).margin(0.002));
  CHECK(some.high == Approx(0.65245).margin(0.002));
}

TEST_CASE("None of ten and all of ten are mirror images, with ends at 0 and 1") {
  const Estimate none = ShareInterval(0, 0, 0.1), all = ShareInterval(1, 0, 0.1);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(0.30850).margin(0.002));  // the exact end
  CHECK(all.low == Approx(1 - none.high));
  CHECK(all.high == 1);
}

TEST_CASE("A total of few samples has Garwood's interval of their count, not below zero") {
  // Four samples of 100 each: exactly 108.99 and 1024.16; one sample: 2.53 and 557.16.
  const Estimate four = TotalInterval(400, 4 * 100.0 * 100, 100);
  CHECK(four.low == Approx(108.99).margin(2));
  CHECK(four.high == Approx(1024.16).margin(2));
  const Estimate one = TotalInterval(100, 100.0 * 100, 100);
  CHECK(one.low > 1);
  CHECK(one.low < 2.53);
  CHECK(one.high == Approx(557.16).margin(2));
  const Estimate none = TotalInterval(0, 0, 100);
  CHECK(none.low == 0);
  CHECK(none.high == Approx(368.9).margin(3));
}

TEST_CASE("a total of many samples has the normal interval") {
  const Estimate many = TotalInterval(1e6, 1e6, 1);
  CHECK(many.low == Approx(1e6 - kZ * 1e3).margin(3));
  CHECK(many.high == Approx(1e6 + kZ * 1e3).margin(3));
}

TEST_CASE("A variance that is below zero by chance still gives an interval around the value") {
  for (const Estimate& of : {TotalInterval(50, -1, 0), ShareInterval(0.5, -1, 0), RatioInterval(0.5, -1, 9)}) {
    CHECK(of.low == of.value);
    CHECK(of.high == of.value);
  }
}

TEST_CASE("A ratio has Student's interval, and none with fewer than two samples") {
  const Estimate ten = RatioInterval(100, 81, 10);
  // t(9) = 2.2622; the variance is that of n, not n - 1.
  CHECK(ten.high - 100 == Approx(2.2622 * 9 * std::sqrt(10.0 / 9)).epsilon(0.005));
  CHECK(ten.low == Approx(200 - ten.high));
  CHECK(RatioInterval(1, 4, 100).low == 0);
  for (const double too_few : {0.0, 1.0, 1.9, std::nan("")}) {
    CHECK(RatioInterval(7, 0, too_few).low == 0);
    CHECK(std::isinf(RatioInterval(7, 0, too_few).high));
  }
}

// Figures of groups over several recordings, and the tables that hold them.

// Samples of objects of `size` bytes with a weight of `weight` bytes each, one after the other.
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

format::Sample SampleAt(uint64_t time_ns, format::Kind kind, uint64_t size, double weight) {
  format::Sample sample{.time_ns = time_ns, .kind = kind};
  sample.size = size;
  sample.weight = weight;
  return sample;
}

TEST_CASE("A window that is repeated in a later chunk is counted once") {
  StreamTotals totals(kSecond);
  format::Block block;
  block.windows = {{1, 0, 1e-6}, {2, 10, 1e-6}, {3, 20, 1e-6}};
  totals.Add(block);
  block.windows = {{4, 30, 1e-6}};
  totals.Add(block);
  block.chunk = 1;
  block.windows = {{3, 20, 1e-6}, {4, 30, 1e-6}, {5, 40, 1e-6}};
  totals.Add(block);
  CHECK(totals.windows == 5);
}

TEST_CASE("Weights add up by kind, and the busiest interval is found across blocks") {
  StreamTotals totals(kSecond);
  format::Block block;
  block.samples = {SampleAt(1, format::Kind::kTlab, 10, 100), SampleAt(kSecond - 1, format::Kind::kTlab, 10, 100),
                   SampleAt(kSecond, format::Kind::kOutside, 10, 30)};
  totals.Add(block);
  block.samples = {SampleAt(kSecond + 1, format::Kind::kTlab, 10, 100),
                   SampleAt(kSecond + 2, format::Kind::kTlab, 10, 5),
                   SampleAt(2 * kSecond, format::Kind::kTlab, 10, 5)};
  block.end_ns = 3 * kSecond;
  totals.Add(block);
  CHECK(totals.events() == 6);
  CHECK(totals.kinds[1].events == 1);
  CHECK(totals.bytes() == 340);
  CHECK(totals.objects() == 34);
  CHECK(totals.most_in_interval == 3);
  CHECK(totals.last_ns == 3 * kSecond);
}

}  // namespace

}  // namespace heaprec::tools
