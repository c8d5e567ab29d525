// Ground truth: a library maps and unmaps what the test knows, and the kernel says what is there in the end.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/native/sampled_session.h"

namespace heaprec::native {
namespace {

constexpr size_t kPage = 4096, kMb = 1 << 20;
// Nobody else maps there: the kernel gives addresses from the top downwards.
constexpr uintptr_t kArena = uintptr_t{1} << 45;

struct MapperLibrary {
  const Library library{"libmapper.so"};
  void* (*const reserve)(void* at, size_t bytes, int flags) = library.Find("reserve");
  void* (*const commit)(void* at, size_t bytes, int flags) = library.Find("commit");
  void* (*const share)(void* at, size_t bytes, int flags) = library.Find("share");
  void* (*const map_file)(void* at, size_t bytes, int flags, int file) = library.Find("map_file");
  int (*const give_back)(void* at, size_t bytes) = library.Find("give_back");
  void* (*const move)(void* at, size_t old_bytes, size_t bytes, int flags, void* to) = library.Find("move");
};

char* Behind(void* at, size_t bytes) { return static_cast<char*>(at) + bytes; }

struct Mapped {
  uint64_t all = 0, touchable = 0;
  bool operator==(const Mapped&) const = default;
};

// As the kernel has it, between two addresses.
Mapped InProcess(uintptr_t from, uintptr_t to) {
  Mapped sum;
  FILE* const file = std::fopen("/proc/self/maps", "re");
  REQUIRE(file != nullptr);
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), file) != nullptr) {
    unsigned long begin = 0, end = 0;  // NOLINT(google-runtime-int): as sscanf has it
    std::array<char, 5> rights{};
    REQUIRE(std::sscanf(line.data(), "%lx-%lx %4s", &begin, &end, rights.data()) == 3);  // NOLINT(cert-err34-c)
    begin = std::max<uintptr_t>(begin, from), end = std::min<uintptr_t>(end, to);
    if (begin >= end) continue;
    sum.all += end - begin;
    if (std::string_view(rights.data()).substr(0, 3) != "---") sum.touchable += end - begin;
  }
  std::fclose(file);
  return sum;
}

Mapped InRecording(const SampledSession& session) {
  Mapped sum;
  for (const SampledMapping& one : session.mappings()) {
    if (!one.class_name.starts_with("commit")) sum.all += one.left;
    if (one.class_name != "reserve") sum.touchable += one.left;
  }
  return sum;
}

std::vector<uint64_t> LeftOf(const SampledSession& session, const std::string& site, const std::string& class_name) {
  std::vector<uint64_t> left;
  for (const SampledMapping& one : session.mappings()) {
    if (one.site == "libmapper.so." + site && one.class_name == class_name) left.push_back(one.left);
  }
  return left;
}

// Two sums and a weight: what is told is what it stands for.
void CheckIsExact(const SampledSession& session) {
  const format::StreamCounters& counters = session.mapping_counters();
  uint64_t bytes = 0;
  for (const SampledMapping& one : session.mappings()) {
    bytes += one.sample.size;
    CHECK(one.sample.weight == static_cast<double>(one.sample.size));
  }
  CHECK(counters.candidates == session.mappings().size());
  CHECK(counters.candidate_bytes == bytes);
  CHECK(counters.points == counters.committed);
}

}  // namespace

TEST_CASE("A reserve is trimmed to its alignment, and committed and uncommitted in pieces") {
  const MapperLibrary mapper;
  SampledSession session(100, 1000);
  void* const range = mapper.reserve(nullptr, 64 * kMb, 0);
  CHECK(mapper.give_back(range, 8 * kMb) == 0);
  CHECK(mapper.give_back(Behind(range, 40 * kMb), 24 * kMb) == 0);
  CHECK(mapper.commit(Behind(range, 8 * kMb), 4 * kMb, MAP_FIXED) != MAP_FAILED);
  CHECK(mapper.commit(Behind(range, 16 * kMb), 8 * kMb, MAP_FIXED) != MAP_FAILED);
  CHECK(mapper.reserve(Behind(range, 18 * kMb), 2 * kMb, MAP_FIXED) != MAP_FAILED);  // out of its middle
  CHECK(mapper.commit(Behind(range, 30 * kMb), kMb, MAP_FIXED) != MAP_FAILED);
  CHECK(mapper.commit(Behind(range, 30 * kMb), kMb, MAP_FIXED) != MAP_FAILED);  // in the other's place
  CHECK(mapper.give_back(Behind(range, 39 * kMb), kMb) == 0);
  session.Stop();
  CHECK(LeftOf(session, "reserve", "reserve") == std::vector<uint64_t>{31 * kMb});
  CHECK(LeftOf(session, "commit", "commit") == std::vector<uint64_t>{4 * kMb, 6 * kMb, 0, kMb});
  CHECK(session.mappings().size() == 5);
  CheckIsExact(session);
  munmap(Behind(range, 8 * kMb), 31 * kMb);  // in the holes may be others by now
}

