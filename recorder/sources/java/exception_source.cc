#include "recorder/sources/java/exception_source.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "recorder/sources/java/entry.h"
#include "throttle/byte_clock.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// The drain's own lane hint: it writes windows only.
constexpr uint32_t kDrainLane = 0;

// The latest event of the platform thread. On a carrier it may be the event of a virtual thread that ran there before;
// `exception` tells them apart.
struct LastThrow {
  const void* exception;  // address at that time: if the object was moved since, it counts twice
  jmethodID method;       // where it was thrown; if is_caught, its handler
  jlocation location;
  bool is_caught;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local LastThrow last_throw{};

bool IsThrownAgain(const LastThrow& last, const LastThrow& now) {
  if (now.exception != last.exception) return false;
  const bool is_same_method = now.method == last.method;
  // Not caught: native code has passed it on to its caller, or has cleared it and it is thrown again.
  return last.is_caught ? is_same_method && now.location >= last.location
                        : !is_same_method || now.location != last.location;
}

}  // namespace

void ExceptionSource::OnCaught(jmethodID method, jlocation location) {
  last_throw.method = method;
  last_throw.location = location;
  last_throw.is_caught = true;
}

void ExceptionSource::OnException(const ExceptionEvent& thrown) {
  // A local reference is the address of a slot with the oop, which is compared but not dereferenced.
  const LastThrow throwing{*reinterpret_cast<void* const*>(thrown.exception), thrown.method, thrown.location, false};
  if (IsThrownAgain(std::exchange(last_throw, throwing), throwing)) return;
  // Read before the event changes any counter: docs/sampler.md#windows.
  const throttle::ActiveWindow now = windows_.Read();
  // Each thread has its own JNIEnv.
  const uint64_t stripe = throttle::Mix64(reinterpret_cast<uintptr_t>(thrown.jni)) % kStripes;
  const uint64_t before = stripes_[stripe].thrown.fetch_add(1, std::memory_order_relaxed);
  throttle::Random random(throttle::Mix64(seed_ ^ before ^ (stripe << 56)));
  const throttle::DeliveryDecision decision = throttle::DecideEvent(now, random);
  if (decision.action == throttle::DeliveryDecision::Action::kKept)
    Keep(thrown, decision.weight_bytes, decision.window);
}

void ExceptionSource::Keep(const ExceptionEvent& thrown, double weight, uint32_t window) {
  shared_counters_.Point();
  Point point;
  point.kind = format::Kind::kException;
  point.weight = weight;
  point.tally = {.weight = weight, .effective = weight, .count = 1};
  point.window = window;
  const auto os_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  const jclass thrown_class = thrown.jni->GetObjectClass(thrown.exception);
  writer_.Commit({thrown.jvmti, thrown.jni, thrown.java_thread, thrown.thread, thrown_class, nullptr, os_tid, os_tid},
                 point);
  thrown.jni->DeleteLocalRef(thrown_class);
}

uint64_t ExceptionSource::thrown() const {
  uint64_t sum = 0;
  for (const Stripe& stripe : stripes_) sum += stripe.thrown.load(std::memory_order_relaxed);
  return sum;
}

ExceptionStream::ExceptionStream(buffer::Ring& ring, const hotspot::Names& names, const ThreadFields& fields,
                                 const throttle::ControllerConfig& config, uint64_t start_ns, int stack_depth,
                                 uint64_t seed)
    : shared_counters_(ring.header().CountersOf(format::Stream::kExceptions)),
      windows_(config, start_ns, format::kWindowStreamBit),
      // Uses JVMTI's stacks: where an exception is thrown, the walker cannot always start at the topmost frame.
      writer_(ring, shared_counters_, windows_, names, /*walker=*/nullptr, fields, stack_depth,
              format::FirstIdOf(format::Stream::kExceptions)),
      source_(windows_, shared_counters_, writer_, seed) {
  writer_.CommitWindow(windows_.first(), kDrainLane);
}

Status ExceptionStream::Activate() {
  // Release: a thread that sees the source sees all of it (pairs with the acquire in entry.cc).
  active_exceptions.store(&source_, std::memory_order_release);
  return {};
}

void ExceptionStream::OnTick(uint64_t now_ns) {
  const uint64_t thrown = source_.thrown();
  shared_counters_.SetPopulation(thrown, 0);
  const auto window = windows_.Tick(now_ns, thrown);
  if (window) writer_.CommitWindow(*window, kDrainLane);
}

void ExceptionStream::Stop() {
  ExceptionSource* expected = &source_;
  active_exceptions.compare_exchange_strong(expected, nullptr);
  shared_counters_.SetPopulation(source_.thrown(), 0);
}

}  // namespace heaprec::sources
