#include "recorder/sources/java/jvmti_source.h"

#include <cmath>
#include <utility>

namespace heaprec::sources {

using throttle::ActiveWindow;
using throttle::DeliveryDecision;

namespace {

// Returns the bytes that an object represents if the JVM sampled it with `lambda` per byte.
uint64_t EstimatedBytes(uint64_t size, double lambda) {
  const auto bytes = static_cast<double>(size);
  return static_cast<uint64_t>(std::llround(lambda > 0 ? bytes / -std::expm1(-lambda * bytes) : bytes));
}

}  // namespace

void JvmtiSource::OnThreadStart(void* java_thread) {
  ThreadEntry* entry = Entry(java_thread, parts_.layout.AllocatedBytes(java_thread), 0, kCountOnly);
  if (entry == nullptr) return;
  entry->drawn = InForce();
}

void JvmtiSource::OnDelivered(const Delivered& object) {
  const ActiveWindow now = parts_.windows.Read();
  const ThreadEntry* known = parts_.threads.Find(object.java_thread);
  const bool first = known == nullptr || known->recording != parts_.recording;
  if (parts_.layout.is_estimated()) {
    const double lambda = first ? InForce().lambda : known->drawn.lambda;
    parts_.layout.AddEstimated(object.java_thread, EstimatedBytes(object.size, lambda));
  }
  const uint64_t allocated = parts_.layout.AllocatedBytesInCallback(object.java_thread);
  ThreadEntry* entry = Entry(object.java_thread, allocated, object.size, kCountOnly);
  if (entry == nullptr) return;
  entry->counted_to.store(allocated, std::memory_order_relaxed);
  entry->clock.OnRefill(allocated, object.size, kCountOnly);
  // The JVM drew this thread's next threshold just before the callback.
  const ActiveWindow was = std::exchange(entry->drawn, InForce());
  // The first threshold of an older thread was drawn with an unknown mean, so the thread's population begins here.
  if (first) return;
  throttle::Random random(throttle::Mix64(parts_.seed ^ entry->clock.candidates() ^ (uint64_t{entry->index} << 32)));
  const DeliveryDecision decision = throttle::DecideJvmtiSample(was, object.size, now, random);
  Settle(object, decision, GuessKind(object), *entry);
}

void JvmtiSource::SetInForce(uint32_t interval, uint32_t window) {
  in_force_.store((uint64_t{interval} << 32) | window, std::memory_order_relaxed);
}

ActiveWindow JvmtiSource::InForce() const {
  const uint64_t word = in_force_.load(std::memory_order_relaxed);
  const auto window = static_cast<uint32_t>(word);
  return {1.0 / static_cast<double>(word >> 32), window, parts_.windows.Find(window).whole_lambda};
}

}  // namespace heaprec::sources
