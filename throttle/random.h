// A small, fast, seedable generator (SplitMix64) with one 64-bit state, because every byte clock has one.
// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#pragma once

#include <cmath>
#include <cstdint>

namespace heaprec::throttle {

// The finaliser of SplitMix64: a bijection on 64 bits, used as a hash for VarOpt keys.
constexpr uint64_t Mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit constexpr Random(uint64_t seed = 0) : state_(seed) {}
  constexpr uint64_t Next() { return Mix64(state_ += 0x9e3779b97f4a7c15u); }
  // Uniform on [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Exponential with mean 1; never 0 and never infinite, because a double represents 52 bits plus a half exactly,
  // between 0 and 1.
  double Exponential() { return -std::log((static_cast<double>(Next() >> 12) + 0.5) * 0x1p-52); }

 private:
  uint64_t state_;
};

}  // namespace heaprec::throttle