TEST_CASE("Files and shared memory have their own classes, and sizes are whole pages") {
  const MapperLibrary mapper;
  FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  REQUIRE(ftruncate(fileno(file), static_cast<off_t>(kMb)) == 0);
  SampledSession session(100, 1000);
  void* const of_file = mapper.map_file(nullptr, kPage + 1, 0, fileno(file));
  void* const shared = mapper.share(nullptr, kMb, 0);
  void* const reserved = mapper.reserve(nullptr, kMb, 0);
  CHECK(mapper.map_file(reserved, 10, MAP_FIXED, fileno(file)) == reserved);
  CHECK(mapper.share(Behind(reserved, kPage), kPage, MAP_FIXED) != MAP_FAILED);
  CHECK(mapper.map_file(nullptr, 0, 0, fileno(file)) == MAP_FAILED);
  CHECK(errno == EINVAL);
  CHECK(mapper.give_back(Behind(shared, 1), kPage) == -1);
  CHECK(errno == EINVAL);
  CHECK(mapper.give_back(of_file, 1) == 0);
  session.Stop();
  CHECK(LeftOf(session, "map_file", "mmap file") == std::vector<uint64_t>{kPage});
  CHECK(LeftOf(session, "map_file", "commit file") == std::vector<uint64_t>{kPage});
  CHECK(LeftOf(session, "share", "mmap shared") == std::vector<uint64_t>{kMb});
  CHECK(LeftOf(session, "share", "commit shared") == std::vector<uint64_t>{kPage});
  CHECK(session.mappings().size() == 5);
  CheckIsExact(session);
  munmap(Behind(of_file, kPage), kPage), munmap(shared, kMb), munmap(reserved, kMb);
  std::fclose(file);
}

