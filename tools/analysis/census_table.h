// Sums of what walks counted, by class, thread or second, and what they stand for.
//
// Walks of different TLABs are independent, and what one finds of several classes is not. So groups of classes have
// their variance from the totals, where these can be had, and else the most that it can be.
//
// Units:    bytes; time in ns since the start of the recording.
// Threads:  one.
// Maths:    docs/streams.md#census
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/census.h"
#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

struct CensusGroup {
  format::CensusSum objects, bytes;
  uint64_t walks = 0;  // at least so many found something of it
};

// Intervals need so many effective walks, (sum of w x)^2 / (sum of w^2 x^2). With fewer only what was found and the
// bytes of all are known.
inline constexpr double kMinEffectiveWalks = 2;
// Up to so many a floor of the variance holds, which fades out until twice as many.
inline constexpr double kFewEffectiveWalks = 10;

// What sums of walks stand for. The recorder counts the bytes of all candidates, whether they are walked or not: what
// walks found of all of them by chance too much or too little is taken off or added in proportion.
class CensusEstimator {
 public:
  // Of all walks, whatever is then asked for.
  void Add(const format::CensusRow& total);
  // Of a recording: the bytes that its walks stand for. nullopt: not known.
  void AddCandidates(std::optional<uint64_t> bytes);

  struct Sum {
    double value = 0, variance = 0;
  };
  Sum BytesOf(const format::CensusSum& sum) const;
  // 95 %; never below what was found. Exact: low, value and high are the same.
  Estimate Bytes(const CensusGroup& group) const;
  Estimate Objects(const CensusGroup& group) const;
  // Of everything: counted, if it is known.
  Estimate AllBytes() const;
  // Some were walked, and the bytes of all candidates are known.
  bool is_drawn_of_known() const { return are_known_ && candidates_ > 0 && bytes_.counted > 0; }
  // By what the walks found the bytes of all could not be what they are: no heavy walk was drawn. Then what was found
  // and the bytes of all are all that is known.
  bool has_too_few_walks() const;
  double by_walks() const { return bytes_.estimate(); }

 private:
  enum class Of : uint8_t { kBytes, kObjects };
  Sum Regression(const format::CensusSum& sum, Of what) const;
  Estimate Interval(const format::CensusSum& sum, uint64_t walks, Of what) const;
  // Of a variance, divided by the value.
  double Floor(const format::CensusSum& sum, uint64_t walks) const;
  // The weight of a walk that matters: of all walks, each by its part in the variance of their total. 0: all were
  // walked.
  double TypicalWeight() const;
  double EffectiveWalks() const;

  format::CensusSum bytes_;
  uint64_t walks_ = 0;
  double candidates_ = 0;  // bytes
  bool are_known_ = true;
};

// The bytes of the candidates that were walked or drawn from.
uint64_t CandidateBytes(const format::CensusCounters& counters);

// Of a class of objects in a group (of a thread, of a second), or of all classes together.
class CensusTable {
 public:
  // All classes of a walk together: exact in its variance.
  void AddTotal(std::string_view group, const format::CensusRow& row);
  // One class of those that the group holds.
  void AddClass(std::string_view group, std::string_view class_name, const format::CensusRow& row);

  struct Row {
    std::string name;
    CensusGroup sums;
  };
  // By name.
  std::vector<Row> Rows() const;
  Row All() const;

 private:
  using Classes = std::map<std::string, CensusGroup, std::less<>>;
  static CensusGroup SumOf(const Classes& classes);
  std::map<std::string, Classes, std::less<>> groups_;  // totals have the class ""
};

}  // namespace heaprec::tools
