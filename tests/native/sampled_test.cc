// Ground truth: a library allocates what the test knows to the byte. Estimates may be off by six standard deviations of
// theirs: chance alone does that once in 500 million times.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/native/sampled_session.h"

namespace heaprec::native {
namespace {

constexpr double kSigmas = 6;
constexpr long kMb = 1'000'000;

struct Workload {
  const Library library{"libworkload.so"};
  void (*const churn_small)(long bytes, size_t size) = library.Find("churn_small");
  void (*const churn_large)(long bytes, size_t size) = library.Find("churn_large");
  void (*const churn_aligned)(long bytes, size_t size) = library.Find("churn_aligned");
  void (*const churn_family)(long times, const char* text) = library.Find("churn_family");
  void (*const leak)(void** into, long count, size_t size) = library.Find("leak");
  void (*const give_back)(void** blocks, long count) = library.Find("give_back");
  long (*const grow)(void** into, size_t step, size_t size) = library.Find("grow");
};

void CheckIsAbout(const Estimated& estimate, double truth) {
  CAPTURE(estimate.bytes, estimate.samples, truth);
  CHECK(std::abs(estimate.bytes - truth) <= kSigmas * std::sqrt(estimate.variance) + 1);
}

}  // namespace

TEST_CASE("Bytes are counted exactly, and those of each site are estimated") {
  const Workload workload;
  SampledSession session(1000);
  for (int i = 0; i < 10; ++i) {
    workload.churn_small(20 * kMb, 100);
    workload.churn_large(5 * kMb, 5000);
    workload.churn_aligned(3 * kMb, 1600);
  }
  session.Stop();
  CHECK(session.counters().candidate_bytes == 280 * kMb);
  CHECK(session.counters().candidates == 2'000'000 + 10'000 + 18'750);
  CHECK(session.At("libworkload.so.churn_small").samples > 100);
  CheckIsAbout(session.At("libworkload.so.churn_small"), 200 * kMb);
  CheckIsAbout(session.At("libworkload.so.churn_large"), 50 * kMb);
  CheckIsAbout(session.At("libworkload.so.churn_aligned"), 30 * kMb);
  CHECK(std::ranges::all_of(session.blocks(), &SampledBlock::is_freed));
  const format::StreamCounters& counters = session.counters();
  CHECK(counters.points == counters.committed + counters.thinned);
  CHECK(counters.committed == counters.written + counters.second_stage);
}

TEST_CASE("Blocks that libc allocates for its caller by a function of malloc's family are counted, too") {
  const Workload workload;
  SampledSession session(1000);
  const std::string text(999, 'x');
  workload.churn_family(1000, text.c_str());
  session.Stop();
  CHECK(session.counters().candidates == 3000);
  CHECK(session.counters().candidate_bytes == 1000 * (5000 + 1000 + 101));
  CheckIsAbout(session.At("libworkload.so.churn_family"), 1000 * (5000 + 1000 + 101));
  CHECK(std::ranges::all_of(session.blocks(), &SampledBlock::is_freed));
}

TEST_CASE("A leak is distinguished from memory that is freed") {
  const Workload workload;
  SampledSession session(1000);
  std::vector<void*> leaked(64'000);
  for (int i = 0; i < 10; ++i) {
    workload.leak(leaked.data() + i * 6'400, 6'400, 1000);
    workload.churn_small(50 * kMb, 200);
  }
  session.Stop();
  CHECK(session.At("libworkload.so.churn_small", /*alive_only=*/true).samples == 0);
  const Estimated alive = session.At("libworkload.so.leak", /*alive_only=*/true);
  CHECK(alive.samples == session.At("libworkload.so.leak").samples);
  CHECK(alive.samples > 50);
  CheckIsAbout(alive, 64 * kMb);
  workload.give_back(leaked.data(), static_cast<long>(leaked.size()));
}

TEST_CASE("A block that grows is freed and allocated again at each step") {
  const Workload workload;
  SampledSession session(1000);
  std::vector<void*> kept(200);
  double asked = 0;
  for (void*& block : kept) asked += static_cast<double>(workload.grow(&block, 1'000, 100'000));
  session.Stop();
  CHECK(static_cast<double>(session.counters().candidate_bytes) == asked);
  CheckIsAbout(session.At("libworkload.so.grow"), asked);
  CheckIsAbout(session.At("libworkload.so.grow", /*alive_only=*/true), 200 * 100'000.0);
  workload.give_back(kept.data(), static_cast<long>(kept.size()));
}

TEST_CASE("Blocks may be freed by other threads than those that allocate them") {
  const Workload workload;
  SampledSession session(1000);
  constexpr int kThreads = 64;
  constexpr long kEach = 500;
  std::vector<std::vector<void*>> blocks(kThreads, std::vector<void*>(kEach));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      workload.leak(blocks[i].data(), kEach, 2'000);
      workload.churn_small(kMb, 300);
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  for (int i = 0; i < kThreads / 2; ++i) {
    threads.emplace_back([&, i] { workload.give_back(blocks[i].data(), kEach); });
  }
  for (std::thread& thread : threads) thread.join();
  session.Stop();
  CheckIsAbout(session.At("libworkload.so.leak"), 64 * kMb);
  CheckIsAbout(session.At("libworkload.so.leak", /*alive_only=*/true), 32 * kMb);
  for (int i = kThreads / 2; i < kThreads; ++i) workload.give_back(blocks[i].data(), kEach);
}

TEST_CASE("A library is seen after it is loaded, and forgotten after it is unloaded") {
  SampledSession session(1000);
  for (int i = 0; i < 3; ++i) {
    const Workload workload;
    usleep(300'000);  // by then the drain has looked
    workload.churn_small(50 * kMb, 100);
  }
  session.Stop();
  CheckIsAbout(session.At("libworkload.so.churn_small"), 150 * kMb);
  CHECK(session.counters().candidate_bytes == 150 * kMb);
}

TEST_CASE("A library whose functions were looked up is seen from the first call on") {
  static const Library loader("libloader.so");  // stays: what it loads does
  void* (*const load)(const char*, const char*) = loader.Find("load");
  void* (*const next_malloc)() = loader.Find("next_malloc");
  void* const before = next_malloc();
  REQUIRE(before != nullptr);
  SampledSession session(1000);
  CHECK(next_malloc() == before);
  const auto churn =
      reinterpret_cast<void (*)(long, size_t)>(load(Library::PathOf("libworkload.so").c_str(), "churn_small"));
  REQUIRE(churn != nullptr);
  churn(50 * kMb, 100);
  session.Stop();
  CHECK(session.counters().candidate_bytes == 50 * kMb);
  CheckIsAbout(session.At("libworkload.so.churn_small"), 50 * kMb);
}

TEST_CASE("A forked child samples nothing, and neither does its parent after the end") {
  const Workload workload;
  std::vector<void*> blocks(1000);
  {
    SampledSession session(1000);
    workload.leak(blocks.data(), 1000, 10'000);
    const pid_t child = fork();
    if (child == 0) {
      AbandonHooks();  // what the agent does in its handler
      workload.give_back(blocks.data(), 1000);
      workload.churn_small(50 * kMb, 100);
      _exit(0);
    }
    int status = 1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    session.Stop();
    CHECK(session.counters().candidate_bytes == 10 * kMb);
    workload.churn_small(10 * kMb, 100);
  }
  SampledSession again(1000);
  workload.give_back(blocks.data(), 1000);
  workload.churn_small(20 * kMb, 100);
  again.Stop();
  CHECK(again.counters().candidate_bytes == 20 * kMb);
  CheckIsAbout(again.At("libworkload.so.churn_small"), 20 * kMb);
}

TEST_CASE("Of two concurrent recordings the second gets no calls, and the first keeps them") {
  const Workload workload;
  SampledSession session(1000);
  for (int i = 0; i < 2; ++i) {
    const auto second = MallocHooks::Install();
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().message == "another recording of this process already samples it");
  }
  workload.churn_small(20 * kMb, 100);
  session.Stop();
  CHECK(session.counters().candidate_bytes == 20 * kMb);
  CheckIsAbout(session.At("libworkload.so.churn_small"), 20 * kMb);
}

TEST_CASE("Hooked calls that were not recorded leave nothing behind") {
  const Workload workload;
  {
    const auto led = MallocHooks::Install();
    REQUIRE(led.ok());
    CHECK((*led)->missing() == "");
    workload.churn_small(kMb, 100);
  }
  SampledSession session(1000);
  workload.churn_small(20 * kMb, 100);
  session.Stop();
  CHECK(session.counters().candidate_bytes == 20 * kMb);
}

TEST_CASE("Threads allocate while recordings begin and end") {
  const Workload workload;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::vector<void*> blocks(100);
      while (!stop) {
        workload.leak(blocks.data(), 100, 700);
        workload.churn_small(100'000, 64);
        workload.give_back(blocks.data(), 100);
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    SampledSession session(2000);
    usleep(100'000);
    session.Stop();
    CHECK(session.counters().candidate_bytes > 0);
    const format::StreamCounters& counters = session.counters();
    CAPTURE(i, counters.points, counters.committed, counters.thinned, counters.second_stage, counters.written);
    CheckIsAbout(session.All(), static_cast<double>(session.counters().candidate_bytes));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace heaprec::native
