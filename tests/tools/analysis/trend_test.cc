// The time until memory is full, of simulated programs. HEAPREC_STEADY_HOURS=N: hours of steady programs.
#include "tools/analysis/totals/trend.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <optional>
#include <random>
#include <string>

namespace heaprec::tools {
namespace {

constexpr double kMinute = 60, kHour = 3600, kLook = 15;
// Amounts are shares of the limit.
constexpr double kLimit = 1;

class Chance {
 public:
  explicit Chance(uint64_t seed) : bits_(seed) {}
  double Between(double low, double high) { return low + (high - low) * Uniform(); }
  double LogBetween(double low, double high) { return low * std::pow(high / low, Uniform()); }
  double Normal() { return std::sqrt(-2 * std::log(1 - Uniform())) * std::cos(2 * std::numbers::pi * Uniform()); }
  bool Happens(double probability) { return Uniform() < probability; }

 private:
  double Uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  std::mt19937_64 bits_;
};

// Noise with a memory: its correlation falls by 1/e in `memory_s`.
class Noise {
 public:
  Noise(double sigma, double memory_s) : sigma_(sigma), memory_s_(memory_s) {}
  double After(double step_s, Chance* chance) {
    const double keeps = std::exp(-step_s / memory_s_);
    return value_ = keeps * value_ + sigma_ * std::sqrt(1 - keeps * keeps) * chance->Normal();
  }

