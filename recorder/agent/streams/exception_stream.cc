#include "recorder/agent/streams/exception_stream.h"

#include "recorder/sources/java/entry.h"

namespace heaprec::agent {
namespace {

// Ids are unique in the recording; no stream has so many samples.
constexpr uint64_t kFirstId = uint64_t{1} << 62;
// The drain's own lane hint: it writes windows only.
constexpr uint32_t kDrainLane = 0;

}  // namespace

ExceptionStream::ExceptionStream(buffer::Ring& ring, const Jvm& jvm, const throttle::ControllerConfig& config,
                                 uint64_t start_ns, int stack_depth, uint64_t seed)
    : shared_counters_(ring.header().CountersOf(format::Stream::kExceptions)),
      board_(config, start_ns, format::kWindowStreamBit),
      // Stacks from JVMTI: where an exception is thrown the topmost frame is not always one that can be walked from.
      capture_(ring, shared_counters_, board_, jvm.names, /*walker=*/nullptr, jvm.thread_fields, stack_depth, kFirstId),
      source_(board_, shared_counters_, capture_, seed) {
  capture_.CommitWindow(board_.first(), kDrainLane);
}

void ExceptionStream::Activate() {
  // Release: a thread that sees the source sees all of it (pairs with the acquire in sources/entry.cc).
  sources::active_exceptions.store(&source_, std::memory_order_release);
}

void ExceptionStream::OnTick(uint64_t now_ns) {
  const uint64_t thrown = source_.thrown();
  shared_counters_.SetPopulation(thrown, 0);
  const auto window = board_.Tick(now_ns, thrown);
  if (window) capture_.CommitWindow(*window, kDrainLane);
}

void ExceptionStream::Stop() {
  sources::ExceptionSource* expected = &source_;
  sources::active_exceptions.compare_exchange_strong(expected, nullptr);
  shared_counters_.SetPopulation(source_.thrown(), 0);
}

}  // namespace heaprec::agent
