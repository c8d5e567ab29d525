// Killed at any moment, a recording has every sample point of malloc that an independent witness saw come into the
// ring: once, with its size, weight and site; and its counters add up.
//
// The witness lies in memory that outlives the process; link_seams.cc tells it of each point after its commit has
// returned. HEAPREC_KILLS=1000: how many at random moments; HEAPREC_KILL_SEED: others than the last time.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "format/ring/ring_records.h"
#include "recorder/agent/options/rates.h"
#include "recorder/sources/native/native_stream.h"
#include "recorder/writer/drain.h"
#include "tests/crash/points.h"
#include "tests/support/files.h"
#include "tools/analysis/health/verification.h"
#include "tools/input/recording.h"

namespace heaprec::crash {
namespace {

using format::Stream;

constexpr uint32_t kMaxPoints = 1 << 18;
constexpr uint32_t kMaxKept = 1 << 20;  // no interval reaches it
constexpr double kRate = 1000;
constexpr char kSite[] = "libworkload.so.churn_small";

// All zero at first; by number of the point.
struct Witness {
  std::atomic<uint32_t> fired;
  std::array<std::atomic<uint64_t>, kMaxPoints> sizes;  // 0: none yet
  std::array<std::atomic<double>, kMaxPoints> weights;
};
Witness* witness = nullptr;

// In malloc.
void Note(const void* record) {
  const auto& point = *static_cast<const format::NativePointRecord*>(record);
  const uint64_t number = point.id - format::FirstIdOf(Stream::kNative);
  if (number >= kMaxPoints) std::abort();
  witness->weights[number].store(point.weight, std::memory_order_relaxed);
  witness->sizes[number].store(point.size, std::memory_order_release);
}

struct Plan {
  std::string folder;
  uint64_t seed = 1;
  uint32_t threads = 2, lanes = 4;
  uint64_t interval_ns = 0, block_ns = 0;
};

using Churn = void (*)(long bytes, size_t size);
Churn Workload() {
  const std::string path = std::string(getenv("TEST_SRCDIR")) + "/heaprec/tests/native/libworkload.so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  return reinterpret_cast<Churn>(dlsym(library, "churn_small"));
}

format::RecordingId IdOf(uint64_t seed) {
  format::RecordingId id{};
  std::memcpy(id.data(), &seed, sizeof seed);
  return id;
}

// As recorder/agent/program/program_recording.cc puts a recording together.
class Recorder {
 public:
  explicit Recorder(const Plan& plan)
      : plan_(plan), config_(Config(plan)), start_ns_(MonotonicNs()), ring_(MakeRing()) {
    auto hooks = native::MallocHooks::Install();
    if (!hooks.ok()) std::abort();
    parts_.Add(
        std::make_unique<sources::NativeStream>(*ring_,
                                                sources::NativeStream::Config{.throttle = config_,
                                                                              .start_ns = start_ns_,
                                                                              .recording = 1,
                                                                              .seed = plan.seed,
                                                                              .max_gap = agent::MaxGapOf(config_)},
                                                nullptr, std::move(*hooks)));
    writer::DrainCallbacks callbacks;
    callbacks.now = [] { return MonotonicNs(); };
    callbacks.on_tick = [this](uint64_t now_ns) { parts_.OnTick(now_ns); };
    callbacks.on_stop = [this] { parts_.Stop(); };
    parts_.Connect(&callbacks);
    writer::DrainConfig config;
    config.header = Header();
    config.block_ns = plan.block_ns;
    config.buffered_per_interval[Stream::kNative] = 1000;
    auto store = writer::Store::Create({plan.folder + "/rec.hrec", Header(), {}, {.never = true}});
    drain_ = std::make_unique<writer::Drain>(*ring_, std::move(store.value()), config, std::move(callbacks));
  }

  [[noreturn]] void Run(Churn churn) {
    heaprec::crash::native_point_committed = Note;
    if (!parts_.Activate().ok()) std::abort();
    if (!drain_->Start().ok()) std::abort();
    for (uint32_t i = 0; i < plan_.threads; ++i) {
      std::thread([churn, size = 40 + 24 * i] {
        for (;;) churn(1 << 20, size);
      }).detach();
    }
    for (;;) pause();
  }

