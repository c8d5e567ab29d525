// The table of native memory, written and read: sums of many threads, no room, files that are cut off or damaged.
//
// Random: std::mt19937_64 with the seeds below.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "recorder/native_count/block_header.h"
#include "recorder/native_count/site_table.h"
#include "recorder/native_count/stale_tables.h"
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

TEST_CASE("A truncated or damaged table is read as far as possible, or refused with a reason") {
  std::ifstream in(TheTable().path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
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
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = whole.substr(0, format::kNativeRowsAt + random() % (whole.size() - format::kNativeRowsAt));
    for (int k = 0; k < 200; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    for (int k = 0; k < 20; ++k) damaged[64 + random() % 60] = static_cast<char>(random());
    const auto file = read(damaged);  // whatever it says
    if (!file.ok()) continue;
    for (const tools::NativePlace& place : file->places) REQUIRE((place.pcs.empty() || place.first < place.pcs.size()));
  }
  std::filesystem::remove(path);
}

TEST_CASE("A locked table is not replaced") {
  const char* why = "";
  CHECK(SiteTable::Create(TheTable().path.c_str(), 1, &why) == nullptr);
  CHECK(std::string(why).starts_with("exists and cannot be replaced"));
}

}  // namespace heaprec::native

// Headers of blocks: what is written is read, and what others keep in the same place is taken for none.
//
// Random: std::mt19937_64 with the seed below.
namespace heaprec::native {
namespace {

bool Equal(const Header& a, const Header& b) {
  return a.size == b.size && a.offset == b.offset && a.site == b.site && a.is_counted == b.is_counted &&
         a.is_early == b.is_early && a.is_checked == b.is_checked;
}

}  // namespace

TEST_CASE("A header returns what was written, for any size, site and alignment") {
  alignas(4096) static std::byte memory[3 * 4096];
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{HeaderWord::kLarge - 1}, size_t{HeaderWord::kLarge}, size_t{1} << 47}) {
    for (const size_t offset : {16U, 32U, 4096U}) {
      for (const uint32_t site : {0U, 1U, format::kMaxNativeSites - 1}) {
        for (const int flags : {0, 1, 2, 3, 5}) {
          // What is checked has something behind it, which needs room.
          const bool is_checked = (flags & 4) != 0 && size < 4096;
          const Header header{size, offset, site, (flags & 1) != 0, (flags & 2) != 0 && (flags & 1) == 0, is_checked};
          void* const block = Begin(memory, header);
          REQUIRE(block == memory + offset);
          REQUIRE(IsOurs(block));
          REQUIRE(Equal(HeaderOf(block), header));
          Unmark(block);
          REQUIRE_FALSE(IsOurs(block));
        }
      }
    }
  }
}

#ifndef __SANITIZE_ADDRESS__  // what is in front of a block is read
TEST_CASE("Data of an allocator before its own blocks is no header") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    void* volatile given = std::malloc(random() % 5000);  // the compiler need not know from whom
    void* const block = given;
    REQUIRE_FALSE(IsOurs(block));
    if (i % 3 != 0) std::free(block);  // what is left makes lengths and flags differ
  }
}
#endif

TEST_CASE("Writing past the end of a checked block is detected") {
  alignas(16) std::byte memory[256] = {};
  for (const size_t size : {0U, 1U, 15U, 16U, 100U}) {
    auto* const block = static_cast<std::byte*>(Begin(memory, {.size = size, .site = 5, .is_checked = true}));
    std::memset(block, 0xff, size);
    CHECK(IsWhole(block, HeaderOf(block)));
    block[size] ^= std::byte{1};
    CHECK_FALSE(IsWhole(block, HeaderOf(block)));
  }
}

TEST_CASE("A header that was copied to another place is invalid there") {
  alignas(16) std::byte memory[256] = {};
  void* const block = Begin(memory, {.size = 10, .site = 5});
  for (size_t at = 32; at < sizeof memory; at += 16) {
    void* const other = memory + at;
    *WordAt(other) = *WordAt(block);
    CHECK_FALSE(IsOurs(other));
  }
}

}  // namespace heaprec::native

// Tables of processes that are gone: their numbers are those of children that have ended.
namespace heaprec::native {
namespace {

pid_t Gone() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  return child;
}

// `age`: the higher, the older.
std::string Make(const std::string& path, int age) {
  std::ofstream(path) << "table";
  const timespec times[] = {{1'000'000 - age, 0}, {1'000'000 - age, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  return path;
}

}  // namespace

TEST_CASE("Of the tables of dead processes the newest stay, and those of other processes all stay") {
  const std::string folder = std::string(getenv("TEST_TMPDIR")) + "/stale";
  std::filesystem::create_directory(folder);
  const std::string prefix = folder + "/heaprec-native-";
  std::vector<std::string> stale;
  for (int age = 0; age < 6; ++age) stale.push_back(Make(prefix + std::to_string(Gone()), age));
  const std::string locked = Make(prefix + std::to_string(Gone()), 100),
                    own = Make(prefix + std::to_string(getpid()), 100), other = Make(prefix + "x", 100),
                    another = Make(folder + "/native-1", 100);
  const int lock = open(locked.c_str(), O_RDWR);
  REQUIRE(flock(lock, LOCK_EX | LOCK_NB) == 0);
  CHECK(RemoveStaleTables(folder.c_str(), 4) == 2);
  for (size_t age = 0; age < stale.size(); ++age) CHECK(std::filesystem::exists(stale[age]) == (age < 4));
  for (const std::string& path : {locked, own, other, another}) CHECK(std::filesystem::exists(path));
  close(lock);
  CHECK(RemoveStaleTables((folder + "/none").c_str(), 0) == 0);
  CHECK(RemoveStaleTables(folder.c_str(), 0) == 5);
  std::filesystem::remove_all(folder);
}

}  // namespace heaprec::native
