// Stratified points on each thread's bytes against a Poisson process: docs/decisions.md#8-poisson-points-stay.
// usage: stratified [samples per second] [runs]
//
// Stratified: the bytes of a thread are cut into cells of 1 / lambda bytes, lambda being frozen when the cell begins;
// one point lies in each, uniform. An object in one cell holds it with s / cell; one that straddles with 1 - (1 - x1)(1
// - x2), x its shares of the two cells; one that covers a cell is certain. When lambda has fallen since, the point is
// thinned.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "throttle/controller.h"
#include "throttle/interval_reducer.h"
#include "throttle/random.h"

namespace heaprec::bench {
namespace {

using throttle::Random;

constexpr uint32_t kSites = 48;
constexpr uint64_t kTickNs = 20'000'000, kStepNs = 1'000'000;
constexpr double kSeconds = 12;

class CellClock {
 public:
  // The weight of an object that holds a point and is kept, else 0.
  double Pass(double size, double lambda, Random& random) {
    if (cell_ <= 0) Begin(lambda, random);
    double missed = 1, left = size, drawn_with = 1 / cell_;
    bool hit = false;
    while (left > 0) {
      const double here = std::min(left, end_);
      missed *= 1 - here / cell_;
      hit = hit || (point_ >= 0 && point_ < here);
      point_ -= here;
      end_ -= here;
      left -= here;
      if (end_ <= 0) Begin(lambda, random);
    }
    if (!hit) return 0;
    const double thin = lambda < drawn_with ? std::expm1(-lambda * size) / std::expm1(-drawn_with * size) : 1;
    return random.Uniform() < thin ? size / ((1 - missed) * thin) : 0;
  }

