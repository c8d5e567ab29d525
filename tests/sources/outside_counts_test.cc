#include "recorder/sources/java/outside_counts.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace heaprec::sources {
namespace {

struct Counted {
  uint64_t objects = 0, bytes = 0;
  bool operator==(const Counted&) const = default;
};

// By name, those of `slots` included.
std::map<std::string, Counted> SumsOf(const OutsideClasses& classes, const std::vector<OutsideSlots>& slots) {
  const auto totals = std::make_unique<OutsideClasses::Totals>();
  classes.AddTo(totals.get());
  for (const OutsideSlots& of_thread : slots) {
    for (const OutsideSlot& slot : of_thread) {
      OutsideClasses::Sums& sums = (*totals)[slot.class_number];
      sums.objects += slot.objects;
      sums.bytes += slot.bytes;
    }
  }
  std::map<std::string, Counted> found;
  for (uint32_t i = 0; i < classes.used(); ++i) {
    if ((*totals)[i].objects == 0) continue;
    Counted& counted = found[std::string(classes.NameOf(i))];
    counted.objects += (*totals)[i].objects;
    counted.bytes += (*totals)[i].bytes;
  }
  return found;
}

}  // namespace

// Run under --config=tsan as well.
TEST_CASE("Each object is counted once by class, whether its thread has a slot for the class or not") {
  constexpr int kThreads = 4, kEach = 20'000, kClasses = 11;
  const auto classes = std::make_unique<OutsideClasses>();
  std::vector<OutsideSlots> slots(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const int which = (i + t) % kClasses;
        classes->Add("[Lp/C" + std::to_string(which) + ";", 8 * static_cast<uint64_t>(which + 1),
                     t == 0 ? nullptr : &slots[static_cast<size_t>(t)]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, Counted> expected;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kEach; ++i) {
      const int which = (i + t) % kClasses;
      Counted& counted = expected["[Lp/C" + std::to_string(which) + ";"];
      ++counted.objects;
      counted.bytes += 8 * static_cast<uint64_t>(which + 1);
    }
  }
  CHECK(SumsOf(*classes, slots) == expected);
}

TEST_CASE("A class without space, or with a long name, is counted as no class") {
  const auto classes = std::make_unique<OutsideClasses>();
  std::vector<OutsideSlots> slots(1);
  const std::string longest(OutsideClasses::kMaxNameBytes, 'l');
  classes->Add(longest, 24, &slots[0]);
  classes->Add(longest + "l", 40, &slots[0]);
  constexpr uint64_t kMany = 2000;
  for (uint64_t i = 0; i < kMany; ++i) classes->Add("p/C" + std::to_string(i), 16, &slots[0]);
  const std::map<std::string, Counted> found = SumsOf(*classes, slots);
  CHECK(found.at(longest) == Counted{1, 24});
  CHECK(found.size() > OutsideClasses::kClasses / 2);
  CHECK(found.size() <= OutsideClasses::kClasses);
  Counted all;
  for (const auto& [name, counted] : found) {
    all.objects += counted.objects;
    all.bytes += counted.bytes;
    if (!name.empty() && name != longest) CHECK(counted == Counted{1, 16});
  }
  CHECK(all == Counted{kMany + 2, 16 * kMany + 64});
}

}  // namespace heaprec::sources
