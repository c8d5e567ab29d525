#include "bench/throttle/arrivals.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "throttle/random.h"

namespace heaprec::bench {
namespace {

using Speed = std::function<double(double time)>;  // bytes per second

// Events of `bytes` on average, `spread` 0: all alike. Busy times have sites of their own beside common ones.
std::function<Arrival()> Simulate(Speed speed, double quiet, double bytes, double spread, uint64_t seed) {
  auto random = std::make_shared<throttle::Random>(throttle::Mix64(seed + 3));
  auto time = std::make_shared<double>(0);
  return [=]() -> Arrival {
    const double size =
        spread > 0 ? std::min(bytes * std::pow(1 - random->Uniform(), -1 / spread), 1000 * bytes) : bytes;
    // Time until so many bytes have come; nothing comes at all for stretches of a millisecond.
    double left = size * (0.5 + random->Uniform());
    while (speed(*time) * 1e-3 < left) left -= speed(*time) * 1e-3, *time += 1e-3;
    *time += left / speed(*time);
    const uint64_t draw = random->Next();
    const uint32_t harmonic = static_cast<uint32_t>(std::exp(random->Uniform() * std::log(24.0))) - 1;
    const bool busy = speed(*time) > 2 * quiet;
    return {.time_ns = static_cast<uint64_t>(*time * 1e9),
            .site = harmonic + (busy && draw % 4 != 0 ? 30 : 0),
            .bytes = size};
  };
}

std::function<Arrival()> Replay(const std::string& path) {
  auto events = std::make_shared<std::vector<Arrival>>();
  std::ifstream file(path);
  uint64_t now = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    uint64_t since = 0;
    Arrival event;
    if (line[0] == '#' || !(fields >> since >> event.site >> event.bytes)) continue;
    event.time_ns = now += since * 1000;
    event.bytes *= 64;
    event.site = std::min(event.site, kSites - 1);
    events->push_back(event);
  }
  auto next = std::make_shared<size_t>(0);
  const uint64_t length = now + 1000;
  return [=] {
    Arrival event = (*events)[*next % events->size()];
    event.time_ns += *next / events->size() * length;
    ++*next;
    return event;
  };
}

Speed Bursts(double period, double length, double quiet, double busy) {
  return [=](double t) { return std::fmod(t, period) >= period - length ? busy : quiet; };
}

}  // namespace

std::vector<Stream> SteadyStreams(uint64_t seed, const std::string& trace) {
  const auto load = [seed](const char* name, Speed speed, double quiet, double bytes, double spread = 0,
                           double part = 1) {
    return Stream{name, part, 0, Simulate(speed, quiet, bytes, spread, seed)};
  };
  std::vector<Stream> streams = {
      load(
          "steady", [](double) { return 50e6; }, 50e6, 25e3),
      load("bursts, 0.1 s every second", Bursts(1, 0.1, 20e6, 600e6), 20e6, 25e3),
      load("bursts, 50 ms every 250 ms", Bursts(0.25, 0.05, 20e6, 600e6), 20e6, 25e3),
      load("bursts, 90 ms every 730 ms", Bursts(0.73, 0.09, 20e6, 600e6), 20e6, 25e3),
      load("x100 steps every 3 s", Bursts(6, 3, 2e6, 200e6), 2e6, 8e3, 0, 0.1),
      load(
          "heavy tail", [](double) { return 50e6; }, 50e6, 5e3, 1.1),
  };
  if (!trace.empty()) streams.push_back({"javac (recorded)", 1, 0, Replay(trace)});
  return streams;
}

std::vector<Stream> StepStreams(uint64_t seed) {
  const auto step = [seed](const char* name, double at, double before, double after, double bytes) {
    const Speed speed = [=](double t) { return t < at ? before : after; };
    return Stream{name, at + 40, at, Simulate(speed, 1e12, bytes, 0, seed)};
  };
  return {step("idle 10 min, then 5 GB/s", 600.37, 0, 5e9, 50e3), step("5 GB/s, then 10 MB/s", 30.37, 5e9, 10e6, 20e3),
          step("1 thread, then 500", 30.37, 2e6, 1e9, 8e3)};
}

}  // namespace heaprec::bench
