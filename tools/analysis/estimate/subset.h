// Running sums over the samples of a subset (a class, a site, a thread, a time range), used to estimate it.
//
// Samples must be added in the order in which Design returns them. Allocates nothing without a census, because a table
// has one Subset for each of many sites.
//
// Units:    bytes and objects.
// Threads:  one.
// Maths:    docs/estimates.md#variance, name for name
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/analysis/estimate/strata.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// Variances and covariance of two totals of the same samples.
//
// Maths:    docs/estimates.md#variance
struct Spread {
  double bytes = 0, objects = 0, both = 0;
  Spread& operator+=(const Spread& other) {
    bytes += other.bytes, objects += other.objects, both += other.both;
    return *this;
  }
};

inline Spread operator*(double factor, const Spread& of) {
  return {factor * of.bytes, factor * of.objects, factor * of.both};
}

class Subset {
 public:
  // `matched_by`: the finest level that decides whether a sample belongs to the subset. A level finer than necessary
  // gives wider intervals; a subset by time or by size needs nothing finer than kThread. kOneClass: the subset is all
  // objects of one class; with kClass as level a census may then know its total exactly.
  enum class Holds : bool { kAny, kOneClass };
  explicit Subset(OrderLevel matched_by = OrderLevel::kThread, Holds holds = Holds::kAny)
      : chosen_by_(matched_by), is_class_(holds == Holds::kOneClass && matched_by == OrderLevel::kClass) {}
  void Add(const WeightedSample& sample);

  uint64_t samples() const { return samples_; }  // of rows: their points
  double bytes() const { return bytes_; }        // sum of weights: unbiased
  double objects() const { return objects_; }    // sum of weight / size: unbiased
  // Samples whose size the recording does not have: objects() lacks their objects.
  uint64_t unsized() const { return unsized_; }
  double seen() const { return seen_; }  // bytes of the sampled objects themselves: a lower limit of the total
  // Number of equal-weight samples with the same precision of shares: (sum w)^2 / sum w^2.
  double effective_samples() const { return squares_ > 0 ? bytes_ * bytes_ / squares_ : 0; }
  // Variance as if all samples were drawn independently: an upper estimate.
  const Spread& independent() const { return independent_; }
  // Sums of the squares of the terms of independent(), for its own uncertainty.
  double bytes_fourth() const { return bytes_fourth_; }
  double objects_fourth() const { return objects_fourth_; }
  // Variance of both stages, and of the first stage; without the knowledge of a census.
  Spread WholeChain() const;
  const Spread& first_stage() const { return first_stage_; }
  // Variance of the totals, given the census' counts of the strata: equal to WholeChain() if there is no census.
  Spread Remaining() const;
  // Covariance of this subset's totals with the bytes of all samples; the second stage contributes none.
  double bytes_with_all() const;
  double objects_with_all() const;
  // Covariance of this subset's bytes with those of a subset that contains it.
  double BytesWith(const Subset& whole) const;

  // The strata of this subset's samples, if each of them was counted completely and every sample is in one.
  struct Known {
    double bytes = 0;                            // counted
    double sampled = 0;                          // variance of bytes of the first stage, without the count
    double largest_share = 0;                    // largest part of one stratum that belongs to this subset
    std::optional<ClassOfStratum::Counted> all;  // the subset is one complete class
  };
  std::optional<Known> KnownStrata() const;

 private:
  // The end of a run: adjacent samples in the systematic order that are all in the subset.
  struct End {
    double weight = 0, objects = 0;
    double second_stage_exclusion = 0;  // probability that the second stage dropped it
    double rounding = 1, next = 1;      // of its own node, and of the next one
    double objects_per_byte = 0;        // objects
    double earlier = 0;                 // the same for the subset's previous sample
    uint32_t rank = 0;
    OrderLevel parted = OrderLevel::kSample;
  };
  void AddToLine(const WeightedSample& sample);
  void BeginRun(const WeightedSample& sample);
  End EndOf(const WeightedSample& sample, const WeightedSample::Side& side) const;
  // `b`: an End or a WeightedSample.
  template <typename Other>
  static Spread Product(const End& a, const Other& b);
  static Spread ProductOfEnds(const End& first, const End& last);
  static Spread Rounded(const End& end, const Spread& product);
  static void Part(uint32_t gap, End* last, End* first);
  End EndRun(End next);
  std::pair<Spread, Spread> Pending() const;

  // The part of the subset that belongs to one stratum.
  struct Piece {
    const Stratum* stratum = nullptr;
    double bytes = 0, objects = 0;
    Spread first_stage;
    double share() const { return bytes / stratum->bytes; }
    Spread Explained() const;
    // The covariance that the bytes of both stages no longer share with those of the samples.
    double Shift() const { return stratum->known * stratum->sampled - stratum->shared(); }
  };
  Piece& PieceOf(const Stratum* stratum);
  void NotePiece(uint32_t stratum, size_t piece);

  OrderLevel chosen_by_;
  bool is_class_;
  const ClassOfStratum* class_ = nullptr;  // the class of all samples; nullptr if there are several
  std::vector<Piece> pieces_;
  std::vector<uint32_t> piece_of_;      // by stratum, once there are many; from 1
  size_t piece_ = 0;                    // index of the piece that was last added to
  uint64_t samples_ = 0, unknown_ = 0;  // unknown: samples of no stratum
  uint64_t unsized_ = 0;
  double bytes_ = 0, objects_ = 0, seen_ = 0, squares_ = 0;
  double bytes_fourth_ = 0, objects_fourth_ = 0;
  Spread independent_, first_stage_;
  Spread second_stage_, rounded_;  // except for Pending()
  double whole_ = 0, cut_ = 0;
  // The current line. It is a circle: the gap before its first run is the gap after its last run.
  uint64_t line_ = 0;
  uint32_t in_line_ = 0, runs_ = 0;
  End begin_;             // beginning of the first run
  Spread first_product_;  // product of its ends, once it is complete
  End run_, last_;        // beginning and end of the latest run
};

}  // namespace heaprec::tools
