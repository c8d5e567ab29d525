// What walks of TLABs found, summed by second, thread and class: the rows of a block.
//
// Context:  drain, and a salvager (it allocates).
// Format:   docs/format/recording.md#census
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "format/model/census.h"
#include "format/ring/ring_records.h"

namespace heaprec::format {

class CensusSums {
 public:
  struct Pending {
    uint64_t walks = 0, bytes = 0;
  };

  // `since_start_ns`: time of the record.
  void Add(const CensusRecord& record, std::span<const CensusEntry> entries, uint64_t since_start_ns);
  bool empty() const { return totals_.empty(); }
  const Pending& pending() const { return pending_; }

  // Calls visit(thread key, class key, row). Rows do not have their names yet. The class key of totals is 0.
  template <typename Visit>
  void ForEachRow(const Visit& visit) const {
    for (const auto& [key, row] : rows_) visit(std::get<1>(key), std::get<2>(key), row);
  }
  template <typename Visit>
  void ForEachTotal(const Visit& visit) const {
    for (const auto& [key, row] : totals_) visit(key.second, uint64_t{0}, row);
  }
  void Clear();

 private:
  // By second, thread and class: rows are in order of time.
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, CensusRow> rows_;
  std::map<std::pair<uint64_t, uint64_t>, CensusRow> totals_;
  Pending pending_;
};

}  // namespace heaprec::format
