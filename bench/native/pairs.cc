// Pairs of free and malloc at random places among so many live blocks: ns per pair, the best of the rounds.
// Usage: pairs LIVE PAIRS [THREADS]; with threads, each has its own blocks, and millions of pairs a second are printed.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 5;

class Blocks {
 public:
  Blocks(size_t live, uint32_t seed) : blocks_(live), random_(seed) {
    for (size_t i = 0; i < live; ++i) blocks_[i] = std::malloc(16 + i % 200);
  }
  void Run(long pairs) {
    for (long i = 0; i < pairs; ++i) {
      random_ = random_ * 1664525U + 1013904223U;
      void*& block = blocks_[(random_ >> 8) % blocks_.size()];
      std::free(block);
      block = std::malloc(16 + random_ % 200);
    }
  }

 private:
  std::vector<void*> blocks_;
  uint32_t random_;
};

double Seconds(const auto& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const auto live = static_cast<size_t>(std::atol(argv[1]));
  const long pairs = std::atol(argv[2]);
  const int threads = argc > 3 ? std::atoi(argv[3]) : 0;
  if (threads == 0) {
    Blocks blocks(live, 1);
    double best = 1e9;
    for (int i = 0; i < kRounds; ++i) best = std::min(best, Seconds([&] { blocks.Run(pairs); }));
    std::printf("%.3f\n", best * 1e9 / static_cast<double>(pairs));
    return 0;
  }
  const double seconds = Seconds([&] {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] { Blocks(live, static_cast<uint32_t>(i)).Run(pairs); });
    }
    for (std::thread& thread : all) thread.join();
  });
  std::printf("%.3f\n", static_cast<double>(pairs) * threads / seconds / 1e6);
  return 0;
}
