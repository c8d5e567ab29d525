// Keys of the class, site and thread of a sample: hashes of names, so they are the same in every chunk.
//
// Units:    none.
// Threads:  one.
// Maths:    docs/estimates.md#variance
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "format/codec/index_table.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// By grain, from kClass to kThread: each holds those before it, so that they are the nodes of a tree.
using SiteKey = std::array<uint64_t, kNodes>;

// A hash of both: the finaliser of SplitMix64 over a linear combination.
inline uint64_t Mixed(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15u + b + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class SiteKeys {
 public:
  // A class and a stack of the chunk. Two of them have the same keys if their names are the same.
  struct Site {
    uint64_t of_class = 0, of_method = 0, of_stack = 0;
    format::Index class_id = format::kNone, stack = format::kNone;
  };

  // Sets the block of the next samples. Without dictionaries its indices are the names.
  void Enter(const format::Block& block);
  // Returns the index of the sample's site in the chunk, from 0 in order of appearance.
  uint32_t SiteIndex(const format::Sample& sample);
  const Site& At(uint32_t place) const { return places_[place]; }
  size_t places() const { return places_.size(); }
  // MethodKeys by index; 0, or not there: not needed so far.
  const std::vector<uint64_t>& methods() const { return methods_; }
  // Returns the finest key: that of a sample at this site in this thread.
  uint64_t SiteThreadKey(const Site& place, format::Index thread) { return Mixed(place.of_stack, ThreadKeyOf(thread)); }

 private:
  using Keys = std::vector<uint64_t>;  // 0: not looked at yet
  Site New(format::Index class_id, format::Index stack);
  uint64_t ClassKeyOf(format::Index index);
  uint64_t MethodKeyOf(format::Index index);
  uint64_t ThreadKeyOf(format::Index index);
  uint64_t StackKeyOf(format::Index stack);
  void ExtendFrameKeys();

  const format::Dictionaries* names_ = nullptr;
  uint32_t chunk_ = format::kNone;
  Keys classes_, methods_, threads_;
  Keys frames_, stacks_;  // of the frames and nodes so far
  std::vector<Site> places_;
  format::IndexTable place_table_;  // by class and stack
};

}  // namespace heaprec::tools
