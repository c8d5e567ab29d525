#include "bench/throttle/policies.h"

#include <algorithm>
#include <cmath>

#include "bench/throttle/library_policy.h"
#include "throttle/random.h"

namespace heaprec::bench {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000, kWindowNs = 200'000'000;

// A sample stands for all bytes since the one before: how events without a probability of their own are weighted.
class SincePrevious {
 public:
  void Pass(double bytes) { bytes_ += bytes; }
  Kept Take(const Arrival& arrival) {
    const Kept kept{arrival, bytes_};
    bytes_ = 0;
    return kept;
  }

 private:
  double bytes_ = 0;
};

class Jfr final : public Policy {
 public:
  Jfr(double rate, uint64_t seed) : points_(std::floor(rate / 5)), budget_(points_), random_(seed) {}
  void Offer(const Arrival& arrival, std::vector<Kept>* kept) override {
    since_.Pass(arrival.bytes);
    if (arrival.time_ns >= end_ns_) return Rotate(arrival.time_ns);  // the event that meets an expired window is lost
    ++population_;
    if (population_ > budget_ * interval_ || std::fmod(population_, interval_) != 0) return;
    ++taken_;
    kept->push_back(since_.Take(arrival));
  }
  uint64_t window_ns() const override { return kWindowNs; }
  uint64_t WindowBegin(uint64_t) const override { return end_ns_ - kWindowNs; }

 private:
  void Rotate(uint64_t now_ns) {
    // Debt: what was left over of the points may be had within the next windows, of which every fifth begins anew.
    debt_ = ++windows_ % 5 == 0 ? 0 : debt_ + points_ - taken_;
    budget_ = points_ + std::max(0.0, debt_);
    average_ += (population_ - average_) / 25;
    const double p = average_ > 0 ? budget_ / average_ : 1;
    interval_ = population_ <= budget_ || p >= 1
                    ? 1
                    : std::max(1.0, std::ceil(std::log1p(-random_.Uniform()) / std::log1p(-p)));
    end_ns_ = now_ns + kWindowNs;
    population_ = taken_ = 0;
  }

  const double points_;
  double budget_, interval_ = 1, average_ = 0, population_ = 0, taken_ = 0, debt_ = 0;
  uint64_t end_ns_ = kWindowNs, windows_ = 0;
  throttle::Random random_;
  SincePrevious since_;
};

class Bucket final : public Policy {
 public:
  explicit Bucket(double rate) : rate_(rate) {}
  void Offer(const Arrival& arrival, std::vector<Kept>* kept) override {
    since_.Pass(arrival.bytes);
    const uint64_t second = arrival.time_ns / kSecondNs;
    if (second != second_) second_ = second, left_ = rate_;
    if (left_ < 1) return;
    --left_;
    kept->push_back(since_.Take(arrival));
  }
  uint64_t window_ns() const override { return kSecondNs; }

 private:
  const double rate_;
  double left_ = rate_;
  uint64_t second_ = 0;
  SincePrevious since_;
};

class Pid final : public Policy {
 public:
  Pid(double rate, uint64_t seed) : rate_(rate), random_(seed) { Draw(); }
  void Offer(const Arrival& arrival, std::vector<Kept>* kept) override {
    while (arrival.time_ns >= next_ns_) Adjust();
    const double drawn_with = drawn_with_;
    gap_ -= arrival.bytes;
    if (gap_ > 0) return;
    ++taken_;
    kept->push_back({arrival, arrival.bytes / -std::expm1(-arrival.bytes / drawn_with)});
    Draw();
  }
  uint64_t window_ns() const override { return kSecondNs; }

 private:
  void Draw() {
    drawn_with_ = interval_;
    gap_ = interval_ * random_.Exponential();
  }
  void Adjust() {
    const double error = std::clamp(std::log(std::max(taken_, 0.5) / rate_), -3.0, 3.0);
    integral_ = std::clamp(integral_ + error, -5.0, 5.0);
    interval_ = std::clamp(interval_ * std::exp(0.5 * error + 0.1 * integral_ + 0.1 * (error - last_)), 16.0, 1e12);
    last_ = error;
    taken_ = 0;
    next_ns_ += kSecondNs;
  }

  const double rate_;
  double interval_ = 512 << 10, drawn_with_ = 0, gap_ = 0, taken_ = 0, integral_ = 0, last_ = 0;
  uint64_t next_ns_ = kSecondNs;
  throttle::Random random_;
};

}  // namespace

std::unique_ptr<Policy> MakePolicy(const std::string& name, double rate, uint64_t seed) {
  if (name == "falling") return MakeLibraryPolicy(throttle::Rule::kAdaptive, rate, seed);
  if (name == "window") return MakeLibraryPolicy(throttle::Rule::kWindow, rate, seed);
  if (name == "jfr") return std::make_unique<Jfr>(rate, seed);
  if (name == "bucket") return std::make_unique<Bucket>(rate);
  return std::make_unique<Pid>(rate, seed);
}

}  // namespace heaprec::bench
