#include "throttle/byte_clock.h"

#include <cmath>

namespace heaprec::throttle {
namespace {

// Values beyond these limits are meaningless (a point per 1e30 bytes, 1e9 points per byte) and would cause NaN and
// infinite weights.
constexpr double kMinLambda = 1e-30, kMaxLambda = 1e9;

ActiveWindow Sane(ActiveWindow now) {
  now.lambda = now.lambda >= kMinLambda ? std::min(now.lambda, kMaxLambda) : 0;  // NaN becomes 0
  if (!(now.whole_lambda >= kMinLambda && now.whole_lambda < now.lambda)) now.whole_lambda = now.lambda;
  return now;
}

// Decides on an object that has a point in the window `armed`; the current window is `now`. It is unbiased to keep the
// point with the smaller of the two probabilities, and to keep it whole with the smaller of the two for whole points
// (Horvitz-Thompson), because these probabilities depend on the past only. One draw decides on both: a whole point is
// one that is kept.
DeliveryDecision Decide(ActiveWindow armed, uint64_t size, ActiveWindow now, Random& random) {
  DeliveryDecision decision;
  const double length = Length(size), pi_armed = InclusionProbability(armed.lambda, size);
  if (!(pi_armed > 0)) return decision;
  const double lambda = std::min(now.lambda, armed.lambda);
  const ActiveWindow& whole = now.whole_lambda < armed.whole_lambda ? now : armed;
  const double pi = lambda < armed.lambda ? InclusionProbability(lambda, size) : pi_armed;
  const double pi_whole = whole.whole_lambda < lambda ? InclusionProbability(whole.whole_lambda, size) : pi;
  decision.window = whole.window;
  const double drawn = pi_whole < pi_armed ? random.Uniform() * pi_armed : 0;
  if (drawn >= pi && pi < pi_armed) {
    decision.action = DeliveryDecision::Action::kThinned;
    decision.weight_bytes = length / pi_armed;
    return decision;
  }
  decision.point_weight = length / pi;
  // Summed over all points, this estimates pi_whole / whole_lambda per object.
  decision.effective_bytes = pi_whole / pi / whole.whole_lambda;
  decision.action = DeliveryDecision::Action::kLight;
  if (drawn >= pi_whole && pi_whole < pi) return decision;
  decision.action = DeliveryDecision::Action::kKept;
  decision.weight_bytes = length / pi_whole;
  return decision;
}

}  // namespace

double InclusionProbability(double lambda, uint64_t size) { return -std::expm1(-lambda * Length(size)); }

void ByteClock::Start(uint64_t allocated, uint64_t size, uint64_t seed, ActiveWindow now) {
  StartAt(allocated - std::min(size, allocated), 0, seed, now);
}

void ByteClock::StartAt(uint64_t position, double e, uint64_t seed, ActiveWindow armed) {
  random_ = Random(seed);
  last_ = position;
  e_ = e > 0 ? e : random_.Exponential();
  e_outside_ = random_.Exponential();
  pending_lambda_ = 0;
  Arm(Sane(armed));
}

HookDecision ByteClock::OnRefill(uint64_t allocated, uint64_t size, ActiveWindow now) {
  HookDecision decision;
  if (TrySkipRefill(allocated, now.window, decision.gap)) return decision;
  now = Sane(now);
  DroppedByJvm missed;
  CountMissed(Advance(allocated, size, now, missed), missed);
  Add(0, 1);
  e_ -= lambda_ * Length(size);
  if (e_ <= 0) {
    // Uses the lambda that this thread has integrated, not the current one: thinning at delivery corrects for that.
    Force(size, Armed());
    e_ = random_.Exponential();
    decision.action = HookDecision::Action::kForce;
  }
  decision.gap = Arm(now);
  decision.missed = missed.any;
  decision.missed_bytes = missed.bytes;
  return decision;
}

// Objects outside of TLABs have a separate Poisson process with the same lambda. The current lambda applies to them at
// once, which matters for large objects.
HookDecision ByteClock::OnOutside(uint64_t allocated, uint64_t size, ActiveWindow now) {
  HookDecision decision;
  if (TrySkipOutside(allocated, size, now.window, decision.gap)) return decision;
  now = Sane(now);
  DroppedByJvm missed;
  CountMissed(Advance(allocated, size, now, missed), missed);
  Add(0, 1);
  decision.gap = Arm(now);
  e_outside_ -= lambda_ * Length(size);
  if (e_outside_ <= 0) {
    Force(size, now);
    e_outside_ = random_.Exponential();
    decision.action = HookDecision::Action::kForce;
  }
  decision.missed = missed.any;
  decision.missed_bytes = missed.bytes;
  return decision;
}

DeliveryDecision ByteClock::OnDelivered(uint64_t allocated, uint64_t size, ActiveWindow now) {
  now = Sane(now);
  DroppedByJvm missed;
  DeliveryDecision decision;
  // An object of `size` bytes that ends less than `size` after the last update was already counted by that update.
  const bool counted = allocated >= last_ && allocated - last_ < size;
  if (counted && pending_lambda_ > 0) {
    decision = Decide({pending_lambda_, pending_window_, pending_whole_lambda_}, size, now, random_);
    pending_lambda_ = 0;
  }
  const uint64_t before = Advance(allocated, size, now, missed);
  CountMissed(before, missed);
  if (missed.any) {
    // The JVM delivers this object for another reason than the point; deciding on it would count the delivered object
    // twice.
    missed.bytes += static_cast<double>(counted ? 0 : size);
  } else if (!counted) {
    e_ -= lambda_ * Length(size);
    if (e_ <= 0) {
      decision = Decide(Armed(), size, now, random_);
      e_ = random_.Exponential();
    }
  }
  decision.gap = Arm(now);
  decision.missed = missed.any;
  decision.missed_bytes = missed.bytes;
  return decision;
}

HookDecision ByteClock::Finish(uint64_t allocated) {
  DroppedByJvm missed;
  DropPending(missed);
  if (started() && allocated > last_) {
    Add(allocated - last_, 0);
    CountMissed(allocated - last_, missed);
  }
  last_ = std::max(last_, allocated);
  e_ = 0;
  return {.missed = missed.any, .missed_bytes = missed.bytes};
}

// Moves to `allocated`. Returns how many of the bytes since the last update are before the object that ends there.
uint64_t ByteClock::Advance(uint64_t allocated, uint64_t size, ActiveWindow now, DroppedByJvm& missed) {
  DropPending(missed);
  if (allocated < last_) {  // another thread at the address of an old one
    last_ = allocated - std::min(size, allocated);
    e_ = random_.Exponential();
    Arm(now);
  }
  const uint64_t passed = allocated - last_;
  last_ = allocated;
  Add(passed, 0);
  return passed - std::min(passed, size);
}

// Counts bytes whose objects were not delivered. If they included the point, they also included all points of the
// remaining bytes: 1 / lambda bytes for the first and, on average, the remaining bytes for the others.
void ByteClock::CountMissed(uint64_t bytes, DroppedByJvm& missed) {
  const double length = Length(bytes), spent = lambda_ * length;
  if (e_ > spent) {
    e_ -= spent;
    return;
  }
  missed.any = true;
  missed.bytes += (1 - e_) / lambda_ + length;
  e_ = random_.Exponential();
}

// A forced object that is not delivered before the next update will never be delivered.
void ByteClock::DropPending(DroppedByJvm& missed) {
  if (pending_lambda_ == 0) return;
  missed.any = true;
  missed.bytes += pending_weight_;
  pending_lambda_ = 0;
}

void ByteClock::Force(uint64_t size, ActiveWindow with) {
  pending_lambda_ = with.lambda;
  pending_weight_ = Length(size) / InclusionProbability(with.lambda, size);
  pending_window_ = with.window;
  pending_whole_lambda_ = with.whole_lambda;
}

double ByteClock::Arm(ActiveWindow now) {
  if (now.lambda != lambda_) mean_gap_ = 1 / now.lambda;
  lambda_ = now.lambda;
  whole_lambda_ = now.whole_lambda;
  window_ = now.window;
  return Gap();
}

DeliveryDecision DecideJvmtiSample(ActiveWindow drawn, uint64_t size, ActiveWindow now, Random& random) {
  return Decide(Sane(drawn), size, Sane(now), random);
}

DeliveryDecision DecideEvent(ActiveWindow now, Random& random) {
  DeliveryDecision decision;
  if (!(random.Uniform() < now.lambda)) return decision;
  decision.action = DeliveryDecision::Action::kKept;
  decision.window = now.window;
  decision.weight_bytes = decision.point_weight = 1 / std::min(1.0, now.lambda);
  return decision;
}

}  // namespace heaprec::throttle