 private:
  double sigma_, memory_s_, value_ = 0;
};

// The use of a program at this time. Called once for each step of `step_s`, in order.
using Program = std::function<double(double time_s)>;

double Tooth(double time_s, double period_s) { return std::fmod(time_s, period_s) / period_s; }

struct Steady {
  const char* name;
  std::function<Program(Chance*, double step_s)> make;
};

// Programs that do not leak. What rises for more than ten minutes takes less than half of what was free: nobody can
// tell it from a leak before.
const std::array<Steady, 20>& SteadyPrograms() {
  static const std::array<Steady, 20> programs{{
      {"constant", [](Chance* chance, double) { return [base = chance->Between(0.05, 0.9)](double) { return base; }; }},
      {"white noise",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.1, 0.75), sigma = chance->LogBetween(0.001, 0.05)](double) {
           return base + sigma * chance->Normal();
         };
       }},
      {"slow noise",
       [](Chance* chance, double step_s) {
         return [=, base = chance->Between(0.2, 0.7),
                 noise = Noise(chance->LogBetween(0.005, 0.04), chance->LogBetween(5, kHour))](double) mutable {
           return base + noise.After(step_s, chance);
         };
       }},
      {"nearly full, with noise",
       [](Chance* chance, double step_s) {
         return [=, base = chance->Between(0.85, 0.92),
                 noise = Noise(chance->LogBetween(0.002, 0.015), chance->LogBetween(5, kHour))](double) mutable {
           return base + noise.After(step_s, chance);
         };
       }},
      {"sawtooth of collections",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.1, 0.5), rise = chance->Between(0.1, 0.45),
                 period = chance->LogBetween(2, 300)](double time_s) { return base + rise * Tooth(time_s, period); };
       }},
      {"sawtooth of the program, with noise",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.2, 0.5), rise = chance->Between(0.1, 0.4),
                 period = chance->LogBetween(kMinute, 10 * kMinute)](double time_s) {
           return base + rise * Tooth(time_s, period) + 0.01 * chance->Normal();
         };
       }},
      {"slow sawtooth of the program",
       [](Chance* chance, double) {
         const double base = chance->Between(0.2, 0.6);
         return [=, rise = chance->Between(0.2, 0.45) * (1 - base),
                 period = chance->LogBetween(10 * kMinute, 3 * kHour)](double time_s) {
           return base + rise * Tooth(time_s, period) + 0.005 * chance->Normal();
         };
       }},
      {"warm-up",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.02, 0.2), rise = chance->Between(0.2, 0.65),
                 time = chance->LogBetween(5, 20 * kMinute)](double time_s) {
           return base + rise * (1 - std::exp(-time_s / time)) + 0.003 * chance->Normal();
         };
       }},
      {"warm-up with collections",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.05, 0.2), rise = chance->Between(0.2, 0.4),
                 time = chance->LogBetween(5, 20 * kMinute), period = chance->LogBetween(2, 120)](double time_s) {
           return base + rise * (1 - std::exp(-time_s / time)) + 0.2 * Tooth(time_s, period);
         };
       }},
      {"cache that fills at once and stops",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.05, 0.3), rise = chance->Between(0.2, 0.55),
                 time = chance->LogBetween(10, 8 * kMinute)](double time_s) {
           return base + rise * std::min(time_s / time, 1.0) + 0.003 * chance->Normal();
         };
       }},
      {"cache that fills slowly and stops",
       [](Chance* chance, double) {
         const double base = chance->Between(0.05, 0.5);
         return [=, rise = chance->Between(0.1, 0.45) * (1 - base), time = chance->LogBetween(8 * kMinute, 3 * kHour)](
                    double time_s) { return base + rise * std::min(time_s / time, 1.0) + 0.003 * chance->Normal(); };
       }},
      {"cache of keys of which some are rare",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.05, 0.3), rise = chance->Between(0.2, 0.5),
                 time = chance->LogBetween(1, 5 * kMinute)](double time_s) {
           return base + rise * std::log1p(time_s / time) / std::log1p(4 * kHour / time) + 0.003 * chance->Normal();
         };
       }},
      {"cache that fills late",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.1, 0.4), rise = chance->Between(0.1, 0.4),
                 from = chance->Between(0, 2 * kHour), time = chance->LogBetween(10, 8 * kMinute)](double time_s) {
           return base + rise * std::clamp((time_s - from) / time, 0.0, 1.0) + 0.003 * chance->Normal();
         };
       }},
      {"one step",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.1, 0.4), rise = chance->Between(0.1, 0.45),
                 from = chance->Between(0, 2 * kHour)](double time_s) {
           return base + (time_s > from ? rise : 0) + 0.005 * chance->Normal();
         };
       }},
      {"batches",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.1, 0.4), rise = chance->Between(0.1, 0.45),
                 period = chance->LogBetween(2 * kMinute, kHour), share = chance->Between(0.1, 0.9)](double time_s) {
           return base + (Tooth(time_s, period) < share ? rise : 0) + 0.005 * chance->Normal();
         };
       }},
      {"fragmentation: a walk between two walls",
       [](Chance* chance, double step_s) {
         return [=, value = chance->Between(0.3, 0.6), pace = chance->LogBetween(0.0002, 0.002)](double) mutable {
           value += pace * std::sqrt(step_s) * chance->Normal();
           return value = std::clamp(value, 0.3, 0.6);
         };
       }},
      {"waves of a day",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.3, 0.45), rise = chance->Between(0.02, 0.15),
                 period = chance->LogBetween(kHour, 24 * kHour), begin = chance->Between(0, 7)](double time_s) {
           return base + rise * std::sin(begin + 2 * std::numbers::pi * time_s / period) + 0.005 * chance->Normal();
         };
       }},
      {"sessions that come in the morning",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.1, 0.3), rise = chance->Between(0.1, 0.25),
                 middle = chance->Between(kHour, 3 * kHour),
                 time = chance->LogBetween(10 * kMinute, kHour)](double time_s) {
           return base + rise / (1 + std::exp((middle - time_s) / time)) + 0.005 * chance->Normal();
         };
       }},
      {"rare peaks",
       [](Chance* chance, double step_s) {
         return [=, base = chance->Between(0.2, 0.5), left = 0.0, rise = 0.0](double) mutable {
           left -= step_s;
           if (left < 0 && chance->Happens(step_s / 600)) {
             left = chance->LogBetween(2, 10 * kMinute);
             rise = chance->Between(0.1, 0.4);
           }
           return base + (left > 0 ? rise : 0) + 0.005 * chance->Normal();
         };
       }},
      {"decline",
       [](Chance* chance, double) {
         return [=, base = chance->Between(0.5, 0.9), time = chance->LogBetween(kMinute, 3 * kHour)](double time_s) {
           return base * (0.3 + 0.7 * std::exp(-time_s / time)) + 0.005 * chance->Normal();
         };
       }},
  }};
  return programs;
}

