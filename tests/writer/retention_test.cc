#include "recorder/writer/retention.h"

#include <catch2/catch.hpp>

namespace heaprec::writer {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

format::FileStart At(uint64_t begin_ns) {
  format::FileStart start;
  start.begin_ns = begin_ns;
  return start;
}

}  // namespace

TEST_CASE("Without a limit nothing is dropped or remembered, and chunks last a minute") {
  Retention retention({});
  retention.BeginFile(100, 0);
  for (uint64_t i = 0; i < 1000; ++i) {
    retention.BeginChunk(At(i * 60 * kSecond));
    retention.Appended(1 << 20);
    REQUIRE(retention.ChunksToDrop(i * 60 * kSecond) == 0);
  }
  CHECK_FALSE(retention.ChunkIsFull((999 * 60 + 59) * kSecond));
  CHECK(retention.ChunkIsFull(1000 * 60 * kSecond));
  CHECK_FALSE(retention.IsBeyond(UINT32_MAX));
}

TEST_CASE("Chunks shrink with the limits, to an eighth of them but at least a second") {
  Limits limits;
  limits.max_age_ns = 40 * kSecond;
  limits.max_bytes = 8000;
  CHECK(Retention(limits).ChunkNs() == 5 * kSecond);
  CHECK(Retention(limits).ChunkBytes() == 1000);
  limits.max_age_ns = kSecond;
  CHECK(Retention(limits).ChunkNs() == kSecond);
}

TEST_CASE("A chunk without bytes is forgotten") {
  Limits limits;
  limits.max_age_ns = 8 * kSecond;
  Retention retention(limits);
  retention.BeginFile(100, 0);
  retention.BeginChunk(At(0));
  retention.Appended(10);
  retention.BeginChunk(At(kSecond));
  retention.BeginChunk(At(2 * kSecond));
  retention.Appended(10);
  CHECK(retention.FirstKept(1).start.begin_ns == 2 * kSecond);
  CHECK(retention.FirstKept(1).offset == 110);
}

TEST_CASE("Dropping moves the rest to the front") {
  Limits limits;
  limits.max_bytes = 8000;
  Retention retention(limits);
  retention.BeginFile(100, 0);
  for (uint64_t i = 0; i < 8; ++i) {
    retention.BeginChunk(At(i * kSecond));
    retention.Appended(1000);
  }
  const size_t drop = retention.ChunksToDrop(8 * kSecond);
  REQUIRE(drop == 2);
  CHECK(retention.FirstKept(drop).offset == 2100);
  retention.Dropped(drop, 150);
  CHECK(retention.bytes() == 6150);
  CHECK(retention.FirstKept(0).offset == 150);
  CHECK(retention.FirstKept(1).offset == 1150);
  CHECK(retention.ChunksToDrop(8 * kSecond) == 0);
}

TEST_CASE("Of thousands of chunks some are remembered: dropping is coarser, memory limited") {
  Limits limits;
  limits.max_age_ns = 86'400 * kSecond;
  Retention retention(limits);
  retention.BeginFile(100, 0);
  for (uint64_t second = 0; second < 86'400 + 7200; second += 60) {
    retention.BeginChunk(At(second * kSecond));
    retention.Appended(1000);
  }
  const uint64_t now_ns = (86'400 + 7200) * kSecond;
  const size_t drop = retention.ChunksToDrop(now_ns);
  REQUIRE(drop > 0);
  CHECK(drop < 64);
  const uint64_t begin_ns = retention.FirstKept(drop).start.begin_ns;
  CHECK(begin_ns + limits.max_age_ns <= now_ns);
  CHECK(begin_ns + limits.max_age_ns * 17 / 16 > now_ns);
}

}  // namespace heaprec::writer