 private:
  void Begin(double lambda, Random& random) {
    cell_ = end_ = 1 / lambda;
    point_ = cell_ * random.Uniform();
  }
  double cell_ = 0, end_ = 0, point_ = 0;
};

struct Load {
  std::string name;
  std::function<double(double time)> speed;  // bytes per second, all threads together
  // Site and size of a thread's n-th object.
  std::function<std::pair<uint32_t, double>(uint64_t n, double time, Random& random)> object;
};

uint32_t Harmonic(Random& random) { return static_cast<uint32_t>(std::exp(random.Uniform() * std::log(24.0))) - 1; }

std::vector<Load> Loads() {
  const auto even = [](double) { return 50e6; };
  const auto mixed = [](uint64_t, double, Random& random) {
    const uint32_t site = Harmonic(random);
    return std::pair{site, 512.0 * static_cast<double>(1 + random.Next() % 15)};
  };
  return {
      {"steady", even, mixed},
      {"sites in turn every 50 ms", even,
       [=](uint64_t n, double t, Random& random) {
         auto object = mixed(n, t, random);
         object.first = (object.first + 5 * static_cast<uint32_t>(t * 20)) % kSites;
         return object;
       }},
      // 41 objects of 4 KiB: 1/lambda of 50 MB/s at 300 points a second on one thread, then a TLAB of 256 KiB.
      {"loop as long as a cell", even,
       [](uint64_t n, double, Random&) {
         return std::pair{static_cast<uint32_t>(n % 41), 4096.0};
       }},
      {"loop as long as a TLAB", even,
       [](uint64_t n, double, Random&) {
         return std::pair{static_cast<uint32_t>(n % 64 / 2), 4096.0};
       }},
      {"x100 steps every 3 s", [](double t) { return std::fmod(t, 6) < 3 ? 2e6 : 200e6; },
       [=](uint64_t n, double t, Random& random) {
         auto object = mixed(n, t, random);
         if (std::fmod(t, 6) >= 3 && random.Next() % 4 != 0) object.first += 24;
         return object;
       }},
  };
}

struct Outcome {
  double distance = 0, ideal = 0, total = 0, total_squares = 0;
};

// Of the sites' shares, and that of as many independent points as the rate allows.
void AddDistance(const std::vector<double>& truth, const std::vector<double>& estimate,
                 const std::vector<double>& bytes, double rate, Outcome* out) {
  double total = 0;
  for (const double b : truth) total += b;
  double sum = 0, squares = 0;
  for (const double e : estimate) sum += e;
  for (const double b : bytes) squares += b * b / rate;
  for (uint32_t s = 0; s < kSites; ++s) {
    const double p = truth[s] / total;
    out->distance += std::abs(estimate[s] / sum - p) / 2;
    out->ideal += std::sqrt(2 / M_PI * p * (1 - p) * squares) / total / 2;
  }
  out->total += sum / total;
  out->total_squares += sum / total * sum / total;
}

void RunOnce(const Load& load, uint32_t threads, bool stratified, bool by_place, double rate, uint64_t seed,
             Outcome* out) {
  const auto config = throttle::ConfigFor(rate, 1e6);
  throttle::Controller controller(config, 0);
  throttle::IntervalReducer reducer(
      {.interval_ns = config.interval_ns, .cap = static_cast<size_t>(config.cap), .recording = seed});
  throttle::Forecast forecast = controller.Tick(0, 0);
  Random random(throttle::Mix64(seed + 9)), points(throttle::Mix64(seed + 99));
  std::vector<CellClock> clocks(threads);
  std::vector<double> due(threads), truth(kSites), estimate(kSites), bytes(static_cast<size_t>(kSeconds) + 1);
  std::vector<uint64_t> count(threads);
  std::vector<throttle::BufferedPoint> held;
  std::vector<uint32_t> site_of;
  throttle::PointSums since;
  double lambda = forecast.Lambda(config, 0, {}).whole, total = 0;
  uint64_t interval = 0;
  const auto close = [&] {
    for (const auto& kept : reducer.Reduce(interval, held).kept) estimate[site_of[kept.index]] += kept.weight;
    held.clear(), site_of.clear(), ++interval;
  };
  for (uint64_t now = 0; now < static_cast<uint64_t>(kSeconds * 1e9); now += kStepNs) {
    if (now > 0 && now % kTickNs == 0) {
      if (now >= forecast.interval_end_ns) close();
      forecast = controller.Tick(now, static_cast<uint64_t>(total), since);
      since = {};
      lambda = forecast.Lambda(config, now, since).whole;
    }
    const double time = static_cast<double>(now) * 1e-9;
    for (uint32_t t = 0; t < threads; ++t) {
      for (due[t] += load.speed(time) * 1e-3 / threads; due[t] > 0;) {
        const auto [site, size] = load.object(count[t]++, time, random);
        due[t] -= size, total += size, truth[site] += size, bytes[static_cast<size_t>(time)] += size;
        double weight = 0;
        if (stratified) {
          weight = clocks[t].Pass(size, lambda, points);
        } else if (const double pi = -std::expm1(-lambda * size); points.Uniform() < pi) {
          weight = size / pi;
        }
        if (weight == 0) continue;
        held.push_back({.id = points.Next(),
                        .weight = weight,
                        .time_ns = now,
                        .call_path = by_place ? throttle::Mix64(site + 1) : 0});
        site_of.push_back(site);
        since.weight += weight, since.effective += 1 / lambda, ++since.count;
        lambda = std::min(lambda, forecast.Lambda(config, now, since).whole);
      }
    }
  }
  close();
  AddDistance(truth, estimate, bytes, rate, out);
}

}  // namespace
}  // namespace heaprec::bench

int main(int argc, char** argv) {
  using namespace heaprec::bench;
  const double rate = argc > 1 ? std::atof(argv[1]) : 150;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 40;
  std::printf(
      "| load | threads | Poisson, random | Poisson, by place | stratified, random | stratified, by place | total, "
      "stratified |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const Load& load : Loads()) {
    for (const uint32_t threads : {1u, 8u, 100u}) {
      std::printf("| %s | %u |", load.name.c_str(), threads);
      Outcome last;
      for (const bool stratified : {false, true}) {
        for (const bool by_place : {false, true}) {
          last = {};
          for (int run = 0; run < runs; ++run)
            RunOnce(load, threads, stratified, by_place, rate, static_cast<uint64_t>(run), &last);
          std::printf(" %.3f |", last.distance / last.ideal);
          std::fflush(stdout);
        }
      }
      const double mean = last.total / runs, variance = last.total_squares / runs - mean * mean;
      std::printf(" %.4f +- %.4f |\n", mean, std::sqrt(variance / runs));
    }
  }
}