TEST_CASE("mremap keeps the class of what it moves; what it adds is a mapping, what it removes ends") {
  const MapperLibrary mapper;
  SampledSession session(100, 1000);
  void* range = mapper.commit(nullptr, 4 * kMb, 0);
  range = mapper.move(range, 4 * kMb, 16 * kMb, MREMAP_MAYMOVE, nullptr);
  REQUIRE(range != MAP_FAILED);
  const auto elsewhere = reinterpret_cast<void*>(kArena);
  REQUIRE(mapper.move(range, 16 * kMb, 10 * kMb, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == elsewhere);
  CHECK(mapper.move(Behind(elsewhere, 64 * kMb), kMb, 2 * kMb, 0, nullptr) == MAP_FAILED);
  CHECK(errno == EFAULT);
  CHECK(mapper.give_back(elsewhere, kMb) == 0);
  session.Stop();
  CHECK(LeftOf(session, "commit", "mmap") == std::vector<uint64_t>{3 * kMb});
  CHECK(LeftOf(session, "move", "mmap") == std::vector<uint64_t>{6 * kMb});
  CheckIsExact(session);
  munmap(elsewhere, 16 * kMb);
}

TEST_CASE("Sixteen threads map and unmap at random: the live ranges equal the kernel's, to the byte") {
  constexpr int kThreads = 16, kCalls = 120;
  constexpr uintptr_t kPagesEach = 512;
  const MapperLibrary mapper;
  FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  REQUIRE(ftruncate(fileno(file), kPagesEach * kPage) == 0);
  SampledSession session(100, 2000);
  const auto work = [&](int thread) {
    std::mt19937 random(static_cast<uint32_t>(thread));
    char* const arena = reinterpret_cast<char*>(kArena + static_cast<uintptr_t>(thread) * kPagesEach * kPage);
    for (int i = 0; i < kCalls; ++i) {
      const uintptr_t first = random() % kPagesEach, pages = 1 + random() % (kPagesEach - first);
      char* const at = arena + first * kPage;
      const size_t bytes = pages * kPage;
      switch (random() % 8) {
        case 0:
        case 1:
          (void)mapper.reserve(at, bytes, MAP_FIXED);
          break;
        case 2:
        case 3:
          (void)mapper.commit(at, bytes, MAP_FIXED);
          break;
        case 4:
          (void)mapper.share(at, bytes, MAP_FIXED);
          break;
        case 5:
          (void)mapper.map_file(at, bytes, MAP_FIXED, fileno(file));
          break;
        case 6:  // fails where there is a hole
          (void)mapper.move(at, bytes, kPage * (1 + random() % pages), MREMAP_MAYMOVE | MREMAP_FIXED,
                            arena + random() % (kPagesEach - pages + 1) * kPage);
          break;
        default:
          (void)mapper.give_back(at, bytes);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  const Mapped truth = InProcess(kArena, kArena + kThreads * kPagesEach * kPage);
  session.Stop();
  CHECK(truth.all > truth.touchable);
  CHECK(InRecording(session).all == truth.all);
  CHECK(InRecording(session).touchable == truth.touchable);
  CheckIsExact(session);
  munmap(reinterpret_cast<void*>(kArena), kThreads * kPagesEach * kPage);
  std::fclose(file);
}

TEST_CASE("An address that several threads use belongs to its last owner") {
  constexpr int kThreads = 8, kRounds = 100;
  const MapperLibrary mapper;
  SampledSession session(100, 2000);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      // The kernel gives the same few addresses again and again.
      for (int round = 0; round < kRounds; ++round) {
        void* const range = mapper.commit(nullptr, kMb, 0);
        REQUIRE(mapper.give_back(range, kMb) == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  void* const last = mapper.commit(nullptr, kMb, 0);
  session.Stop();
  CHECK(session.mappings().size() == kThreads * kRounds + 1);
  CHECK(InRecording(session) == Mapped{kMb, kMb});
  CheckIsExact(session);
  munmap(last, kMb);
}

TEST_CASE("Of more calls than a second may hold some are drawn, and all are counted") {
  constexpr uint32_t kCap = 50, kCalls = 3000;
  const MapperLibrary mapper;
  SampledSession session(100, kCap);
  for (uint32_t i = 0; i < kCalls; ++i) {
    void* const range = mapper.commit(nullptr, kMb, 0);
    REQUIRE(mapper.give_back(range, kMb) == 0);
  }
  session.Stop();
  const format::StreamCounters& counters = session.mapping_counters();
  const uint64_t lost = counters.lost[static_cast<size_t>(format::LossReason::kRingFull)];
  CHECK(counters.candidates == kCalls);
  CHECK(counters.candidate_bytes == uint64_t{kCalls} * kMb);
  CHECK(counters.points == kCalls);
  CHECK(counters.points == counters.committed + lost);
  CHECK(counters.committed >= sources::MappingStream::kOversampling * kCap);
  CHECK(lost > 0);
  CHECK(counters.lost_weight[static_cast<size_t>(format::LossReason::kRingFull)] == static_cast<double>(lost) * kMb);
  double weight = 0;
  for (const SampledMapping& one : session.mappings()) weight += one.sample.weight;
  CHECK(std::abs(weight - static_cast<double>(counters.committed) * kMb) < 1);
  CHECK(InRecording(session) == Mapped{});
}

TEST_CASE("Calls in a signal handler are recorded, and those of a forked child are not") {
  static const MapperLibrary* mapper = nullptr;
  static void* range = nullptr;
  const MapperLibrary own;
  mapper = &own;
  SampledSession session(100, 1000);
  std::signal(SIGUSR1, [](int) { range = mapper->commit(nullptr, kMb, 0); });
  REQUIRE(std::raise(SIGUSR1) == 0);
  std::signal(SIGUSR1, SIG_DFL);
  const pid_t child = fork();
  if (child == 0) {
    AbandonHooks();
    _exit(mapper->commit(nullptr, kMb, 0) != MAP_FAILED && mapper->give_back(range, kMb) == 0 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  session.Stop();
  CHECK(LeftOf(session, "commit", "mmap") == std::vector<uint64_t>{kMb});
  munmap(range, kMb);
}

TEST_CASE("Notes without space are counted, and the process's ranges are read instead") {
  static format::RingCounters counters_in_ring{};
  buffer::SharedCounters shared_counters(counters_in_ring);
  sources::MappedPoints points(4);
  static format::RingMappingCalls calls{};
  sources::MappingSource source(shared_counters, calls, points, 1000, nullptr);
  for (uintptr_t i = 0; i < 6; ++i) {
    source.OnMapped({i * kPage, (i + 1) * kPage, MappingType::kPrivate, false}, {});
  }
  const sources::MappingSource::Unreported unreported = source.TakeUnreported();
  CHECK((unreported.mappings == 2 && unreported.bytes == 2 * kPage && unreported.is_incomplete));
  CHECK((calls.noted == 4 && calls.noted_bytes == 4 * kPage));
  CHECK(shared_counters.Snapshot().lost_weight[static_cast<size_t>(format::LossReason::kRingFull)] == 2 * kPage);
  CHECK_FALSE(source.TakeUnreported().is_incomplete);
  source.OnUnmapping(0, kPage);
  CHECK(source.TakeUnreported().is_incomplete);
  // One of the two that a move takes: neither is taken.
  int visited = 0;
  points.TakeAll([&](const sources::MappingPoint&) { ++visited; });
  CHECK(visited == 4);
  for (uintptr_t i = 0; i < 3; ++i) source.OnUnmapping(i * kPage, (i + 1) * kPage);
  const uint32_t moving = source.OnMoving(0, kPage);
  source.OnMoved(moving, 0, kPage, {});
  CHECK(source.TakeUnreported().is_incomplete);
  visited = 0;
  points.TakeAll([&](const sources::MappingPoint&) { ++visited; });
  CHECK(visited == 3);
}

}  // namespace heaprec::native
