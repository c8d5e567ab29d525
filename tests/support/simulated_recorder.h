// The whole chain on simulated arrivals: windows, byte clocks, controller, one interval buffered and reduced.
//
// Units:    time in ns from 0; bytes.   Threads: one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "tests/support/simulated_jvm.h"
#include "throttle/interval_reducer.h"
#include "throttle/throttle.h"

namespace heaprec::testing {

// What the recording says about one thing (a site, or all).
struct Estimate {
  double truth = 0, bytes = 0;
  double variance = 0;  // of bytes, estimated from the sample: sum w (w - size)
  double Z() const { return variance > 0 ? (bytes - truth) / std::sqrt(variance) : 0; }
  void Keep(double weight, double size) {
    bytes += weight;
    variance += weight * (weight - size);
  }
  // Of an independent run.
  void operator+=(const Estimate& other) {
    truth += other.truth;
    bytes += other.bytes;
    variance += other.variance;
  }
};

// A sample as a recording holds it.
struct KeptSample {
  uint64_t interval;
  uint32_t site, window;
  double size, lambda, weight;  // lambda of the window, for whole points
  uint64_t time_ns;
  uint32_t thread;  // in the order of AddThread, from 0
};

// Of which class and method a site is, where the second stage is told.
inline uint32_t ClassOfSite(uint32_t site) { return site / 4; }
inline uint32_t MethodOfSite(uint32_t site) { return site / 2; }

// Whether the second stage is told which points are of one site and thread.
enum class WeakRefTable : bool { kUnknown, kKnown };

class SimulatedRecorder final : public Recorder {
 public:
  SimulatedRecorder(const throttle::ControllerConfig& config, size_t sites, uint64_t seed,
                    uint64_t tick_ns = 250'000'000, WeakRefTable places = WeakRefTable::kKnown)
      : controller_(config, 0),
        reducer_({.interval_ns = config.interval_ns,
                  .cap = static_cast<size_t>(config.cap),
                  .recording = throttle::Mix64(seed)}),
        places_(places),
        seed_(seed),
        tick_ns_(tick_ns),
        sites_(sites),
        site_points_(sites) {
    forecast_ = controller_.Tick(0, 0);
    next_tick_ = std::min(tick_ns_, config.interval_ns);
    OpenWindow();
  }

  SimulatedThread& AddThread(const TlabShape& shape) {
    const auto number = static_cast<uint32_t>(threads_.size());
    return threads_.emplace_back(throttle::Mix64(seed_ ^ (number + 1) * 0x51ull), shape, this, number);
  }
  void Allocate(SimulatedThread& thread, uint32_t site, uint64_t size) {
    for (Estimate* const one : {&sites_[site], &total_, &site_points_[site], &points_})
      one->truth += static_cast<double>(size);
    at_work_ = thread.number();
    if (watch) watch({at_work_, site, size, now_});
    thread.Allocate(site, size);
  }
  // The clock goes on; the drain does what it has to do until then.
  void AdvanceTo(uint64_t now_ns) {
    while (next_tick_ <= now_ns) {
      now_ = next_tick_;
      Tick();
    }
    now_ = now_ns;
  }
  // The recording ends: the last interval, and every thread's bytes up to here.
  void Finish() {
    for (SimulatedThread& t : threads_) t.Stop();
    CloseInterval();
  }

  throttle::ActiveWindow Now() override { return {window_lambda_.all, window_, window_lambda_.whole}; }
  void OnPoint(uint32_t site, uint64_t size, const throttle::DeliveryDecision& decision) override {
    if (decision.action == throttle::DeliveryDecision::Action::kThinned) {
      ++thinned_;
      return;
    }
    if (on_point) on_point(buffered_per_interval_.size(), site, size, decision.point_weight);
    point_times_.push_back(now_);
    points_.Keep(decision.point_weight, static_cast<double>(size));
    site_points_[site].Keep(decision.point_weight, static_cast<double>(size));
    tally_.weight += decision.point_weight;
    tally_.effective += decision.effective_bytes;
    if (decision.action == throttle::DeliveryDecision::Action::kKept) {
      buffered_.push_back({site, decision.window, static_cast<double>(size), decision.weight_bytes,
                           lambdas_[decision.window - 1], now_, at_work_});
      total_.Keep(decision.weight_bytes, static_cast<double>(size));
      ++tally_.count;
      tally_.with_new_stack += site < new_below_ ? 1 : 0;
    }
    const throttle::Lambdas wanted = forecast_.Lambda(controller_.config(), now_, tally_);
    if (wanted.all < throttle::kFallThreshold * window_lambda_.all ||
        wanted.whole < throttle::kFallThreshold * window_lambda_.whole) {
      OpenWindow();
    }
  }
  void OnMissed(double bytes) override { missed_bytes_ += bytes; }

