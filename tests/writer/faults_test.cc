// The drain on a disk that fails at every N-th call, and on one that loses its power.
//
// Long form: HEAPREC_POWER_CUTS=1000, HEAPREC_FAULTS=1 (every N from 1 to the number of calls).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <set>

#include "tests/writer/disk.h"
#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

constexpr uint64_t kPerSecond = 40;
constexpr uint64_t kSeconds = 60;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Small ones, so that a minute has copies and rotations.
Limits SmallLimits(bool rotates) {
  Limits limits;
  limits.max_bytes = 12 << 10;
  if (rotates) limits.rotate_ns = 25 * kSecond;
  return limits;
}

void Record(Bench* bench, uint64_t seconds) {
  std::mt19937_64 random(7);
  for (uint64_t second = 0; second < seconds; ++second) {
    for (uint64_t i = 0; i < kPerSecond; ++i) {
      bench->Sample(second * kPerSecond + i + 1, second * kSecond + i * kSecond / kPerSecond,
                    1 + static_cast<double>(random() >> 20), static_cast<uint32_t>(i));
    }
    for (uint64_t tick = 0; tick < 4; ++tick) bench->TickAt((second + 1) * kSecond + tick * kSecond / 50);
  }
}

struct Found {
  bool opened = false;
  std::set<uint64_t> ids;
  uint64_t whole_to = 0;  // blocks and parity records follow each other without damage up to here
};
Found ReadContent(const disk::Content& content) {
  Found found;
  format::MemoryByteSource source(content, "rec");
  auto reader = format::Reader::Open(&source);
  if (!reader.ok()) return found;
  found.opened = true;
  while (const auto block = (*reader)->Next()) {
    for (const format::Sample& sample : block->samples) found.ids.insert(sample.id);
  }
  const auto& skipped = (*reader)->skipped();
  found.whole_to = skipped.empty() ? (*reader)->position() : skipped.front().begin;
  return found;
}

// What a reader finds in all parts of the recording.
void CheckLedger(const Bench& bench, const format::StreamCounters& counters) {
  std::set<uint64_t> ids;
  size_t samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(bench.folder().path())) {
    INFO(entry.path());
    // A next file whose header could not be written, and which could not be removed.
    if (!ReadContent(testing::BytesOf(entry.path())).opened) continue;
    const auto read = Bench::ReadBack(entry.path());
    CHECK(read.skipped == 0);
    for (const format::Sample& sample : read.samples) ids.insert(sample.id);
    samples += read.samples.size();
  }
  CHECK(ids.size() == samples);
  CHECK(samples == counters.written);
  CHECK(counters.committed == counters.written + counters.second_stage + WriteFailed(counters));
}

}  // namespace

TEST_CASE("If every N-th call fails, the losses are counted and the file is valid") {
  const int errors[] = {EIO, ENOSPC, EDQUOT, EINTR, EROFS, disk::kShort};
  uint64_t all_calls = 0;
  for (uint64_t n = 1; n < 40; n = FromEnvironment("HEAPREC_FAULTS", 0) != 0 ? n + 1 : n * 3 / 2 + 1) {
    for (const int error : errors) {
      if (n == 1 && error == EINTR) continue;  // for ever
      INFO("every " << n << ". call, error " << error);
      Limits limits;
      limits.rotate_ns = 7 * kSecond;
      Bench bench(kPerSecond, {}, 0, limits);
      {
        const disk::Faults faults([&](uint64_t call) { return call % n == 0 ? error : 0; });
        Record(&bench, 20);
        all_calls += disk::Faults::calls();
      }
      bench.EndAt(20 * kSecond + kSecond / 2);
      CheckLedger(bench, bench.shared_counters().Snapshot());
    }
  }
  CHECK(all_calls > 1000);
}

