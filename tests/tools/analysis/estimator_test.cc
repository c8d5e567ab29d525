// Estimates of small recordings that can be worked out by hand.
#include "tools/analysis/estimate/estimator.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/systematic_order.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

format::FileHeader Header(const char* source = "hooks", uint64_t most = 0) {
  format::FileHeader header;
  header.max_samples = most;
  header.interval_ns = kSecond;
  header.source = source;
  return header;
}

// Blocks of one interval each.
class Recorded {
 public:
  explicit Recorded(const char* source = "hooks", uint64_t most = 0) : design_(Header(source, most)) {}

  // lambda of the window of the samples that follow.
  void Window(double lambda) { block_.windows.push_back({++window_, 0, lambda}); }
  void Sample(uint64_t size, double weight, uint32_t thread = 0) {
    format::Sample sample;
    sample.time_ns = interval_ * kSecond + 5;
    sample.size = size;
    sample.weight = weight;
    sample.window = window_;
    sample.thread = thread;
    block_.samples.push_back(sample);
  }
  void EndInterval(uint64_t counted, double tau = 0) {
    format::Interval interval;
    interval.index = interval_++;
    interval.bytes = counted;
    interval.tau = tau;
    interval.buffered = interval.kept = block_.samples.size();
    block_.intervals.push_back(interval);
    for (const WeightedSample& drawn : design_.Add(block_)) {
      if (block_.samples[drawn.index].thread == 1) one_.Add(drawn);
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
  uint32_t window_ = 0;
};

double Pi(double lambda, double size) { return -std::expm1(-lambda * size); }

TEST_CASE("one stage: the variance is that of independent draws") {
  Recorded recorded;
  recorded.Window(1e-3);
  const double weight = 500 / Pi(1e-3, 500);
  recorded.Sample(500, weight, 1);
  recorded.Sample(500, weight, 1);
  recorded.EndInterval(3000);
  const Subset& of = recorded.one();
  const double p = Pi(1e-3, 500);
  CHECK(of.bytes() == Approx(2 * weight));
  CHECK(of.objects() == Approx(2 / p));
  CHECK(of.WholeChain().bytes == Approx(2 * 500 * 500 * (1 - p) / (p * p)));
  CHECK(of.WholeChain().objects == Approx(2 * (1 - p) / (p * p)));
  CHECK(of.WholeChain().both == Approx(2 * 500 * (1 - p) / (p * p)));
  CHECK(of.bytes_with_all() == Approx(of.WholeChain().bytes));
}

TEST_CASE("the second stage adds nothing to the variance of all bytes") {
  Recorded recorded;
  for (int interval = 0; interval < 3; ++interval) {
    recorded.Window(1e-4 * (interval + 1));
    for (uint64_t size : {16, 32, 400, 1000}) recorded.Sample(size, 50'000, 1);
    recorded.Window(1e-2);
    recorded.Sample(1'000'000, 1'000'000, 1);  // certain in both
    recorded.Sample(640, 70'000, 1);           // raised more than the others: a prefix that was reduced again
    recorded.EndInterval(300'000);
  }
  const Subset& of = recorded.one();
  double first_stage = 0;
  for (int interval = 0; interval < 3; ++interval) {
    for (double size : {16.0, 32.0, 400.0, 1000.0}) {
      first_stage += 50'000 * (size / Pi(1e-4 * (interval + 1), size) - size);
    }
    first_stage += 70'000 * (640 / Pi(1e-2, 640) - 640);
  }
  CHECK(of.WholeChain().bytes == Approx(first_stage));
  CHECK(of.bytes_with_all() == Approx(first_stage));
  CHECK(of.independent().bytes > 2 * first_stage);
}

TEST_CASE("of the second stage, a piece of the line has the variance of its ends, however many samples it has") {
  Recorded one, five;
  for (Recorded* recorded : {&one, &five}) {
    recorded->Window(1e-3);
    const uint32_t ours = recorded == &one ? 1 : 5;
    for (uint32_t i = 0; i < 10; ++i) recorded->Sample(100, 50'000, i < ours ? 1 : 0);
    recorded->EndInterval(500'000);
  }
  const double first_stage = 50'000 * (100 / Pi(1e-3, 100) - 100),
               second_stage = 50'000 * (50'000 - 100 / Pi(1e-3, 100));
  CHECK(one.one().WholeChain().bytes == Approx(first_stage + second_stage));
  // Four that were not to be expected: no rare place.
  const double left = RoundingLeft(4, 50'000 / (100 / Pi(1e-3, 100)));
  CHECK(five.one().WholeChain().bytes == Approx(5 * first_stage + left * second_stage));
  CHECK(left < 0.2);
}

TEST_CASE(
    "maxsamples=N: what intervals without a sample held makes the total uncertain, and few samples are drawn freely") {
  Recorded recorded("hooks", 1);
  recorded.Window(1e-3);
  recorded.Sample(500, 4000, 1);
  recorded.EndInterval(1000, 4000);   // a quota of 1/4
  recorded.EndInterval(1000, 20000);  // of 1/20, and nothing kept
  CHECK(recorded.one().WholeChain().bytes == Approx(4000.0 * (4000 - 500)));
  const double quotas = 4000.0 * 4000 * 0.25 * 0.75 + 20000.0 * 20000 * 0.05 * 0.95;
  CHECK(recorded.design().VarianceOfBytes() == Approx(quotas));
  const Estimate total = Estimator(recorded.design(), 0, Weights::kRaw).Total();
  CHECK(total.value == 4000);
  CHECK(total.high > 4000 + 1.96 * std::sqrt(quotas));
}

TEST_CASE("maxsamples=N: a quota of many samples leaves the second stage as it is") {
  Recorded bounded("hooks", 100), free;
  for (Recorded* recorded : {&bounded, &free}) {
    recorded->Window(1e-3);
    for (int i = 0; i < 40; ++i) recorded->Sample(500, 4000, i < 20 ? 1 : 2);
    recorded->EndInterval(160000, 4000);
  }
  CHECK(bounded.one().WholeChain().bytes == free.one().WholeChain().bytes);
  CHECK(bounded.design().VarianceOfBytes() == free.design().VarianceOfBytes());
}

TEST_CASE("calibrated estimates add up to the counted bytes, lost ones included") {
  Recorded recorded;
  recorded.Window(1e-4);
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

TEST_CASE("a large share has a narrower interval when the total is known") {
  Recorded recorded;
  recorded.Window(1e-4);
  for (uint32_t i = 0; i < 100; ++i) recorded.Sample(80, 80 / Pi(1e-4, 80), i < 90 ? 1 : 0);
  recorded.EndInterval(1'000'000);
  const Estimate raw = Estimator(recorded.design(), 0, Weights::kRaw).Bytes(recorded.one());
  const Estimate calibrated = Estimator(recorded.design(), 0).Bytes(recorded.one());
  CHECK((calibrated.high - calibrated.low) / (raw.high - raw.low) == Approx(std::sqrt(0.1)).epsilon(0.1));
  CHECK(calibrated.high < 1'000'000);
}

TEST_CASE("objects of one size are known as soon as their bytes are") {
  Recorded recorded;
  recorded.Window(1e-4);
  for (uint32_t i = 0; i < 9; ++i) recorded.Sample(80, 80 / Pi(1e-4, 80), 1);
  recorded.EndInterval(80'000);
  const Estimate objects = Estimator(recorded.design(), 0).Objects(recorded.one());
  CHECK(objects.value == Approx(1000));
  CHECK(objects.low == Approx(1000));
  CHECK(objects.high == Approx(1000));
}

TEST_CASE("lost points are in the total, and any subset may have none or all of them") {
  constexpr double kLost = 200'000;
  Recorded recorded;
  recorded.Window(1e-4);
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

TEST_CASE("a subset without samples is bounded by what a few samples stand for") {
  Recorded recorded;
  recorded.Window(1e-4);
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

TEST_CASE("no interval ends below what was seen") {
  Recorded recorded;
  recorded.Window(1e-6);
  recorded.Sample(5'000'000, 5'000'000 / Pi(1e-6, 5'000'000), 1);
  recorded.Sample(24, 1e6);
  recorded.EndInterval(6'000'000);
  for (const Weights weights : {Weights::kRaw, Weights::kCalibrated}) {
    const Estimator estimator(recorded.design(), 0, weights);
    CHECK(estimator.Bytes(recorded.one()).low >= std::min(5e6, estimator.Bytes(recorded.one()).value));
    CHECK(estimator.Objects(recorded.one()).low >= std::min(1.0, estimator.Objects(recorded.one()).value));
  }
}

TEST_CASE("samples of intervals that nobody counted are calibrated by the others") {
  Recorded recorded;
  recorded.Window(1e-4);
  for (int i = 0; i < 10; ++i) recorded.Sample(80, 10'000);
  recorded.EndInterval(110'000);
  recorded.Window(1e-4);
  for (int i = 0; i < 10; ++i) recorded.Sample(80, 10'000, 1);
  recorded.EndInterval(0);  // salvaged
  const Estimator estimator(recorded.design(), 0);
  CHECK(estimator.factor() == Approx(1.1));
  CHECK(estimator.Total().value == Approx(220'000));
  CHECK(estimator.Total().low > 110'000);
  CHECK(estimator.Total().low < 200'000);
  CHECK(estimator.Total().high > 240'000);
}

TEST_CASE("an empty recording, and one whose bytes were not counted, are not calibrated") {
  const Recorded empty;
  const Estimator of_nothing(empty.design(), 0);
  CHECK_FALSE(of_nothing.calibrated());
  CHECK(of_nothing.Total().high == 0);
  CHECK(of_nothing.Share(empty.one()).high == 1);
  CHECK(of_nothing.Bytes(empty.one()).value == 0);
  CHECK(of_nothing.Objects(empty.one()).value == 0);

  Recorded jvmti("jvmti");
  jvmti.Window(1e-4);
  jvmti.Sample(80, 10'000, 1);
  jvmti.EndInterval(0);
  const Estimator estimator(jvmti.design(), 0);
  CHECK_FALSE(estimator.calibrated());
  CHECK(estimator.factor() == 1);
  CHECK(estimator.Bytes(jvmti.one()).high > 30'000);
}

TEST_CASE("samples of an unknown window count as drawn in one stage") {
  Recorded recorded;
  recorded.Sample(80, 10'000, 1);
  recorded.Sample(80, 10'000, 1);
  recorded.EndInterval(20'000);
  CHECK(recorded.one().WholeChain().bytes == Approx(2 * 10'000.0 * (10'000 - 80)));
}

TEST_CASE("samples whose chance is unknown have the variance of their weights") {
  Recorded recorded("imported");
  recorded.Window(0.01);
  recorded.Sample(80, 10'000'000, 1);
  recorded.EndInterval(9'000'000);
  CHECK(recorded.one().WholeChain().bytes == Approx(1e14));
}

}  // namespace
}  // namespace heaprec::tools