  // Points of these sites have stacks that were never seen.
  void StacksAreNewBelow(uint32_t site) { new_below_ = site; }

  // Sees every allocation, if set.
  struct Allocation {
    uint32_t thread, site;
    uint64_t size, time_ns;
  };
  std::function<void(const Allocation&)> watch;
  // Sees every point that the first stage keeps, if set.
  std::function<void(uint64_t interval, uint32_t site, uint64_t size, double weight)> on_point;

  SimulatedThread& thread(size_t index) { return threads_[index]; }
  const Estimate& total() const { return total_; }               // after the first stage: the second keeps the sum
  const std::vector<Estimate>& sites() const { return sites_; }  // after both
  // From all points, whole and light.
  const Estimate& points() const { return points_; }
  const std::vector<Estimate>& site_points() const { return site_points_; }
  const std::vector<uint64_t>& point_times() const { return point_times_; }
  const std::vector<KeptSample>& samples() const { return samples_; }
  // Bytes that the byte clocks have counted: what a thread has allocated since its last touch is missing.
  const std::vector<uint64_t>& counted() const { return counted_per_interval_; }
  const std::vector<size_t>& buffered() const { return buffered_per_interval_; }
  const std::vector<size_t>& kept() const { return kept_per_interval_; }
  const std::vector<double>& bytes() const { return bytes_per_interval_; }
  uint64_t thinned() const { return thinned_; }
  uint32_t windows() const { return window_; }
  double missed_bytes() const { return missed_bytes_; }

 private:
  struct Point {
    uint32_t site, window;
    double size, weight, lambda;
    uint64_t time_ns;
    uint32_t thread;
    throttle::BufferedPoint ToBufferedPoint(uint64_t id, WeakRefTable places) const {
      if (places == WeakRefTable::kUnknown) return {.id = id, .weight = weight, .time_ns = time_ns};
      return {id,       weight,    time_ns, ClassOfSite(site) + 1, throttle::Mix64(MethodOfSite(site)) << 48,
              site + 1, thread + 1};
    }
  };
  void Tick() {
    uint64_t bytes = 0;
    for (const SimulatedThread& t : threads_) bytes += t.clock().bytes();
    const bool interval_over = now_ >= forecast_.interval_end_ns;
    if (interval_over) CloseInterval();
    forecast_ = controller_.Tick(now_, bytes, tally_);
    tally_ = {};
    OpenWindow();
    next_tick_ = std::min(now_ + tick_ns_, forecast_.interval_end_ns);
  }
  void OpenWindow() {
    ++window_;
    window_lambda_ = forecast_.Lambda(controller_.config(), now_, tally_);
    lambdas_.push_back(window_lambda_.whole);
  }
  void CloseInterval() {
    std::vector<throttle::BufferedPoint> points;
    for (const Point& p : buffered_) points.push_back(p.ToBufferedPoint(next_id_++, places_));
    const uint64_t interval = buffered_per_interval_.size();
    const throttle::IntervalReduction r = reducer_.Reduce(interval, points);
    for (const throttle::KeptPoint& kept : r.kept) {
      const Point& p = buffered_[kept.index];
      sites_[p.site].Keep(kept.weight, p.size);
      samples_.push_back({interval, p.site, p.window, p.size, p.lambda, kept.weight, p.time_ns, p.thread});
    }
    buffered_per_interval_.push_back(buffered_.size());
    kept_per_interval_.push_back(r.kept.size());
    bytes_per_interval_.push_back(total_.truth - counted_);
    counted_ = total_.truth;
    uint64_t bytes = 0;
    for (const SimulatedThread& t : threads_) bytes += t.clock().bytes();
    counted_per_interval_.push_back(bytes - clocked_);
    clocked_ = bytes;
    buffered_.clear();
  }

  throttle::Throttle controller_;
  throttle::IntervalReducer reducer_;
  throttle::Forecast forecast_;
  const WeakRefTable places_;
  uint64_t seed_, tick_ns_, next_tick_ = 0, now_ = 0, next_id_ = 0, thinned_ = 0;
  throttle::PointSums tally_;
  uint32_t new_below_ = 0;
  uint32_t at_work_ = 0;
  throttle::Lambdas window_lambda_;
  double missed_bytes_ = 0;
  uint32_t window_ = 0;
  std::deque<SimulatedThread> threads_;
  std::vector<Point> buffered_;
  std::vector<Estimate> sites_, site_points_;
  Estimate total_, points_;
  std::vector<uint64_t> point_times_;
  std::vector<size_t> buffered_per_interval_, kept_per_interval_;
  std::vector<double> bytes_per_interval_;
  std::vector<uint64_t> counted_per_interval_;
  std::vector<KeptSample> samples_;
  std::vector<double> lambdas_;  // of each window, for whole points
  double counted_ = 0;
  uint64_t clocked_ = 0;
};

}  // namespace heaprec::testing