 private:
  static throttle::ControllerConfig Config(const Plan& plan) {
    throttle::ControllerConfig config = agent::ControllerFor(kRate, /*unit_is_event=*/false);
    config.cap *= static_cast<double>(plan.interval_ns) / static_cast<double>(config.interval_ns);
    config.interval_ns = plan.interval_ns;
    return config;
  }
  std::unique_ptr<buffer::Ring> MakeRing() const {
    buffer::RingOptions options;
    options.path = plan_.folder + "/victim.ring";
    options.recording_id = IdOf(plan_.seed);
    options.start_epoch_ns = EpochNs();
    options.start_monotonic_ns = start_ns_;
    options.caps[Stream::kAllocations] = {plan_.interval_ns, 1};
    options.caps[Stream::kNative] = {plan_.interval_ns, kMaxKept};
    options.has_modules = true;
    options.lane_count = plan_.lanes;
    return std::move(buffer::Ring::Create(options).value());
  }
  format::FileHeader Header() const {
    format::FileHeader header;
    header.recording_id = IdOf(plan_.seed);
    header.start_epoch_ns = ring_->header().start_epoch_ns;
    header.start_monotonic_ns = start_ns_;
    header.interval_ns = plan_.interval_ns;
    header.interval_cap = 1;
    header.native = {plan_.interval_ns, kMaxKept, kRate};
    header.max_tracked_blocks = sources::NativeStream::kMaxTracked;
    header.pid = static_cast<uint32_t>(getpid());
    header.ring_path = ring_->path();
    return header;
  }

  const Plan plan_;
  const throttle::ControllerConfig config_;
  const uint64_t start_ns_;
  std::unique_ptr<buffer::Ring> ring_;
  sources::Parts parts_;
  std::unique_ptr<writer::Drain> drain_;
};

struct Totals {
  size_t kills = 0, seen = 0, lost = 0, from_ring = 0, rows = 0;
};

std::string SiteOf(const format::Dictionaries& names, format::Index leaf) {
  if (leaf == format::kNone) return "no stack";
  const format::Frame& frame = names.frames[names.stacks[leaf].frame];
  if (frame.method == format::kNone) return "a gap";
  return names.methods[frame.method].class_name + "." + names.methods[frame.method].name;
}

// What is wrong with the recording of a recorder that was killed.
std::vector<std::string> Examine(const Plan& plan, Totals* totals) {
  std::vector<std::string> findings;
  auto opened = tools::Recording::Open(plan.folder + "/rec.hrec");
  if (!opened.ok()) return {opened.error().message};
  tools::Recording& recording = **opened;
  tools::Verification verification(recording.header());
  std::set<uint64_t> there;
  while (const auto block = recording.Next()) {
    verification.Look(*block, recording);
    for (const format::Sample& sample : block->samples) {
      const uint64_t number = sample.id - format::FirstIdOf(Stream::kNative);
      const std::string who = "point " + std::to_string(number);
      if (number >= kMaxPoints) {
        findings.push_back(who + " never was");
        continue;
      }
      if (!there.insert(number).second) findings.push_back(who + " is there twice");
      if (SiteOf(*block->dictionaries, sample.stack) != kSite) {
        findings.push_back(who + " is of " + SiteOf(*block->dictionaries, sample.stack));
      }
      const uint64_t size = witness->sizes[number];
      if (size == 0) continue;  // it was killed before it could tell
      if (sample.size != size) findings.push_back(who + " has another size");
      if (std::abs(sample.weight / witness->weights[number] - 1) > 1e-9) findings.push_back(who + " weighs otherwise");
    }
  }
  verification.Close(recording);
  for (const tools::Inconsistency& finding : verification.findings()) findings.push_back("verify: " + finding.what);
  for (uint64_t number = 0; number < kMaxPoints; ++number) {
    if (witness->sizes[number] == 0) continue;
    ++totals->seen;
    if (there.contains(number)) continue;
    ++totals->lost;
    findings.push_back("point " + std::to_string(number) + " is lost");
  }
  const format::StreamCounters& counters = recording.counters(Stream::kNative);
  if (counters.points != counters.committed + counters.thinned + counters.LostPoints())
    findings.emplace_back("recorder counters disagree");
  for (size_t reason = 0; reason < format::kLosses; ++reason) {
    if (counters.lost[reason] == 0) continue;
    findings.push_back(std::string(format::LossReasonName(static_cast<format::LossReason>(reason))) + ": " +
                       std::to_string(counters.lost[reason]));
  }
  totals->from_ring += recording.salvage().events;
  totals->rows += there.size();
  return findings;
}

// Kills at `point` (empty: at a random moment, after `after_us`), and looks.
void KillAndExamine(const Plan& plan, Churn churn, const std::string& point, uint64_t passing, useconds_t after_us,
                    Totals* totals) {
  constexpr useconds_t kLook = 500;
  void* const memory =
      mmap(nullptr, sizeof(Witness), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  witness = static_cast<Witness*>(memory);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!point.empty()) Arm(point, passing, &witness->fired);
    (new Recorder(plan))->Run(churn);
  }
  int status = 0;
  bool has_died = false;
  for (useconds_t waited = 0; !has_died && waited < after_us; waited += kLook) {
    usleep(kLook);
    has_died = waitpid(child, &status, WNOHANG) == child;
  }
  if (!has_died) {
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child);
  }
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK((point.empty() || witness->fired == 1));
  ++totals->kills;
  const bool has_begun =
      std::filesystem::exists(plan.folder + "/rec.hrec") && std::filesystem::file_size(plan.folder + "/rec.hrec") > 0;
  std::string text;
  if (has_begun) {
    for (const std::string& finding : Examine(plan, totals)) text += "\n  " + finding;
  }
  INFO("killed at " << (point.empty() ? "a random moment" : point) << ", " << plan.folder << text);
  CHECK(text.empty());
  if (text.empty()) std::filesystem::remove_all(plan.folder);
  munmap(memory, sizeof(Witness));
}

