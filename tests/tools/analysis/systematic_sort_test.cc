// The order of a line, against comparing each sample with each.
#include "tools/analysis/estimate/systematic_sort.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "throttle/random.h"
#include "tools/analysis/estimate/design.h"

namespace heaprec::tools {
namespace {

using throttle::Random;

constexpr uint64_t kSecond = 1'000'000'000;

// Some entries have the same names as others: what differs are their frames' types, which are not told apart.
const format::Dictionaries& SomeNames() {
  static const format::Dictionaries names = [] {
    format::Dictionaries made;
    made.classes = {"A", "B", "A"};
    for (const char* method : {"main", "run", "add"}) made.methods.push_back({"p/C", method, "()V"});
    for (const format::FrameType type : {format::FrameType::kInterpreted, format::FrameType::kCompiled}) {
      for (format::Index method = 0; method < 3; ++method) made.frames.push_back({method, 7, -1, type});
    }
    made.stacks = {{format::kNone, 0}, {0, 1}, {0, 4}, {1, 2}, {1, 5}, {2, 2}, {format::kNone, 3}};
    for (uint64_t thread = 1; thread <= 3; ++thread) made.threads.push_back({thread, 10, false, "worker"});
    return made;
  }();
  return names;
}

// Of two intervals of 0.5 s; of each some that the second stage raised to one weight or another, and some that it did
// not.
format::Block RandomBlock(Random* random, size_t samples, const format::Dictionaries* names) {
  format::Block block;
  block.dictionaries = names;
  block.windows.push_back({1, 0, 1e-4});
  for (size_t i = 0; i < samples; ++i) {
    format::Sample sample;
    sample.id = random->Next();
    sample.time_ns = kSecond * i / samples;
    sample.class_id = random->Next() % 8 == 0 ? format::kNone : random->Next() % 3;
    sample.stack = random->Next() % 8 == 0 ? format::kNone : random->Next() % 7;
    sample.thread = random->Next() % 3;
    sample.size = 64;
    sample.weight = std::array{10'100.0, 20'000.0, 30'000.0}[random->Next() % 3];
    sample.window = 1;
    block.samples.push_back(sample);
  }
  return block;
}

std::vector<WeightedSample> WeightedSamplesOf(const format::Block& block) {
  std::vector<WeightedSample> drawn;
  for (const format::Sample& sample : block.samples) {
    WeightedSample& one = drawn.emplace_back();
    one.index = static_cast<uint32_t>(drawn.size() - 1);
    one.interval = sample.time_ns / (kSecond / 2);
    one.weight = sample.weight;
    one.first_weight = 10'100;
  }
  return drawn;
}

std::vector<uint32_t> OneByOne(const format::Block& block, const std::vector<WeightedSample>& drawn) {
  SiteKeys keys;
  keys.Enter(block);
  const auto measure = [&](uint32_t at) {
    const format::Sample& sample = block.samples[at];
    const SiteKeys::Site place = keys.At(keys.SiteIndex(sample));
    const float tau = drawn[at].raised() > 0 ? static_cast<float>(drawn[at].weight) : kNoLine;
    return std::tuple(drawn[at].interval, tau, Mixed(place.of_class, drawn[at].interval), place.of_method,
                      place.of_stack, keys.SiteThreadKey(place, sample.thread), Mixed(sample.id, at));
  };
  std::vector<uint32_t> order(drawn.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return measure(a) < measure(b); });
  return order;
}

TEST_CASE("the order of a line is that of comparing its samples one by one") {
  SystematicSort order;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const format::Block block = RandomBlock(&random, random.Next() % 400, seed % 4 == 0 ? nullptr : &SomeNames());
    const std::vector<WeightedSample> drawn = WeightedSamplesOf(block);
    SiteKeys keys;
    keys.Enter(block);
    std::vector<uint32_t> found;
    for (const SystematicSort::Placed& placed : order.Of(block, drawn, &keys)) found.push_back(placed.at);
    INFO("seed " << seed);
    REQUIRE(found == OneByOne(block, drawn));
  }
}

TEST_CASE("a design says the same of drafts that another has made") {
  format::FileHeader header;
  header.interval_ns = kSecond / 2;
  header.source = "hooks";
  Design alone(header), told(header);
  SamplePreparer preparer(header, format::Stream::kAllocations, OrderLevel::kThread);
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const format::Block block = RandomBlock(&random, 300, &SomeNames());
    PreparedSamples draft;
    preparer.Make(block, &draft);
    const std::span<const WeightedSample> one = alone.Add(block), other = told.Add(block, std::move(draft));
    REQUIRE(one.size() == other.size());
    for (size_t at = 0; at < one.size(); ++at) {
      REQUIRE(one[at].index == other[at].index);
      REQUIRE(one[at].line == other[at].line);
      REQUIRE(one[at].rounding == other[at].rounding);
      REQUIRE(one[at].after.rounding == other[at].after.rounding);
    }
  }
  CHECK(alone.all().WholeChain().bytes == told.all().WholeChain().bytes);
  CHECK(alone.all().WholeChain().objects == told.all().WholeChain().objects);
  CHECK(alone.all().bytes() > 0);
}

}  // namespace
}  // namespace heaprec::tools
