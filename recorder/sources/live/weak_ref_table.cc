#include "recorder/sources/live/weak_ref_table.h"

#include <algorithm>

#include "format/ring/ring_records.h"

namespace heaprec::sources {
namespace {

constexpr int kStateBits = 3;
// Entries that an allocating thread tries. TrackedSet keeps one eighth of the entries free, so the probability that 256
// in a row are used is 1e-15.
constexpr uint32_t kMaxLooks = 256;
// Distance between the start entries of consecutive searches. A prime, so that each entry is the first in turn.
constexpr uint32_t kStride = 65'537;

uint64_t Word(WeakRefTable::State state, uint64_t sample = 0) {
  return sample << kStateBits | static_cast<uint64_t>(state);
}

}  // namespace

WeakRefTable::WeakRefTable(uint32_t count)
    : count_(std::clamp<uint32_t>(count, 1, format::kMaxTracked)), entries_(std::make_unique<Entry[]>(count_)) {}

uint16_t WeakRefTable::Take() {
  const uint32_t looks = std::min(count_, kMaxLooks);
  const uint32_t begin =
      static_cast<uint32_t>(uint64_t{next_.fetch_add(1, std::memory_order_relaxed)} * kStride % count_);
  for (uint32_t i = 0; i < looks; ++i) {
    const uint32_t index = (begin + i) % count_;
    uint64_t expected = entries_[index].word.load(std::memory_order_relaxed);
    if (expected != Word(State::kFree)) continue;
    // Acquire: the poller has finished with the index (pairs with the release in Free).
    if (entries_[index].word.compare_exchange_strong(expected, Word(State::kTaken), std::memory_order_acquire)) {
      return static_cast<uint16_t>(index + 1);
    }
  }
  return 0;
}

void WeakRefTable::Track(uint16_t index, jweak reference, uint64_t sample, uint64_t collections) {
  At(index).reference = reference;
  At(index).collections.store(collections, std::memory_order_relaxed);
  // Release: the reference and all other fields are complete (pairs with the acquire in Look).
  At(index).word.store(Word(State::kTracked, sample), std::memory_order_release);
}

void WeakRefTable::Cancel(uint16_t index, jweak reference) {
  At(index).reference = reference;
  At(index).word.store(Word(reference == nullptr ? State::kFree : State::kDropped), std::memory_order_release);
}

bool WeakRefTable::Drop(uint16_t index, uint64_t sample) {
  if (index == 0 || index > count_) return false;
  uint64_t expected = Word(State::kTracked, sample);
  return At(index).word.compare_exchange_strong(expected, Word(State::kDropped), std::memory_order_acq_rel);
}

uint64_t WeakRefTable::CollectionsAtBirth(uint16_t index, uint64_t sample, uint64_t otherwise) const {
  if (index == 0 || index > count_) return otherwise;
  const uint64_t collections = At(index).collections.load(std::memory_order_acquire);
  // A sample is tracked only once: if it is in the entry now, it was there when the count was read.
  return At(index).word.load(std::memory_order_relaxed) == Word(State::kTracked, sample) ? collections : otherwise;
}

WeakRefTable::View WeakRefTable::Look(uint16_t index) const {
  const Entry& at = At(index);
  const uint64_t word = at.word.load(std::memory_order_acquire);
  const auto state = static_cast<State>(word & ((1 << kStateBits) - 1));
  const bool is_ours = state == State::kTracked || state == State::kDropped || state == State::kDead;
  if (!is_ours) return {state, word >> kStateBits, nullptr, 0};
  return {state, word >> kStateBits, at.reference, at.collections.load(std::memory_order_relaxed)};
}

bool WeakRefTable::MarkDead(uint16_t index, uint64_t sample) {
  uint64_t expected = Word(State::kTracked, sample);
  return At(index).word.compare_exchange_strong(expected, Word(State::kDead, sample), std::memory_order_acq_rel);
}

void WeakRefTable::Free(uint16_t index) {
  At(index).reference = nullptr;
  At(index).word.store(Word(State::kFree), std::memory_order_release);
}

}  // namespace heaprec::sources
