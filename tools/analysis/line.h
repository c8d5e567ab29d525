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

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "format/reader.h"
#include "tools/analysis/drawn.h"
#include "tools/analysis/place_keys.h"
#include "tools/analysis/usual_counts.h"

namespace heaprec::tools {

// What is left of the variance of rounding at the ends of a piece that holds `samples` kept ones per interval on
// average, of `surplus` times as many held, over that of a piece with hardly any: from 1 down to 1/3 and less.
double RoundingLeft(double samples, double surplus);

class Line {
 public:
  // `finest`: the grains up to it get a rounding.
  explicit Line(Grain finest = Grain::kThread) : nodes_(std::min(static_cast<size_t>(finest) + 1, kNodes)) {}
  // Of one block, in order of time: brings them into the order of the line, interval by interval, and sets their
  // places.
  void Lay(const format::Block& block, std::vector<Drawn>* samples);

 private:
  struct Place {
    uint64_t of_class, of_method;  // classes: in another order in each interval
    float tau;                     // of the line: the weight that the second stage gave; kNoLine: it gave none
    uint32_t at;                   // which of the samples
  };
  // Fills places_, in the order of the lines.
  void Order(const format::Block& block, const std::vector<Drawn>& samples);
  bool IsBefore(const Place& a, const Place& b) const;
  void LayOne(std::span<Drawn> line, std::span<const PlaceKey> keys);
  static void SetSides(std::span<Drawn> line, std::span<const PlaceKey> keys);
  void SetRounding(std::span<Drawn> line, std::span<const PlaceKey> keys);

  const size_t nodes_;
  PlaceKeys keys_;
  // Of the block at hand; kept for their memory.
  std::vector<Place> places_;
  std::vector<PlaceKey> unordered_keys_, line_keys_;
  std::vector<uint64_t> lots_;
  std::vector<Drawn> laid_;
  uint64_t lines_ = 0;  // so far
  std::array<UsualCounts, kNodes> usual_;
};

}  // namespace heaprec::tools
