// Lists of numbers below N that share one array of links: a number is in at most one list.
//
// Context:  any: no lock, no heap.
// Threads:  any; TakeAll: one at a time.
// Failure:  Pop returns kNone if the list is empty.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace heaprec::native {

template <uint32_t N>
class IndexFreeLists {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // Zero-filled memory is an empty list. Numbers are stored as number + 1.
  struct Free {
    std::atomic<uint64_t> head{0};  // the upper half is a tag that prevents ABA errors
  };
  struct Done {
    std::atomic<uint32_t> head{0};
  };

  uint32_t Pop(Free* list) {
    uint64_t head = list->head.load(std::memory_order_acquire);
    for (;;) {
      const auto first = static_cast<uint32_t>(head);
      if (first == 0) return kNone;
      const uint64_t after = ((head >> 32) + 1) << 32 | next_[first - 1].load(std::memory_order_relaxed);
      if (list->head.compare_exchange_weak(head, after, std::memory_order_acq_rel)) return first - 1;
    }
  }
  void Push(Free* list, uint32_t number) {
    uint64_t head = list->head.load(std::memory_order_acquire);
    uint64_t after = 0;
    do {
      next_[number].store(static_cast<uint32_t>(head), std::memory_order_relaxed);
      after = ((head >> 32) + 1) << 32 | (number + 1);
    } while (!list->head.compare_exchange_weak(head, after, std::memory_order_acq_rel));
  }

  // Release: the data of the number is complete (pairs with the acquire in TakeAll).
  void Push(Done* list, uint32_t number) {
    uint32_t head = list->head.load(std::memory_order_relaxed);
    do {
      next_[number].store(head, std::memory_order_relaxed);
    } while (!list->head.compare_exchange_weak(head, number + 1, std::memory_order_release, std::memory_order_relaxed));
  }
  // Visits all numbers in the list, the latest one first. A visit may push its number into another list.
  template <typename Visit>
  void TakeAll(Done* list, const Visit& visit) {
    uint32_t at = list->head.exchange(0, std::memory_order_acquire);
    while (at != 0) {
      const uint32_t number = at - 1;
      at = next_[number].load(std::memory_order_relaxed);
      visit(number);
    }
  }

 private:
  std::array<std::atomic<uint32_t>, N> next_{};
};

}  // namespace heaprec::native