TEST_CASE("Nothing is appended to a partial block that cannot be removed") {
  const testing::Folder folder;
  const std::string path = folder / "torn";
  auto file = RecordingFile::Create(path, 1, 0);
  REQUIRE(file.ok());
  const std::vector<std::byte> first(100, std::byte{1}), torn(1000, std::byte{2}), last(50, std::byte{3});
  REQUIRE(file->Append(first).ok());
  {
    // Half is written, the rest not, and neither can the half be removed. The first call looks at the descriptor.
    const disk::Faults faults([](uint64_t call) { return call <= 2 ? disk::kShort : ENOSPC; });
    CHECK_FALSE(file->Append(torn).ok());
    CHECK_FALSE(file->Append(last).ok());
  }
  CHECK(std::filesystem::file_size(path) == 600);
  CHECK(file->Append(last).ok());
  CHECK(std::filesystem::file_size(path) == 150);
}

TEST_CASE("If any one call of a copy fails, the recording is intact, and the copy can be repeated") {
  uint64_t calls = 0;
  {
    Bench bench(kPerSecond, {}, 0, SmallLimits(false));
    const disk::Faults none([](uint64_t) { return 0; });
    Record(&bench, 30);
    calls = disk::Faults::calls();
  }
  const uint64_t step = FromEnvironment("HEAPREC_FAULTS", 0) != 0 ? 1 : 7;
  for (uint64_t at = 1; at <= calls; at += step) {
    INFO("call " << at << " of " << calls);
    Bench bench(kPerSecond, {}, 0, SmallLimits(false));
    {
      const disk::Faults one([at](uint64_t call) { return call == at ? EIO : 0; });
      Record(&bench, 30);
    }
    bench.EndAt(30 * kSecond + kSecond / 2);
    const std::filesystem::directory_iterator files(bench.folder().path());
    for (const auto& entry : files) {
      // An unlink that failed leaves what was given up; it is nobody's.
      if (entry.path().string().ends_with(format::kUnfinishedSuffix)) continue;
      const auto read = Bench::ReadBack(entry.path());
      CHECK(read.skipped == 0);
      const format::StreamCounters counters =
          read.counters.Since(read.header.start.counters[format::Stream::kAllocations]);
      CHECK(counters.written == read.samples.size());
      CHECK(std::filesystem::file_size(entry.path()) <= (12 << 10) * 10 / 8);
    }
  }
}

TEST_CASE("After a power cut every file is valid up to its last sync, and nothing synced is lost") {
  const bool rotates = GENERATE(false, true);
  SyncPolicy sync;
  sync.every_ns = GENERATE(uint64_t{0}, 3 * kSecond);
  CAPTURE(rotates, sync.every_ns);
  const disk::Log log;
  Bench bench(kPerSecond, {}, 0, SmallLimits(rotates), sync);
  Record(&bench, kSeconds);
  bench.EndAt(kSeconds * kSecond + kSecond / 2);
  const auto& operations = log.operations();
  const auto renames = std::count_if(operations.begin(), operations.end(), [](const auto& operation) {
    return operation.kind == disk::Operation::Kind::kRename;
  });
  CHECK(renames >= 2);

  std::mt19937_64 random(11);
  const uint64_t cuts = FromEnvironment("HEAPREC_POWER_CUTS", 100) / 4;
  for (uint64_t cut = 0; cut < cuts; ++cut) {
    const size_t count = std::uniform_int_distribution<size_t>(0, operations.size())(random);
    CAPTURE(cut, count);
    const disk::AfterCut left = disk::Cut(operations, count, &random);
    // The youngest sample that any sync had made durable by then, whatever the file.
    uint64_t promised = 0;
    std::set<uint64_t> found;
    for (const auto& [name, content] : left.files) {
      const bool unfinished = name.find(format::kUnfinishedSuffix) != std::string::npos;
      const Found read = ReadContent(content);
      if (!unfinished && left.synced.at(name) > 0) {
        CHECK(read.opened);
        CHECK(read.whole_to >= left.synced.at(name));
      }
      if (!unfinished) found.insert(read.ids.begin(), read.ids.end());
    }
    const disk::AfterCut synced = disk::OnlySynced(operations, count);
    for (const auto& [name, content] : synced.files) {
      for (const uint64_t id : ReadContent(content).ids) promised = std::max(promised, id);
    }
    if (promised > 0) CHECK((!found.empty() && *found.rbegin() >= promised));
    for (const uint64_t id : found) CHECK((id >= 1 && id <= kSeconds * kPerSecond));
  }
}

}  // namespace heaprec::writer
