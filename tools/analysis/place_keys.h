// Where a sample was allocated, as keys that are the same in every chunk: hashes of the names.
//
// Units:    none.
// Threads:  one.
// Maths:    docs/sampler.md#variance
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "format/model.h"
#include "format/reader.h"
#include "tools/analysis/drawn.h"

namespace heaprec::tools {

// By grain, from kClass to kThread: each holds those before it, so that they are the nodes of a tree.
using PlaceKey = std::array<uint64_t, kNodes>;

class PlaceKeys {
 public:
  // The block whose samples are asked for next. Without dictionaries its indices are the names.
  void Enter(const format::Block& block);
  PlaceKey Of(const format::Sample& sample);

 private:
  using Keys = std::vector<uint64_t>;  // 0: not looked at yet
  struct StackKey {
    uint64_t leaf = 0, whole = 0;
  };
  uint64_t OfClass(format::Index index);
  uint64_t OfMethod(format::Index index);
  uint64_t OfThread(format::Index index);
  StackKey OfStack(format::Index stack);
  StackKey OfNode(format::Index index);

  const format::Dictionaries* names_ = nullptr;
  uint32_t chunk_ = format::kNone;
  Keys classes_, methods_, threads_;
  std::vector<StackKey> stacks_;  // of the nodes so far
};

// A hash of both: the finaliser of SplitMix64 over a linear combination.
inline uint64_t Mixed(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15u + b + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace heaprec::tools
