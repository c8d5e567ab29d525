// maxsize, maxage, rotation, and files that are taken away: what is left is always a whole recording.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/writer/drain_bench.h"
#include "tools/analysis/health/verification.h"
#include "tools/input/recording.h"

namespace heaprec::writer {
namespace {

constexpr uint64_t kPerSecond = 60;

// Records `seconds` seconds, numbered on from `from`; each sample's id tells its time.
void Record(Bench* bench, uint64_t from, uint64_t seconds) {
  static std::mt19937_64 random(1);
  for (uint64_t second = from; second < from + seconds; ++second) {
    for (uint64_t i = 0; i < kPerSecond; ++i) {
      // Weights that do not compress: 20 bytes a sample.
      bench->Sample(second * kPerSecond + i + 1, second * kSecond + i * kSecond / kPerSecond,
                    1 + static_cast<double>(random() >> 20), static_cast<uint32_t>(i));
    }
    bench->shared_counters().SetPopulation((second + 1) * kPerSecond, (second + 1) * 1000);
    for (uint64_t tick = 0; tick < 5; ++tick) bench->TickAt((second + 1) * kSecond + tick * kSecond / 50);
  }
}

// Records the seconds up to this one, and half of it.
void RecordAndEnd(Bench* bench, uint64_t from, uint64_t to) {
  Record(bench, from, to - from);
  bench->EndAt(to * kSecond + kSecond / 2);
}

// Three seconds, then something happens to the file, then three seconds more.
void RecordAround(Bench* bench, const std::function<void(const std::string& path)>& happens) {
  Record(bench, 0, 3);
  happens(bench->path());
  RecordAndEnd(bench, 3, 6);
}

std::vector<uint64_t> Ids(const Bench::Read& read) {
  std::vector<uint64_t> ids;
  for (const format::Sample& sample : read.samples) ids.push_back(sample.id);
  return ids;
}

// What the counters say of this file, and what is in it, are the same; ids are without gaps.
void CheckWhole(const Bench::Read& read) {
  CHECK(read.skipped == 0);
  const format::StreamCounters counters = read.counters.Since(read.header.start.counters[format::Stream::kAllocations]);
  CHECK(counters.written == read.samples.size());
  const auto ids = Ids(read);
  REQUIRE_FALSE(ids.empty());
  CHECK(ids.back() - ids.front() + 1 == ids.size());
}

// As the command does.
std::vector<std::string> Findings(const std::string& path) {
  auto recording = tools::Recording::Open(path);
  REQUIRE(recording.ok());
  tools::Verification verification((*recording)->header());
  while (const auto block = (*recording)->Next()) verification.Look(*block, **recording);
  verification.Close(**recording);
  std::vector<std::string> all;
  for (const tools::Inconsistency& finding : verification.findings()) all.push_back(finding.what);
  return all;
}

// Records until samples have been lost; returns the second that comes next.
uint64_t FillDisk(Bench* bench, uint64_t second) {
  const FileSizeLimit full(std::filesystem::file_size(bench->path()) + 10);
  const uint64_t before = bench->drain().unwritten().lost_samples;
  while (bench->drain().unwritten().lost_samples == before) Record(bench, second++, 1);
  return second;
}

// What the file says was there when it begins, and what its intervals add to that, is what was counted in all.
void CheckCounts(const Bench::Read& read) {
  const format::FileStart& start = read.header.start;
  format::Interval sums;
  uint64_t next = start.next_interval[format::Stream::kAllocations];
  for (const format::Interval& interval : read.intervals) {
    CHECK(interval.index == next++);
    sums.candidates += interval.candidates;
    sums.bytes += interval.bytes;
  }
  const format::StreamCounters counted = read.counters.Since(start.counters[format::Stream::kAllocations]);
  CHECK(counted.candidates == sums.candidates);
  CHECK(counted.candidate_bytes == sums.bytes);
}

}  // namespace

TEST_CASE("maxsize keeps the newest chunks and at most one chunk more, and the file is complete at every tick") {
  Limits limits;
  limits.max_bytes = 64 << 10;
  Bench bench(kPerSecond, {}, 0, limits);
  uint64_t smallest = UINT64_MAX;
  for (uint64_t second = 0; second < 200; second += 2) {
    Record(&bench, second, 2);
    const auto read = bench.ReadBack();
    CheckWhole(read);
    CHECK(Ids(read).back() == (second + 2) * kPerSecond);
    const uint64_t size = std::filesystem::file_size(bench.path());
    CHECK(size <= limits.max_bytes + limits.max_bytes / 8);
    if (read.header.start.begin_ns > 0) smallest = std::min(smallest, size);
  }
  CHECK(smallest >= limits.max_bytes / 2);  // of 6 / 8 that stay, and a chunk may be a half bigger than asked for
  bench.EndAt(200 * kSecond + kSecond / 2);
  const auto read = bench.ReadBack();
  CheckWhole(read);
  CHECK(read.ending == "test");
  CHECK(read.header.start.begin_ns > 100 * kSecond);
  CHECK(read.samples.front().time_ns >= read.header.start.begin_ns - kSecond);
  CHECK(testing::FilesIn(bench.folder().path()) == 1);
}

TEST_CASE("A file that lost its beginning and then its header is read with a copy of the header") {
  Limits limits;
  limits.max_bytes = 64 << 10;
  Bench bench(kPerSecond, {}, 0, limits);
  RecordAndEnd(&bench, 0, 120);
  const auto whole = bench.ReadBack();
  REQUIRE(whole.header.start.begin_ns > 0);
  std::fstream(bench.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(40) << "damage";
  const auto read = bench.ReadBack();
  CHECK(read.skipped == 1);
  CHECK(read.header.start == whole.header.start);
  CHECK(Ids(read) == Ids(whole));
}

TEST_CASE("A file that begins after a full disk has the counts of what was lost") {
  Limits limits;
  SECTION("maxsize") { limits.max_bytes = 64 << 10; }
  SECTION("maxage") { limits.max_age_ns = 80 * kSecond; }
  // Chunks may go in pairs, so the one of the outage need not come to be the first.
  bool begins_there = false;
  for (uint64_t full = 24; full < 40 && !begins_there; ++full) {
    Bench bench(kPerSecond, {}, 0, limits);
    Record(&bench, 0, full);
    const uint64_t free = FillDisk(&bench, full);
    for (uint64_t second = free, first = 0; first <= free && second < free + 200; ++second) {
      Record(&bench, second, 1);
      INFO("full at " << full << " s, second " << second);
      CHECK(Findings(bench.path()) == std::vector<std::string>{});
      const auto read = bench.ReadBack();
      CheckCounts(read);
      first = read.header.start.next_interval[format::Stream::kAllocations];
      begins_there |= first >= full && first < free;
    }
  }
  CHECK(begins_there);
}

TEST_CASE("maxage keeps this time, and little more") {
  Limits limits;
  limits.max_age_ns = 16 * kSecond;
  Bench bench(kPerSecond, {}, 0, limits);
  for (uint64_t second = 0; second < 100; ++second) {
    Record(&bench, second, 1);
    const auto read = bench.ReadBack();
    CheckWhole(read);
    const uint64_t oldest_ns = read.samples.front().time_ns;
    if (second < 20) continue;
    CHECK(oldest_ns + limits.max_age_ns <= (second + 1) * kSecond);
    CHECK(oldest_ns + limits.max_age_ns + 4 * kSecond >
          (second + 1) * kSecond);  // chunks of 2 s, closed by blocks of 1 s
  }
}

TEST_CASE("Rotation ends a file and continues under the next free name; each is complete") {
  Limits limits;
  limits.rotate_ns = 10 * kSecond;
  Bench bench(kPerSecond, {}, 0, limits);
  RecordAndEnd(&bench, 0, 35);
  std::vector<uint64_t> ids;
  for (uint32_t part = 0; part < 4; ++part) {
    const auto read =
        Bench::ReadBack(bench.folder() / (part == 0 ? "rec.hrec" : "rec-" + std::to_string(part) + ".hrec"));
    CheckWhole(read);
    CHECK(read.header.start.part == part);
    CHECK(read.ending == (part == 3 ? "test" : "rotated"));
    for (const uint64_t id : Ids(read)) ids.push_back(id);
  }
  CHECK(ids.size() == 35 * kPerSecond);
  CHECK(std::is_sorted(ids.begin(), ids.end()));
}

TEST_CASE("A file grows to about the size of the rotation") {
  Limits limits;
  limits.rotate_bytes = 20'000;
  Bench bench(kPerSecond, {}, 0, limits);
  RecordAndEnd(&bench, 0, 50);
  const auto size = std::filesystem::file_size(bench.path());
  CHECK(size >= 20'000);
  CHECK(size < 25'000);
  CheckWhole(bench.ReadBack());
}

TEST_CASE(
    "A file that is deleted is begun anew under its name; what is in the counters of before is not missing in it") {
  Bench bench(kPerSecond);
  RecordAround(&bench, [](const std::string& path) { std::filesystem::remove(path); });
  const auto read = bench.ReadBack();
  CheckWhole(read);
  CHECK(read.header.start.part == 1);
  CHECK(Ids(read).back() == 6 * kPerSecond);
  CHECK(read.samples.size() == 2 * kPerSecond);  // the block that found out went the way of the file
}

TEST_CASE("A file that is moved away is ended there, and the recording continues under the name") {
  Bench bench(kPerSecond);
  const std::string moved = bench.folder() / "moved.hrec";
  RecordAround(&bench, [&](const std::string& path) { std::filesystem::rename(path, moved); });
  const auto first = Bench::ReadBack(moved);
  CheckWhole(first);
  CHECK(first.ending == "rotated");
  const auto second = bench.ReadBack();
  CheckWhole(second);
  CHECK(Ids(first).back() + 1 == Ids(second).front());
}

TEST_CASE("A file of another program under the recording's name is not touched") {
  Bench bench(kPerSecond);
  RecordAround(&bench, [](const std::string& path) {
    std::filesystem::remove(path);
    std::ofstream(path) << "a stranger";
  });
  CHECK(std::filesystem::file_size(bench.path()) == 10);
  CheckWhole(Bench::ReadBack(bench.folder() / "rec-1.hrec"));
}

TEST_CASE("A dangling symbolic link under the recording's name does not end the recording") {
  Bench bench(kPerSecond);
  RecordAround(&bench, [&](const std::string& path) {
    std::filesystem::remove(path);
    std::filesystem::create_symlink(bench.folder() / "elsewhere", path);
  });
  CHECK_FALSE(std::filesystem::exists(bench.folder() / "elsewhere"));
  CheckWhole(Bench::ReadBack(bench.folder() / "rec-1.hrec"));
}

}  // namespace heaprec::writer
