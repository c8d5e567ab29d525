// A recorder without a JVM: ring, capture, drain and files are the product's own, the application is program.h.
//
// An independent witness, in memory that outlives the process, says which samples were committed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "recorder/writer/retention.h"
#include "tests/crash/program.h"

namespace heaprec::crash {

enum class LifecycleEvent : uint8_t {
  kNone = 0,
  kUnderWay = 1,
  kCommitted = 2,  // written after the commit has returned
  kRefused = 3,    // the commit has returned, and has counted a loss
};

// All zero at first. Written by the process that is killed, read by the test.
struct Witness {
  std::atomic<uint32_t> fired{0};  // a point of the code was fatal
  std::array<std::array<std::atomic<LifecycleEvent>, kMaxObjects>, kMaxThreads> lifecycle_events{};

  LifecycleEvent Of(const Object& object) const {
    return lifecycle_events[object.thread][object.number].load(std::memory_order_acquire);
  }
};

struct UnmapWitness {
  void operator()(Witness* witness) const;
};
// Shared with children.
std::unique_ptr<Witness, UnmapWitness> MakeWitness();

struct Plan {
  std::string folder;  // of ring and files, which are named *.hrec
  uint64_t seed = 1;
  uint32_t threads = 4, lanes = 8, lane_bytes = 64 << 10;
  uint64_t interval_ns = 4'000'000;
  uint64_t block_ns = 0;       // as DrainConfig
  uint32_t cap = 100'000;      // of an interval; as it stands more than the lanes hold
  uint64_t pause_ns = 20'000;  // of a thread, between two objects
  writer::Limits limits{};
  writer::SyncPolicy sync{.never = true};
  uint64_t disk_bytes = 0;     // at most in a file, as if the disk were full then; 0: no bound
  uint64_t stop_after_ns = 0;  // 0: it goes on until it is killed
};

// Records; returns when the recording has ended.
void Record(const Plan& plan, Witness* witness);

}  // namespace heaprec::crash