// Looks at the series every 15 s, which has a point each `every_s`. Returns the time of the first alarm.
std::optional<double> FirstAlarm(const Program& program, double duration_s, double step_s, double every_s) {
  AmountSeries series;
  double next_s = 0, look_s = kLook;
  for (double time_s = 0; time_s <= duration_s; time_s += step_s) {
    const double value = program(time_s);
    if (time_s >= next_s) {
      series.Add(time_s, value);
      next_s += every_s;
    }
    if (time_s < look_s) continue;
    look_s += kLook;
    if (series.SecondsTo(kLimit, time_s)) return time_s;
  }
  return std::nullopt;
}

double SteadyHours() {
  const char* const hours = std::getenv("HEAPREC_STEADY_HOURS");  // NOLINT(concurrency-mt-unsafe)
  return hours != nullptr ? std::atof(hours) : 80;
}

}  // namespace

TEST_CASE("Steady programs have no time until full, at any look") {
  constexpr double kDuration = 4 * kHour, kStep = 1;
  size_t alarms = 0;
  double hours = 0;
  for (uint64_t seed = 0; hours < SteadyHours(); ++seed) {
    for (const Steady& steady : SteadyPrograms()) {
      Chance chance(1000 * seed + static_cast<uint64_t>(&steady - SteadyPrograms().data()));
      // Some amounts are known only after a collection of the old generation.
      const double every_s = chance.Happens(0.5) ? kStep : chance.LogBetween(kStep, 10 * kMinute);
      const auto alarm = FirstAlarm(steady.make(&chance, kStep), kDuration, kStep, every_s);
      if (alarm) {
        ++alarms;
        WARN(steady.name << ", seed " << seed << ", every " << every_s << " s, at " << *alarm << " s");
      }
      hours += kDuration / kHour;
    }
  }
  // The goal is one in 1,000 hours. 20,000 hours have two; so 80 hours with other seeds would fail in 1 % of cases.
  INFO(alarms << " alarms in " << hours << " hours");
  CHECK(static_cast<double>(alarms) <= std::floor(hours / 1000));
}

TEST_CASE("Intervals of leaks hold the time until they are full") {
  constexpr int kLeaks = 40, kLeastHeld = 34;
  int first_held = 0, later_held = 0;
  for (uint64_t seed = 0; seed < kLeaks; ++seed) {
    Chance chance(77'000 + seed);
    const double base = chance.Between(0.05, 0.5), leaks_s = chance.LogBetween(30 * kMinute, 24 * kHour);
    const double from_s = chance.Happens(0.5) ? 0 : chance.Between(0, leaks_s), warm = chance.Between(0, 0.1);
    const double step_s = std::max(leaks_s / 5000, 1.0);
    const bool has_tooth = chance.Happens(0.5);
    const double tooth = has_tooth ? chance.Between(0.01, 0.1) : 0, period_s = chance.LogBetween(10, 300);
    const double every_s = has_tooth ? step_s : std::max(step_s, chance.LogBetween(1, leaks_s / 40));
    Noise noise(chance.LogBetween(0.001, 0.01), chance.LogBetween(1, leaks_s / 30));
    AmountSeries series;
    struct Look {
      double time_s;
      Estimate seconds;
    };
    std::vector<Look> looks;
    double time_s = 0, next_s = 0, look_s = 0;
    for (;; time_s += step_s) {
      const double value = base - warm * std::exp(-time_s / 60) +
                           (1 - base) * std::max(time_s - from_s, 0.0) / leaks_s + tooth * Tooth(time_s, period_s) +
                           noise.After(step_s, &chance);
      if (value >= kLimit) break;
      if (time_s >= next_s) series.Add(time_s, value), next_s += every_s;
      if (time_s < look_s) continue;
      look_s = time_s + std::max(kLook, leaks_s / 200);
      if (const auto found = series.SecondsTo(kLimit, time_s)) looks.push_back({time_s, *found});
    }
    const auto holds = [&](const Look& look) {
      return look.seconds.low <= time_s - look.time_s && time_s - look.time_s <= look.seconds.high;
    };
    if (looks.empty()) continue;
    first_held += holds(looks.front()) ? 1 : 0;
    later_held += holds(looks[looks.size() * 2 / 3]) ? 1 : 0;
  }
  INFO("at the first look with a time, and later");
  CHECK(first_held >= kLeastHeld);
  CHECK(later_held >= kLeastHeld);
}

}  // namespace heaprec::tools
