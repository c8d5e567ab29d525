// What a recording's census comes to, for its summary.
#pragma once

#include <cstdint>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/census_table.h"
#include "tools/analysis/estimate/confidence_interval.h"

namespace heaprec::tools {

class CensusTotals {
 public:
  void Add(const format::Block& block);
  Estimate Bytes() const;
  Estimate Objects() const;
  const format::CensusCounters& counters() const { return counters_; }
  // Bytes that no walk has counted.
  uint64_t MissingBytes() const;

 private:
  CensusTable table_;
  TypicalWeight typical_;
  format::CensusCounters counters_;
};

}  // namespace heaprec::tools
