#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "recorder/sources/java/source.h"

namespace heaprec::sources {
namespace {

// Addresses as malloc gives them: multiples of 16.
void* ThreadAt(uintptr_t index) { return reinterpret_cast<void*>(0x7f0000000000 + 16 * index); }

StartPositions PositionsOf(size_t threads) {
  StartPositions positions;
  positions.Reserve(threads);
  for (size_t i = 0; i < threads; ++i) positions.Add(ThreadAt(i), 1000 * i, static_cast<double>(i + 1));
  positions.Seal({0.5, 7}, /*complete=*/true);
  return positions;
}

TEST_CASE("Each thread takes its own position, once") {
  StartPositions positions = PositionsOf(5000);
  for (size_t i = 0; i < 5000; ++i) {
    const auto* position = positions.Take(ThreadAt(i));
    REQUIRE(position != nullptr);
    CHECK(position->allocated == 1000 * i);
    CHECK(position->e == static_cast<double>(i + 1));
    CHECK(positions.Take(ThreadAt(i)) == nullptr);
  }
  CHECK(positions.Take(ThreadAt(5000)) == nullptr);
  CHECK(positions.complete());
  CHECK(positions.armed_with().lambda == 0.5);
}

TEST_CASE("Positions that no thread has taken stay") {
  StartPositions positions = PositionsOf(100);
  for (size_t i = 0; i < 100; i += 2) positions.Take(ThreadAt(i));
  size_t left = 0;
  positions.ForEachLeft([&](void* thread, uint64_t allocated) {
    const auto index = (reinterpret_cast<uintptr_t>(thread) - 0x7f0000000000) / 16;
    CHECK(index % 2 == 1);
    CHECK(allocated == 1000 * index);
    ++left;
  });
  CHECK(left == 50);
}

TEST_CASE("Threads beyond the reserved number are omitted, and nothing is overwritten") {
  StartPositions positions;
  positions.Reserve(1);
  for (size_t i = 0; i < 1000; ++i) positions.Add(ThreadAt(i), i, 1);
  size_t found = 0;
  for (size_t i = 0; i < 1000; ++i) found += positions.Take(ThreadAt(i)) != nullptr ? 1 : 0;
  CHECK(found > 0);
  CHECK(found < 1000);
}

TEST_CASE("Without reserved positions no thread is new") {
  StartPositions positions;
  positions.Add(ThreadAt(1), 1, 1);
  positions.Seal({}, /*complete=*/true);
  CHECK(positions.Take(ThreadAt(1)) == nullptr);
  CHECK(!positions.complete());
}

}  // namespace
}  // namespace heaprec::sources
