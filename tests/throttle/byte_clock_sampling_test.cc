// Byte clocks on simulated threads: every object is included with exactly the probability that its weight says.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tests/support/simulated_jvm.h"
#include "tests/throttle/statistics.h"

namespace heaprec::testing {
namespace {

using throttle::ActiveWindow;
using throttle::DeliveryDecision;
using throttle::Random;

constexpr std::array<uint64_t, 8> kSizes = {16, 24, 64, 512, 4'096, 40'000, 300'000, 2'000'000};
constexpr size_t kSites = 3;

// Objects and bytes of one kind: the truth, and the estimate with its variance, known for independent inclusions.
struct Kind {
  double objects = 0, kept = 0, estimated = 0, variance = 0;
  double Z() const { return (estimated - objects) / std::sqrt(variance); }
};

// Any number of threads under lambdas that change as the test wants; kinds are site x size.
class Population final : public Recorder {
 public:
  explicit Population(std::vector<double> lambdas) : lambdas_(std::move(lambdas)) {}

  ActiveWindow Now() override { return {lambdas_[window_], window_}; }
  void OnPoint(uint32_t kind, uint64_t size, const DeliveryDecision& decision) override {
    if (decision.action == DeliveryDecision::Action::kThinned) {
      ++thinned_;
      return;
    }
    const double pi = throttle::InclusionProbability(lambdas_[decision.window], size);
    if (std::abs(decision.weight_bytes * pi / static_cast<double>(size) - 1) > 1e-9)
      FAIL("the window does not say the weight");
    Kind& k = kinds_[kind];
    ++k.kept;
    k.estimated += 1 / pi;
    k.variance += (1 / pi) * (1 / pi - 1);
    bytes_ += decision.weight_bytes;
    bytes_variance_ += decision.weight_bytes * (decision.weight_bytes - static_cast<double>(size));
  }
  void OnMissed(double bytes) override {
    ++missed_;
    missed_bytes_ += bytes;
  }

  void Allocate(SimulatedThread& thread, uint32_t site, size_t size_class) {
    const uint32_t kind = static_cast<uint32_t>(site * kSizes.size() + size_class);
    ++kinds_[kind].objects;
    truth_ += static_cast<double>(kSizes[size_class]);
    thread.Allocate(kind, kSizes[size_class]);
  }
  // Sizes with bytes in roughly equal parts: the larger, the rarer. Sites differ in their mixture.
  void AllocateRandom(SimulatedThread& thread, Random& random) {
    const uint64_t draw = random.Next();
    const uint32_t site = draw % kSites;
    const int zeros = __builtin_ctzll((draw >> 8) | (uint64_t{1} << 40));
    Allocate(thread, site, std::min<size_t>(kSizes.size() - 1, static_cast<size_t>(zeros) * (site + 2) / 4));
  }
  void SwitchTo(uint32_t window) { window_ = window; }

  const std::map<uint32_t, Kind>& kinds() const { return kinds_; }
  double BytesZ() const { return (bytes_ - truth_) / std::sqrt(bytes_variance_); }
  double truth() const { return truth_; }
  double bytes() const { return bytes_; }
  double bytes_variance() const { return bytes_variance_; }
  uint64_t missed() const { return missed_; }
  double missed_bytes() const { return missed_bytes_; }
  uint64_t thinned() const { return thinned_; }

 private:
  std::vector<double> lambdas_;
  uint32_t window_ = 0;
  std::map<uint32_t, Kind> kinds_;
  double truth_ = 0, bytes_ = 0, bytes_variance_ = 0, missed_bytes_ = 0;
  uint64_t missed_ = 0, thinned_ = 0;
};

// Kinds with too few expected points for a normal statistic are left to the total.
void CheckEveryKind(const Population& population) {
  int checked = 0;
  for (const auto& [kind, k] : population.kinds()) {
    if (k.kept < 300 || k.variance < 1) continue;
    CAPTURE(kind / kSizes.size(), kSizes[kind % kSizes.size()], k.objects, k.kept, k.estimated);
    CHECK(std::abs(k.Z()) <= kBound);
    ++checked;
  }
  CHECK(checked >= 8);
  CHECK(std::abs(population.BytesZ()) <= kBound);
}

// n = 6,000,000 objects, about 300,000 points; statistic: objects per kind, binomial with pi(lambda, size) per object;
// |z| <= 6 on at most 25 comparisons: 5e-8.
TEST_CASE("With one lambda every site and size is sampled as often as 1 - exp(-lambda size)") {
  const double lambda = 3e-5;
  Population population({lambda});
  SimulatedThread thread(11, {}, &population);
  Random random(5);
  for (int i = 0; i < 6'000'000; ++i) population.AllocateRandom(thread, random);
  CHECK(population.missed() == 0);
  CHECK(population.thinned() == 0);
  for (const auto& [kind, k] : population.kinds()) {
    const double pi = throttle::InclusionProbability(lambda, kSizes[kind % kSizes.size()]);
    if (k.objects * pi < 300 || k.objects * (1 - pi) < 300) continue;
    CAPTURE(kSizes[kind % kSizes.size()], k.objects, pi, k.kept);
    CHECK(std::abs(BinomialZ(k.kept, k.objects, pi)) <= kBound);
  }
  CheckEveryKind(population);
}

// n = 6,000,000 objects on 8 threads; lambda changes every 1,000 objects, up to 1,000-fold; statistic: Horvitz-Thompson
// counts per kind and bytes over all, over the sampled variance; |z| <= 6 on at most 25 comparisons: 5e-8.
TEST_CASE("lambda may change at any time, known to the threads at their next decision, and nothing is biased") {
  Population population({3e-5, 1e-6, 1e-3, 1e-5, 0});
  std::deque<SimulatedThread> threads;
  for (uint64_t t = 0; t < 8; ++t) threads.emplace_back(t, TlabShape{.most = 4 << 20}, &population);
  Random random(6);
  for (int i = 0; i < 6'000'000; ++i) {
    if (i % 1'000 == 0) population.SwitchTo(static_cast<uint32_t>(random.Next() % 4));
    population.AllocateRandom(threads[random.Next() % 8], random);
  }
  CHECK(population.thinned() > 1'000);
  CheckEveryKind(population);
}

// n = 4,000,000 objects; statistics as above.
TEST_CASE("Arming nearer than the gap costs deliveries, but does not bias") {
  Population population({3e-5, 3e-4});
  SimulatedThread thread(3, {.reach = 0.25}, &population);
  Random random(8);
  for (int i = 0; i < 4'000'000; ++i) {
    if (i % 1'000 == 0) population.SwitchTo(static_cast<uint32_t>(random.Next() % 2));
    population.AllocateRandom(thread, random);
  }
  CHECK(population.missed() == 0);
  CheckEveryKind(population);
}

// n = 4,000,000 objects, about 200,000 deliveries, one in five lost; statistic: bytes kept and missed against the
// truth. A missed point adds 1 / lambda to the variance squared, at most; |z| <= 6: 2e-9.
TEST_CASE("Objects that the JVM drops are counted, with the weight of their bytes") {
  const double lambda = 3e-5;
  Population population({lambda});
  SimulatedThread thread(12, {.dropped = 0.2}, &population);
  Random random(9);
  for (int i = 0; i < 4'000'000; ++i) population.AllocateRandom(thread, random);
  CHECK(population.missed() > 10'000);
  // 2e6 B are the largest object: the weight of a lost one scatters by less than that.
  const double variance =
      population.bytes_variance() + static_cast<double>(population.missed()) * 2 / (lambda * lambda);
  CHECK(population.bytes() < 0.95 * population.truth());
  CHECK(std::abs(population.bytes() + population.missed_bytes() - population.truth()) <= kBound * std::sqrt(variance));
}

// n = 300,000 threads of 20 objects; statistics as above. A thread's first TLAB holds all it ever allocates.
TEST_CASE("Threads that end within their first TLAB have the right share") {
  Population population({1e-5, 1e-4});
  SimulatedThread thread(13, {}, &population);
  Random random(10);
  for (int i = 0; i < 300'000; ++i) {
    if (i % 100 == 0) population.SwitchTo(static_cast<uint32_t>(random.Next() % 2));
    for (int k = 0; k < 20; ++k) population.AllocateRandom(thread, random);
    thread.End();
  }
  CheckEveryKind(population);
  CHECK(thread.clock().bytes() == thread.allocated());
}

// n = 9,000,000 objects, 60,000 points; statistic: points per object, binomial with pi(size); |z| <= 6, 3 comparisons.
TEST_CASE("A loop whose period divides the TLAB has the right shares") {
  const double lambda = 1e-4;
  Population population({lambda});
  SimulatedThread thread(14, {.least = 152 << 10, .most = 152 << 10}, &population);
  for (int i = 0; i < 9'000'000; ++i) population.Allocate(thread, 0, static_cast<size_t>(i % 3));  // 16, 24, 64 B
  for (const auto& [kind, k] : population.kinds()) {
    const double pi = throttle::InclusionProbability(lambda, kSizes[kind]);
    CAPTURE(kSizes[kind], k.kept, k.objects * pi);
    CHECK(std::abs(BinomialZ(k.kept, k.objects, pi)) <= kBound);
  }
}

TEST_CASE("The clock's counters equal the allocated bytes, with refills, outside objects, losses and ends") {
  Population population({1e-4, 0, 1e-6});
  SimulatedThread thread(15, {.dropped = 0.1}, &population);
  Random random(11);
  for (int i = 0; i < 200'000; ++i) {
    if (i % 777 == 0) population.SwitchTo(static_cast<uint32_t>(random.Next() % 3));
    population.AllocateRandom(thread, random);
    if (i % 9'999 == 0) {
      thread.End();
      REQUIRE(thread.clock().bytes() == thread.allocated());
    }
  }
}

}  // namespace
}  // namespace heaprec::testing
