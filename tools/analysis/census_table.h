// Sums of what walks counted, by class, thread or second.
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

// The weight of a walk that matters: of all walks, each by its part in the variance of their total. What a class
// that few walks found might have in one that was not walked is as uncertain as that.
class TypicalWeight {
 public:
  void Add(const format::CensusRow& total);
  // 0: all were walked.
  double value() const;

 private:
  format::CensusSum bytes_;
  uint64_t walks_ = 0;
};

// Intervals need so many effective walks, (sum of w x)^2 / (sum of w^2 x^2): with fewer the upper end is infinite.
inline constexpr double kMinEffectiveWalks = 2;
// Up to so many the typical weight is a floor of the variance, which fades out until twice as many.
inline constexpr double kFewEffectiveWalks = 10;

// 95 %; never below what was found. Exact: low, value and high are the same. `walks` that found something of it, and
// their `typical` weight.
Estimate EstimateOf(const format::CensusSum& sum, uint64_t walks, double typical);

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
