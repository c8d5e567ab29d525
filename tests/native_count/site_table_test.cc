// The table of native memory, written and read: sums of many threads, no room, files that are cut off.
#include "recorder/native_count/site_table.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/files.h"
#include "tools/input/native_table_file.h"

namespace {

bool is_full = false;  // the shared memory
uint64_t refusals = 0;

}  // namespace

// In place of libc's.
extern "C" int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  if (!is_full) return fallocate(descriptor, 0, offset, bytes) == 0 ? 0 : errno;
  ++refusals;
  return ENOSPC;
}

namespace heaprec::native {
namespace {

using tools::NativeTableFile;
using tools::ReadNativeTable;

// One for all cases: threads keep their rows for life.
struct Shared {
  std::string path = "/dev/shm/heaprec-native-test-" + std::to_string(getpid());
  const char* why = "";
  SiteTable* table = SiteTable::Create(path.c_str(), 2, &why);
  ~Shared() { std::filesystem::remove(path); }
};
Shared& TheTable() {
  static Shared shared;
  return shared;
}

uint32_t SiteOf(uintptr_t number) {
  const uintptr_t pcs[] = {number, number + 1, number + 2};
  return TheTable().table->SiteOf(KeyOf(std::span(pcs).first(2)), pcs, 0);
}

const tools::NativePlace* PlaceOf(const NativeTableFile& file, uint64_t pc) {
  for (const tools::NativePlace& place : file.places) {
    if (!place.pcs.empty() && place.pcs[0] == pc) return &place;
  }
  return nullptr;
}

NativeTableFile Read() {
  auto file = ReadNativeTable(TheTable().path);
  REQUIRE(file.ok());
  return *std::move(file);
}

}  // namespace

TEST_CASE("Sums of threads that allocate and free each other's blocks are exact") {
  REQUIRE(TheTable().table != nullptr);
  constexpr int kThreads = 16;
  constexpr uint64_t kEach = 20'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      ThreadRows* const rows = i % 4 == 0 ? ThreadRows::Common(TheTable().table) : ThreadRows::Lease(TheTable().table);
      for (uint64_t k = 0; k < kEach; ++k) {
        rows->Allocated(SiteOf(1000 + 10 * (k % 300)), 16);
        if (k % 2 == 0) rows->Freed(SiteOf(1000 + 10 * ((k + 1) % 300)), 16);
      }
      rows->Return();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const NativeTableFile file = Read();
  CHECK(file.depth == 2);
  CHECK(file.pid == static_cast<uint32_t>(getpid()));
  uint64_t allocated = 0, freed = 0;
  for (const tools::NativePlace& place : file.places) {
    allocated += place.sums.allocated_blocks;
    freed += place.sums.freed_blocks;
  }
  CHECK(allocated == kThreads * kEach);
  CHECK(freed == kThreads * kEach / 2);
  const auto* const place = PlaceOf(file, 1000 + 10);
  REQUIRE(place != nullptr);
  CHECK(place->sums.allocated_bytes == place->sums.allocated_blocks * 16);
  CHECK(place->pcs == std::vector<uint64_t>{1010, 1011, 1012});
}

// Fewer than one call in 100 asks for room: 17 attempts until the longest pause, then one per pause.
TEST_CASE("Without space for a shard calls are still counted, few threads retry, and space is used once available") {
  constexpr uint64_t kCalls = 4 * ThreadRows::kMaxPause;
  const uint32_t site = SiteOf(500);
  ThreadRows* rows = nullptr;
  std::thread([&] {
    std::vector<ThreadRows*> leased;  // those of ended threads have shards
    do {
      rows = ThreadRows::Lease(TheTable().table);
      leased.push_back(rows);
    } while (rows->KnownRowOf(SiteOf(1010)) != nullptr);
    const uint64_t chunks = TheTable().table->header().chunks_used;
    is_full = true;
    for (uint64_t i = 0; i < kCalls; ++i) rows->Allocated(site, 3);
    CHECK(rows->KnownRowOf(site) == nullptr);
    CHECK(refusals > 0);
    CHECK(refusals < kCalls / 100);
    CHECK(TheTable().table->header().chunks_used == chunks);
    is_full = false;
    for (uint64_t i = 0; i <= ThreadRows::kMaxPause; ++i) rows->Allocated(site, 3);
    CHECK(rows->KnownRowOf(site) != nullptr);
    for (ThreadRows* const one : leased) one->Return();
  }).join();
  const NativeTableFile file = Read();
  const auto* const place = PlaceOf(file, 500);
  REQUIRE(place != nullptr);
  CHECK(place->sums.allocated_blocks == kCalls + ThreadRows::kMaxPause + 1);
  CHECK(file.without_shard == 0);
}

TEST_CASE("If there is no space for another site, its sums are those of no site") {
  ThreadRows* const rows = ThreadRows::Lease(TheTable().table);
  uint32_t without = 0;
  for (uintptr_t i = 0; i < 2 * format::kMaxNativeSites; ++i) {
    const uint32_t site = SiteOf(1'000'000 + 10 * i);
    without += site == kNoSite;
    rows->Allocated(site, 1);
  }
  rows->Return();
  CHECK(without > format::kMaxNativeSites / 2);
  for (const tools::NativePlace& place : Read().places) {
    if (place.pcs.empty()) CHECK(place.sums.allocated_bytes == without);
  }
  CHECK(SiteOf(1000) != kNoSite);  // a known one is still found
}

TEST_CASE("A table that is cut in its header is refused with a reason, one without rows is empty") {
  const std::string whole = testing::ContentOf(TheTable().path);
  const std::string path = TheTable().path + ".copy";
  const auto read = [&path](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return ReadNativeTable(path);
  };
  for (const size_t bytes : {size_t{0}, size_t{7}, sizeof(format::NativeHeader) - 1, format::kNativeRowsAt - 1}) {
    const auto file = read(whole.substr(0, bytes));
    REQUIRE_FALSE(file.ok());
    CHECK(file.error().message.starts_with(path + ": "));
  }
  CHECK(read(whole.substr(0, format::kNativeRowsAt))->places.empty());
  std::filesystem::remove(path);
}

TEST_CASE("A locked table is not replaced") {
  const char* why = "";
  CHECK(SiteTable::Create(TheTable().path.c_str(), 1, &why) == nullptr);
  CHECK(std::string(why).starts_with("exists and cannot be replaced"));
}

}  // namespace heaprec::native
