// The second stage's variance, against the second stage itself.
#include "tools/analysis/estimate/systematic_order.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "throttle/random.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/subset.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST_CASE("pieces of the line round as RoundingLeft says") {
  // Points are laid with a random offset and every c-th of them is kept: a piece with M of them, Poisson, gives K.
  // The formula was 0.88 to 1.34 times the variance (most where c is 2 and pieces long: all points are as long here, so
  // that half-way is rounded to either side), with 200,000 pieces of each kind and a standard deviation of 0.025 at
  // most (rare pieces). The limits are five of these away.
  throttle::Random random(7);
  for (const int surplus : {2, 3, 4}) {
    for (const double samples : {0.05, 0.3, 1.0, 3.0, 10.0}) {
      double squares = 0, seen = 0;
      for (int i = 0; i < 200'000; ++i) {
        int held = 0;
        for (double left = random.Exponential(); left < surplus * samples; left += random.Exponential()) ++held;
        const auto kept =
            static_cast<int>((held + random.Next() % static_cast<uint64_t>(surplus)) / static_cast<uint64_t>(surplus));
        squares += std::pow(kept - static_cast<double>(held) / surplus, 2);
        seen += kept > 0;
      }
      const double said = RoundingLeft(samples, surplus) * (1 - 1.0 / surplus) * seen;
      INFO(surplus << " times as many held, " << samples << " kept: " << said / squares);
      CHECK(said / squares > 0.75);
      CHECK(said / squares < 1.5);
    }
  }
}

TEST_CASE("a rare piece has nothing rounded off, and a surplus of nothing neither") {
  CHECK(RoundingLeft(0, 2) == 1);
  CHECK(RoundingLeft(1e-9, 2) == Approx(1));
  CHECK(RoundingLeft(5, 1) == 1);
  CHECK(RoundingLeft(1e6, 2) == Approx(1 / 3.0));
  CHECK(RoundingLeft(0.3, 1e300) == Approx(RoundingLeft(0.3, 900)).epsilon(0.01));  // and does not take for ever
}

format::FileHeader HooksHeader() {
  format::FileHeader header;
  header.interval_ns = kSecond;
  header.source = "hooks";
  return header;
}

// Two classes of two stacks each, two threads, all with the same number of samples.
format::Block EvenBlock(uint64_t interval, uint32_t of_each) {
  format::Block block;
  block.windows.push_back({1, 0, 1e-4});
  for (uint32_t i = 0; i < 8 * of_each; ++i) {
    format::Sample sample;
    sample.id = interval * 1000 + i;
    sample.time_ns = interval * kSecond + i;
    sample.class_id = i % 2;
    sample.stack = i / 2 % 2;
    sample.thread = i / 4 % 2;
    sample.size = 64;
    sample.weight = 20'000;
    sample.window = 1;
    block.samples.push_back(sample);
  }
  return block;
}

TEST_CASE("what is alike lies side by side on the line") {
  Design design(HooksHeader());
  const format::Block block = EvenBlock(0, 3);
  const std::span<const WeightedSample> drawn = design.Add(block);
  REQUIRE(drawn.size() == 24);
  std::vector<size_t> ends(kNodes + 1);
  for (size_t i = 0; i < drawn.size(); ++i) {
    CHECK(drawn[i].rank == i);
    CHECK(drawn[i].in_line == 24);
    CHECK(drawn[i].after.parted == drawn[(i + 1) % 24].before.parted);
    ++ends[static_cast<size_t>(drawn[i].after.parted)];
  }
  // A circle of two classes; two stacks in each, two threads in each of these. Stacks without names are their methods.
  CHECK(ends == std::vector<size_t>{2, 2, 0, 4, 16});
}

TEST_CASE("the parts of a program have smaller variances the longer their pieces are") {
  Design design(HooksHeader());
  Subset all, of_class(OrderLevel::kClass), of_thread(OrderLevel::kThread), odd(OrderLevel::kThread);
  for (uint64_t interval = 0; interval < 50; ++interval) {
    const format::Block block = EvenBlock(interval, 4);
    for (const WeightedSample& drawn : design.Add(block)) {
      const format::Sample& sample = block.samples[drawn.index];
      all.Add(drawn);
      if (sample.class_id == 0) of_class.Add(drawn);
      if (sample.thread == 0) of_thread.Add(drawn);
      if (sample.id / 8 % 2 == 0) odd.Add(drawn);
    }
  }
  const auto second_stage = [](const Subset& of) { return of.WholeChain().bytes - of.bytes_with_all(); };
  CHECK(second_stage(all) == Approx(0).margin(1e-3 * all.bytes()));
  // Half of all each, in one piece, in four, in pieces of one or two.
  CHECK(second_stage(of_class) > 0);
  CHECK(second_stage(of_thread) > 2 * second_stage(of_class));
  CHECK(second_stage(odd) > 2 * second_stage(of_thread));
  CHECK(odd.independent().bytes - odd.bytes_with_all() > 1.5 * second_stage(odd));
}

TEST_CASE("weights that no recorder gives are bounded, too") {
  CHECK(RoundingLeft(3, 1e300) == RoundingLeft(3, 1e6));
  CHECK(RoundingLeft(3, 1e6) > 0);
}

}  // namespace
}  // namespace heaprec::tools
