// Run under --config=tsan as well.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "recorder/sources/java/entry.h"

namespace heaprec::sources {
namespace {

struct Probe final : Source {
  std::atomic<int> entered{0}, left{0};
  void OnRefill(void*, uint64_t) override {}
  void OnOutside(void*, uint64_t) override {}
  void OnDelivered(const Delivered&) override {
    entered.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::yield();
    left.fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace

TEST_CASE("The gate counts callers only between the beginning and the end of a call") {
  constexpr int kThreads = 100;  // more than there are counts
  CHECK(CallbackScope::NobodyIsInside());
  std::atomic<int> seen{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const CallbackScope outer;
      {
        const CallbackScope inner;
        seen += !CallbackScope::NobodyIsInside();
      }
      seen += !CallbackScope::NobodyIsInside();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(seen == 2 * kThreads);
  CHECK(CallbackScope::NobodyIsInside());
}

TEST_CASE("A removed source is released, and not entered again, once no call is inside") {
  constexpr int kThreads = 3, kSources = 100;
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  const Delivered object{};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!over) {
        heaprec_on_delivered(&object);
        std::this_thread::yield();
      }
    });
  }
  int inside = 0;
  for (int i = 0; i < kSources; ++i) {
    auto source = std::make_unique<Probe>();
    active_source.store(source.get(), std::memory_order_release);
    while (source->left.load() < 10) std::this_thread::yield();
    active_source.store(nullptr);
    while (!CallbackScope::NobodyIsInside()) std::this_thread::yield();
    const int left = source->left.load();
    std::this_thread::yield();
    inside += source->entered.load() - left;
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(inside == 0);
}

}  // namespace heaprec::sources
