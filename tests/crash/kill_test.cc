// Killed at any moment and at every named point, a recording has all that an independent witness saw committed.
//
// HEAPREC_KILLS=10000: how many at random moments; HEAPREC_KILL_SEED: others than the last time.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/sample/stack_capture.h"
#include "tests/crash/jvm_link_seams.h"
#include "tests/crash/killed_process.h"
#include "tests/crash/points.h"
#include "tests/crash/recovery_check.h"
#include "tools/input/recording.h"

namespace heaprec::crash {
namespace {

constexpr uint64_t kMs = 1'000'000;

uint64_t NumberIn(const char* name, uint64_t otherwise) {
  const char* const value = getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

std::string FreshFolder() {
  std::string folder = "/dev/shm/heaprec-kill-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  return folder;
}

enum class Files { kOne, kBounded, kRotated };

Plan RandomPlan(std::mt19937_64& random) {
  const auto among = [&](uint64_t least, uint64_t most) {
    return std::uniform_int_distribution<uint64_t>(least, most)(random);
  };
  Plan plan;
  plan.folder = FreshFolder();
  plan.seed = random();
  plan.threads = static_cast<uint32_t>(among(1, 6));
  plan.lanes = static_cast<uint32_t>(among(1, 8));
  plan.lane_bytes = uint32_t{8} << 10 << among(0, 3);
  plan.interval_ns = among(1, 6) * kMs;
  plan.block_ns = among(0, 3) * plan.interval_ns;
  plan.pause_ns = among(0, 60) * 1000;
  if (among(0, 3) == 0) plan.cap = static_cast<uint32_t>(among(5, 40));
  if (among(0, 1) == 0) plan.sync = {.every_ns = among(0, 4) * kMs};
  const auto files = static_cast<Files>(among(0, 2));
  if (files == Files::kOne && among(0, 3) == 0) plan.disk_bytes = among(2, 60) << 10;
  if (files == Files::kBounded) plan.limits.max_bytes = among(64, 512) << 10;
  if (files == Files::kRotated) plan.limits.rotate_bytes = among(8, 60) << 10;
  if (among(0, 9) == 0) plan.stop_after_ns = among(1, 60) * kMs;
  return plan;
}

struct Death {
  std::string point;  // empty: at a random moment
  uint64_t passing = 1;
  size_t objects = 0;       // acknowledged before the time begins; a starved machine needs longer for them
  useconds_t after_us = 0;  // at the latest
};

// The process is killed anyway: it may be one that stops before.
void AwaitObjects(const Plan& plan, const Witness& witness, size_t objects) {
  for (int tries = 0; tries < 5'000 && Acknowledged(witness, plan.threads).size() < objects; ++tries) usleep(200);
}

// True if the point was passed in time.
bool Kill(const Plan& plan, const Death& death, Witness* witness) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!death.point.empty()) Arm(death.point, death.passing, &witness->fired);
    Record(plan, witness);
    _exit(0);
  }
  constexpr useconds_t kLook = 500;
  int status = 0;
  for (useconds_t waited = 0; !death.point.empty() && waited < death.after_us; waited += kLook) {
    if (waitpid(child, &status, WNOHANG) == child) return witness->fired.load() == 1;
    usleep(kLook);
  }
  if (death.point.empty()) {
    AwaitObjects(plan, *witness, death.objects);
    usleep(death.after_us);
  }
  kill(child, SIGKILL);
  CHECK(waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return witness->fired.load() == 1;
}

struct Totals {
  size_t kills = 0, acknowledged = 0, lost = 0, counted = 0, from_ring = 0, rows = 0;
  std::map<size_t, size_t> files;
};

// Whether it was found whole; a folder with findings is left.
void Look(const Plan& plan, const Witness& witness, const std::string& how, Totals* totals) {
  const RecoveryCheck check = Examine(plan, witness, Acknowledged(witness, plan.threads));
  std::string findings;
  for (const std::string& finding : check.findings) findings += "\n  " + finding;
  INFO(how << ", " << plan.folder << ", " << plan.threads << " threads, " << plan.lanes << " lanes of "
           << plan.lane_bytes << ", cap " << plan.cap << ", maxsize " << plan.limits.max_bytes << ", rotated at "
           << plan.limits.rotate_bytes << ", disk " << plan.disk_bytes << ":" << findings);
  CHECK(check.findings.empty());
  if (check.findings.empty()) std::filesystem::remove_all(plan.folder);
  ++totals->kills;
  totals->acknowledged += check.acknowledged;
  totals->lost += check.lost;
  totals->counted += check.counted;
  totals->from_ring += check.from_ring;
  totals->rows += check.rows;
  ++totals->files[check.files];
}

// What a point needs in order to be passed.
Plan PlanFor(const std::string& point, std::mt19937_64& random) {
  Plan plan = RandomPlan(random);
  plan.limits = {};
  plan.disk_bytes = 0;
  plan.stop_after_ns = 0;
  plan.pause_ns = 10'000;
  if (point.starts_with("rotation.") || point.starts_with("chunk.")) plan.limits.rotate_bytes = 8 << 10;
  if (point.starts_with("copy.")) plan.limits.max_bytes = 96 << 10;
  if (point.starts_with("sync.")) plan.sync = {.every_ns = kMs};
  const bool is_end =
      point.starts_with("end.") || point.starts_with("name.") || point.starts_with("stop.") || point == "ring.closing";
  if (is_end) plan.stop_after_ns = 20 * kMs;
  return plan;
}

// Points that are passed once, or of which the first passing is what counts.
bool IsPassedOnce(const std::string& point) {
  for (const char* room : {"ring.", "file.", "drain.", "end.", "name.", "stop."}) {
    if (point.starts_with(room)) return true;
  }
  return point.starts_with("block.tak") || point.starts_with("copy.") || point == "chunk.finishing";
}

}  // namespace

// Only what never reaches its point waits so long.
constexpr useconds_t kPatienceUs = 120'000'000;

TEST_CASE("After a kill at any named point, the recording has everything that was committed") {
  std::mt19937_64 random(NumberIn("HEAPREC_KILL_SEED", 20261121));
  const uint64_t rounds = std::max<uint64_t>(NumberIn("HEAPREC_KILLS", 0) / 100, 1);
  Totals totals;
  for (uint64_t round = 0; round < rounds; ++round) {
    for (const std::string_view point : kPoints) {
      const std::string name(point);
      const bool is_frequent = name.starts_with("sample.") || name.starts_with("lease.");
      const uint64_t most = is_frequent ? 200 : name.starts_with("window.") ? 2 : 8;
      const Death death{name, IsPassedOnce(name) ? 1 : 1 + random() % most, 0, kPatienceUs};
      const Plan plan = PlanFor(name, random);
      const auto witness = MakeWitness();
      INFO(name << ", passing " << death.passing);
      CHECK(Kill(plan, death, witness.get()));
      Look(plan, *witness, name, &totals);
    }
  }
  CHECK(totals.lost == 0);
  WARN(totals.kills << " kills at " << kPoints.size() << " points: " << totals.acknowledged << " acknowledged, "
                    << totals.lost << " lost, " << totals.counted << " refused and counted, " << totals.from_ring
                    << " of " << totals.rows << " read from rings");
}

TEST_CASE("After a kill at a random moment, the recording has everything that was committed") {
  std::mt19937_64 random(NumberIn("HEAPREC_KILL_SEED", 20261121) + 1);
  const uint64_t kills = NumberIn("HEAPREC_KILLS", 100);
  Totals totals;
  for (uint64_t i = 0; i < kills; ++i) {
    const Plan plan = RandomPlan(random);
    const auto witness = MakeWitness();
    const bool is_early = random() % 4 == 0;
    const Death death{"", 0, size_t{is_early ? 0U : 20U},
                      static_cast<useconds_t>(random() % (is_early ? 5'000 : 80'000))};
    Kill(plan, death, witness.get());
    Look(plan, *witness, "at a random moment", &totals);
  }
  CHECK(totals.lost == 0);
  CHECK(totals.acknowledged > kills * 10);
  WARN(totals.kills << " kills at random moments: " << totals.acknowledged << " acknowledged, " << totals.lost
                    << " lost, " << totals.counted << " refused and counted, " << totals.from_ring << " of "
                    << totals.rows << " read from rings; " << totals.files.size() << " numbers of files");
}

namespace {

// How much of an allocating thread's own stack a sample takes. HotSpot leaves a native method 80 KiB of it.

constexpr size_t kStackBytes = 512 << 10;
constexpr std::byte kUntouched{0xa5};

// Commits a sample of each of a few objects.
struct Sampled {
  sources::SampleWriter& capture;
  static void* Run(void* self) {
    for (uint32_t number = 0; number < 10; ++number) {
      const Object object{1, number};
      sources::Point point;
      point.size = object.Size();
      point.weight = object.Weight();
      static_cast<Sampled*>(self)->capture.Commit(ContextOf(object), point);
    }
    return nullptr;
  }
};

// Bytes of its stack that a thread has touched which takes samples of stacks of up to `depth` frames.
size_t StackTouched(int depth) {
  buffer::RingOptions options;
  options.caps[format::Stream::kAllocations] = {1'000'000'000, 100};
  const auto ring = std::move(buffer::Ring::Create(options).value());
  buffer::SharedCounters shared_counters(ring->header().counters);
  sources::WindowPublisher board({.interval_ns = 1'000'000'000, .cap = 100}, 0);
  const hotspot::Names names;
  const sources::ThreadFields fields;
  const auto capture =
      std::make_unique<sources::SampleWriter>(*ring, shared_counters, board, names, /*walker=*/nullptr, fields, depth);
  Sampled sampled{*capture};
  void* memory = nullptr;
  REQUIRE(posix_memalign(&memory, 4096, kStackBytes) == 0);
  std::memset(memory, static_cast<int>(kUntouched), kStackBytes);
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, memory, kStackBytes) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, Sampled::Run, &sampled) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const auto* const lowest = static_cast<const std::byte*>(memory);
  const auto* const touched =
      std::find_if(lowest, lowest + kStackBytes, [](std::byte byte) { return byte != kUntouched; });
  const auto bytes = static_cast<size_t>(lowest + kStackBytes - touched);
  std::free(memory);
  CHECK(shared_counters.Snapshot().committed == 10);
  return bytes;
}

}  // namespace

TEST_CASE("A sample needs little of its thread's stack, whatever the maximum depth") {
  // With what pthread and libc put there.
  CHECK(StackTouched(128) < 24 << 10);
  CHECK(StackTouched(256) < 40 << 10);
  CHECK(StackTouched(1024) < 24 << 10);
}

TEST_CASE("If all buffers are in use, a stack is truncated to what fits on the thread's own stack") {
  sources::StackBufferPool pool(1024);
  std::vector<std::unique_ptr<sources::StackBufferPool::Lease>> leases;
  for (uint32_t hint = 0; hint < 1000; ++hint) {
    leases.push_back(std::make_unique<sources::StackBufferPool::Lease>(pool, hint));
    if (!leases.back()->ok()) break;
    CHECK(leases.back()->depth() == 1024);
    std::memset(leases.back()->memory(), 0, sources::StackBuffer::BytesFor(1024));
  }
  REQUIRE(leases.size() < 1000);
  CHECK(leases.back()->depth() == sources::StackBufferPool::kMaxOnStack);
  leases.erase(leases.begin());
  CHECK(sources::StackBufferPool::Lease(pool, 7).ok());

  sources::StackBufferPool shallow(200);
  const sources::StackBufferPool::Lease on_stack(shallow, 0);
  CHECK_FALSE(on_stack.ok());
  CHECK(on_stack.depth() == 200);
}

TEST_CASE("The parts of a buffer do not overlap and are within it") {
  constexpr size_t kDepth = 300;
  std::vector<uint64_t> words(sources::StackBuffer::BytesFor(kDepth) / 8 + 1);
  auto* const memory = reinterpret_cast<std::byte*>(words.data());
  const sources::StackBuffer buffer(memory, kDepth);
  CHECK(buffer.frames.size() == kDepth);
  CHECK(static_cast<void*>(buffer.frames.data() + kDepth) == buffer.compared.data());
  CHECK(static_cast<void*>(buffer.compared.data() + kDepth) == buffer.asked.data());
  CHECK(static_cast<void*>(buffer.asked.data() + kDepth + 1) == buffer.described.data());
  CHECK(reinterpret_cast<std::byte*>(buffer.described.data() + kDepth + 1) ==
        memory + sources::StackBuffer::BytesFor(kDepth));
}

namespace {

// 64 threads that give ten times what the lanes and an interval hold: every point has a lifecycle event, to the last
// one. Run it with --config=tsan.

uint64_t Lost(const format::StreamCounters& counters, format::LossReason loss) {
  return counters.lost[static_cast<size_t>(loss)];
}

}  // namespace

TEST_CASE("Under ten times the load the counters are exact, and the sums contain all that is not lost") {
  Plan plan;
  plan.folder = "/dev/shm/heaprec-load-XXXXXX";
  REQUIRE(mkdtemp(plan.folder.data()) != nullptr);
  plan.threads = kMaxThreads;
  plan.lanes = 32;
  plan.lane_bytes = 16 << 10;
  plan.cap = 100;
  plan.interval_ns = 50'000'000;
  plan.pause_ns = 100'000;
  plan.stop_after_ns = 2'000'000'000;
  const auto witness = MakeWitness();
  Record(plan, witness.get());

  uint64_t committed = 0, refused = 0;
  double weight = 0, refused_weight = 0;
  for (uint32_t thread = 0; thread < plan.threads; ++thread) {
    for (uint32_t number = 0; number < kMaxObjects; ++number) {
      const Object object{thread, number};
      const LifecycleEvent lifecycle = witness->Of(object);
      REQUIRE(lifecycle != LifecycleEvent::kUnderWay);
      if (lifecycle == LifecycleEvent::kNone) break;
      (lifecycle == LifecycleEvent::kCommitted ? committed : refused) += 1;
      (lifecycle == LifecycleEvent::kCommitted ? weight : refused_weight) += object.Weight();
    }
  }

  auto recording = tools::Recording::Open(plan.folder + "/rec.hrec");
  REQUIRE(recording.ok());
  uint64_t rows = 0, held = 0, most = 0;
  double recorded = 0;
  while (const auto block = (*recording)->Next()) {
    rows += block->samples.size();
    for (const format::Sample& sample : block->samples) recorded += sample.weight;
    for (const format::Interval& interval : block->intervals) {
      held += interval.buffered;
      most = std::max(most, interval.kept);
    }
  }
  const format::StreamCounters& counters = (*recording)->counters();
  INFO(committed << " committed, " << refused << " refused, " << rows << " rows of " << held);
  CHECK((*recording)->ending()->reason == "test");
  CHECK(committed + refused > 10 * rows);
  CHECK(committed > rows);
  CHECK(refused > 0);
  CHECK(most == plan.cap);
  CHECK(held == committed);
  CHECK(counters.points == committed + refused);
  CHECK(counters.committed == committed);
  CHECK(Lost(counters, format::LossReason::kRingFull) + Lost(counters, format::LossReason::kLanesBusy) == refused);
  CHECK(counters.written == rows);
  CHECK(counters.second_stage == committed - rows);
  CHECK(Lost(counters, format::LossReason::kWriteFailed) == 0);
  CHECK(std::abs(recorded / weight - 1) < 1e-9);
  double lost_weight = 0;
  for (const double of_reason : counters.lost_weight) lost_weight += of_reason;
  CHECK(std::abs(lost_weight / refused_weight - 1) < 1e-9);
  std::filesystem::remove_all(plan.folder);
}

namespace {

// Read at any moment while it is written, a recording is a prefix of itself that holds all that was committed before.
//
// HEAPREC_READS=1000: how often; each case reads a share of them.

constexpr uint64_t kReadsOfOne = 25;

uint64_t Reads() {
  const char* const value = getenv("HEAPREC_READS");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? std::strtoull(value, nullptr, 10) : 100;
}

}  // namespace

TEST_CASE("Each prefix that is read during writing is complete, in order and without gaps") {
  size_t events = 0;
  for (uint64_t recording = 0; recording * kReadsOfOne < Reads(); ++recording) {
    Plan plan;
    plan.folder = "/dev/shm/heaprec-read-XXXXXX";
    REQUIRE(mkdtemp(plan.folder.data()) != nullptr);
    plan.seed = recording + 1;
    plan.threads = 1 + recording % 4;
    plan.pause_ns = 200'000;
    plan.interval_ns = (1 + recording % 5) * 2'000'000;
    plan.block_ns = recording % 3 * plan.interval_ns;
    if (recording % 3 == 1) plan.cap = 4;
    const auto witness = MakeWitness();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      Record(plan, witness.get());
      _exit(0);
    }
    while (Acknowledged(*witness, plan.threads).empty()) usleep(1000);
    for (uint64_t i = 0; i < kReadsOfOne; ++i) {
      usleep(static_cast<useconds_t>(i * 700 % 9000));
      const RecoveryCheck check = Examine(plan, *witness, Acknowledged(*witness, plan.threads));
      INFO("recording " << recording << ", reading " << i << ": "
                        << (check.findings.empty() ? "" : check.findings.front()));
      CHECK(check.findings.empty());
      events += check.acknowledged;
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, nullptr, 0) == child);
    std::filesystem::remove_all(plan.folder);
  }
  CHECK(events > Reads());
}

}  // namespace heaprec::crash