// bench/crash/native_kills.py reads this.
void Report(const Totals& totals) {
  WARN(totals.kills << " kills: " << totals.seen << " points seen, " << totals.lost << " lost; " << totals.from_ring
                    << " of " << totals.rows << " samples read from rings");
}

Plan RandomPlan(std::mt19937_64& random) {
  constexpr uint64_t kMs = 1'000'000;
  Plan plan{.folder = testing::MakeFolder(testing::kSharedMemory), .seed = random()};
  plan.threads = 1 + random() % 4;
  plan.lanes = 16 + random() % 17;
  plan.interval_ns = (20 + random() % 100) * kMs;
  plan.block_ns = random() % 4 * plan.interval_ns;
  return plan;
}

}  // namespace

TEST_CASE("After a kill at a random moment, the recording has every sample point of malloc") {
  std::mt19937_64 random(NumberIn("HEAPREC_KILL_SEED", 20261123));
  const uint64_t kills = NumberIn("HEAPREC_KILLS", 25);
  const Churn churn = Workload();
  Totals totals;
  for (uint64_t i = 0; i < kills; ++i) {
    const bool is_early = random() % 4 == 0;
    const auto after_us = static_cast<useconds_t>(random() % (is_early ? 20'000 : 300'000));
    KillAndExamine(RandomPlan(random), churn, "", 0, after_us, &totals);
  }
  CHECK(totals.lost == 0);
  CHECK(totals.seen > kills * 20);
  Report(totals);
}

TEST_CASE("After a kill during a point, the recording has it once or not at all") {
  std::mt19937_64 random(NumberIn("HEAPREC_KILL_SEED", 20261123) + 1);
  const uint64_t rounds = std::max<uint64_t>(NumberIn("HEAPREC_KILLS", 0) / 100, 1);
  const Churn churn = Workload();
  Totals totals;
  for (uint64_t round = 0; round < rounds; ++round) {
    for (const char* point :
         {"point.reserving", "point.reserved", "point.committing", "point.committed", "stack.committed",
          "sample.committing", "sample.committed", "scan.end", "block.appended", "block.released"}) {
      KillAndExamine(RandomPlan(random), churn, point, 1 + random() % 4, 20'000'000, &totals);
    }
  }
  CHECK(totals.lost == 0);
  Report(totals);
}

}  // namespace heaprec::crash
