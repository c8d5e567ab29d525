// The line of the second stage, laid again: in which order the samples of an interval lay, and how long the pieces
// usually are that a class, a method, a stack or a thread has of it.
//
// The recorder lays all points that it holds; a recording has only those that were kept. But the order of what is kept
// is known up to chance, and that is all that a variance needs.
//
// Units:    lengths in samples kept per interval.
// Threads:  one.
// Maths:    docs/sampler.md#variance
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "format/reader.h"
#include "tools/analysis/drawn.h"
#include "tools/analysis/place_keys.h"

namespace heaprec::tools {

// What is left of the variance of rounding at the ends of a piece that holds `samples` kept ones per interval on
// average, of `surplus` times as many held, over that of a piece with hardly any: from 1 down to 1/3 and less.
double RoundingLeft(double samples, double surplus);

class Line {
 public:
  // Of one block, in order of time: brings them into the order of the line, interval by interval, and sets their
  // places.
  void Lay(const format::Block& block, std::vector<Drawn>* samples);

 private:
  struct Place {
    uint64_t interval;
    float tau;          // of the line: the weight that the second stage gave; kNoLine: it gave none
    uint64_t of_class;  // in another order in each interval
    PlaceKey key;
    uint64_t lot;
    Drawn drawn;
  };
  // Kept samples per interval, decaying: of the intervals before the one at hand.
  struct Usual {
    double sum = 0;
    uint64_t last = 0;  // lines_ when `sum` was brought up to date
  };
  void LayOne(std::span<Place> places);
  static void SetSides(std::span<Place> line);
  void SetRounding(std::span<Place> line);
  double Note(uint64_t node, size_t samples);
  void Forget();

  PlaceKeys keys_;
  uint64_t lines_ = 0;  // so far
  std::unordered_map<uint64_t, Usual> usual_;
};

}  // namespace heaprec::tools
