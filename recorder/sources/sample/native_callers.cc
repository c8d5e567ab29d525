#include "recorder/sources/sample/native_callers.h"

#include <algorithm>

#include "recorder/buffer/sparse_memory.h"
#include "recorder/sources/clock.h"
#include "recorder/unwind/own_stack.h"

namespace heaprec::sources {
namespace {

// Libraries come and go; nothing says when.
constexpr uint64_t kRefreshNs = 10'000'000'000, kRefreshUnknownNs = 1'000'000'000;

}  // namespace

// Only its pages with rules are resident.
NativeCallers::NativeCallers()
    : rules_(static_cast<native::CfiCache*>(buffer::MapSparse(sizeof(native::CfiCache))),
             [](native::CfiCache* rules) { buffer::UnmapSparse(rules, sizeof *rules); }) {}

std::span<format::RingFrame> NativeCallers::Take(Room* room) const {
  if (rules_ == nullptr) return {};
  std::array<uintptr_t, kMost> addresses;
  const size_t count = native::UnwindFromHere(rules_.get(), addresses);
  std::transform(addresses.begin(), addresses.begin() + count, room->begin(), format::AddressFrame);
  return std::span(*room).first(count);
}

const format::CodeLocation& NativeCallers::NameOf(uint64_t return_address) {
  const uint64_t now_ns = MonotonicNs();
  const bool is_unknown = refreshed_ns_ == 0 || places_.At(return_address).module.empty();
  if (now_ns - refreshed_ns_ > (is_unknown ? kRefreshUnknownNs : kRefreshNs)) {
    places_.Refresh();
    rules_->Forget();
    refreshed_ns_ = now_ns;
  }
  return places_.At(return_address);
}

}  // namespace heaprec::sources
