#include "recorder/sources/sample/native_callers.h"

#include <pthread.h>

#include <algorithm>

#include "base/clock.h"
#include "base/memory.h"
#include "recorder/unwind/cfi_cache.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::sources {
namespace {

// Libraries come and go; nothing says when.
constexpr uint64_t kRefreshNs = 10'000'000'000, kRefreshUnknownNs = 1'000'000'000;

template <typename Function>
uintptr_t AddressOf(Function* function) {
  return reinterpret_cast<uintptr_t>(function);
}

}  // namespace

// Only its pages with rules are resident.
NativeCallers::NativeCallers()
    : rules_(static_cast<native::CfiCache*>(MapSparse(sizeof(native::CfiCache))),
             [](native::CfiCache* rules) { UnmapSparse(rules, sizeof *rules); }) {}

std::span<format::RingFrame> NativeCallers::Take(const JNIEnv* jni, Room* room) const {
  native::ModuleUnwindInfo jvm;
  native::ModuleUnwindInfo threads;
  if (rules_ == nullptr || !native::LookUpModule(AddressOf(jni->functions->NewByteArray), &jvm) ||
      !native::LookUpModule(AddressOf(&pthread_create), &threads)) {
    return {};
  }
  std::array<uintptr_t, kMost> addresses;
  const auto stack = std::span(addresses).first(native::UnwindFromHere(rules_.get(), addresses));
  const auto is_in = [](const native::ModuleUnwindInfo& module) {
    return [&module](uintptr_t address) { return address > module.begin && address <= module.end; };
  };
  const auto from = std::find_if_not(std::find_if(stack.begin(), stack.end(), is_in(jvm)), stack.end(), is_in(jvm));
  // One of the JVM's own threads: nothing called it but what starts threads.
  if (from == stack.end() || is_in(threads)(*from)) return {};
  const auto to = std::transform(from, stack.end(), room->begin(), format::AddressFrame);
  return {room->begin(), to};
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
