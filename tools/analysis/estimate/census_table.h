// Sums what walks counted, by class, thread or second, and estimates totals from them.
//
// Walks of different TLABs are independent; the classes found by one walk are not. So the variance of a group of
// classes comes from the totals if there are any; otherwise it is an upper bound.
//
// Units:    bytes; time in ns since the start of the recording.
// Maths:    docs/estimates.md#census
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/census.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

struct CensusGroup {
  format::CensusSum objects, bytes;
  uint64_t walks = 0;  // number of walks that found it, at least
};

// Walks and recorder may differ by this share, because they begin and end at slightly different times.
inline constexpr double kCensusTolerance = 0.01;
// This class is never sampled. If it were treated as one of the rare classes, its bytes would be added to the others.
inline constexpr char kStackChunk[] = "jdk/internal/vm/StackChunk";
// Minimum of effective walks, (sum of w x)^2 / (sum of w (w - 1) x^2), for an interval. With fewer, only the found
// objects and the total bytes are known.
inline constexpr double kMinEffectiveWalks = 2;
// Up to this number of effective walks the full variance floor applies; it falls to 0 at twice the number.
inline constexpr double kFewEffectiveWalks = 10;

// Estimates totals from walks. The recorder counts the bytes of all candidates, walked or not. If the walks over- or
// underestimate these bytes, each class is adjusted according to its covariance with them.
class CensusEstimator {
 public:
  // Adds the totals of all walks, including those that a filter excludes.
  void Add(const format::CensusRow& total);
  // Adds the counted bytes of a recording's candidates; nullopt: unknown.
  void AddCandidates(std::optional<uint64_t> bytes);

  struct Sum {
    double value = 0, variance = 0;
  };
  Sum BytesOf(const format::CensusSum& sum) const;
  // With a 95 % interval; never below what was found. If exact, low, value and high are equal.
  Estimate Bytes(const CensusGroup& group) const;
  Estimate Objects(const CensusGroup& group) const;
  // The total: the counted bytes if known, otherwise an estimate.
  Estimate AllBytes() const;
  // Whether walks found something and the bytes of all candidates are known.
  bool is_drawn_of_known() const { return are_known_ && candidates_ > 0 && bytes_.counted > 0; }
  // True if there are fewer effective walks than kMinEffectiveWalks, or the walks contradict the counted bytes. In that
  // case only the found objects and the total bytes are known.
  bool has_too_few_walks() const;
  double by_walks() const { return bytes_.estimate(); }

 private:
  enum class Of : uint8_t { kBytes, kObjects };
  Sum Regression(const format::CensusSum& sum, Of what) const;
  Estimate Interval(const format::CensusSum& sum, uint64_t walks, Of what) const;
  // Minimum variance of an estimate, divided by its value.
  double Floor(const format::CensusSum& sum, uint64_t walks) const;
  // Mean weight of the walks, each weighted by its part in the variance of the total. 0: all were walked.
  double TypicalWeight() const;
  double EffectiveWalks() const;

  format::CensusSum bytes_;
  uint64_t walks_ = 0;
  double candidates_ = 0;  // bytes
  bool are_known_ = true;
};

// Bytes of the candidates that were walked or among which walks were drawn.
uint64_t CandidateBytes(const format::CensusCounters& counters);

// Sums by group (a thread, a second), for each class and for all classes together.
class CensusTable {
 public:
  // Adds all classes of a walk together; the variance is exact.
  void AddTotal(std::string_view group, const format::CensusRow& row);
  // Adds one class of the group.
  void AddClass(std::string_view group, std::string_view class_name, const format::CensusRow& row);

  struct Row {
    std::string name;
    CensusGroup sums;
  };
  // Returns the rows ordered by name.
  std::vector<Row> Rows() const;
  Row All() const;

 private:
  using Classes = std::map<std::string, CensusGroup, std::less<>>;
  static CensusGroup SumOf(const Classes& classes);
  std::map<std::string, Classes, std::less<>> groups_;  // totals have the class ""
};

// Finds the strata of a recording in a first pass: compares the census count of each class with what its samples
// represent.
//
//   StrataBuilder builder(header);
//   builder.Add(block);                                      // every block
//   design.SetStrata(builder.Build(recording.census_counters()));
//
// Units:    bytes and objects.
// Failure:  no strata without a census that counted everything, or if it is not sufficient; why_none() has the reason.
// Maths:    docs/estimates.md#post-stratification

class StrataBuilder {
 public:
  explicit StrataBuilder(const format::FileHeader& header);

  // Adds the next block, unfiltered; `by_rows`: as for the design that gets the strata.
  void Add(const format::Block& block, bool by_rows = false);
  // Call after the last block.
  Strata Build(const format::CensusCounters& counters);

  // Returns why there are no strata; empty if there are some.
  const std::string& why_none() const { return why_none_; }

 private:
  // The sums of a class, or of several classes.
  struct Sums {
    double bytes = 0;                 // represented by the samples
    double counted = 0, objects = 0;  // counted bytes and objects
    Sums& operator+=(const Sums& other);
  };
  using Class = std::map<std::string, Sums>::value_type;

  bool IsComplete(const format::CensusCounters& counters);
  // Whether the count corresponds to at least kMinSamples samples, and there are samples at all.
  bool HasEnoughCounts(const Sums& sums) const;

  const bool counts_all_, is_biased_;
  Design design_;
  std::map<std::string, Sums> classes_;
  double unit_ = 0;                // bytes that a sample represents
  bool has_cut_interval_ = false;  // an interval has samples but no counted bytes
  std::string why_none_;
};

}  // namespace heaprec::tools
