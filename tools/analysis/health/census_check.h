// Is what a census says consistent with itself: its classes with its totals, and both with its counters?
//
// Failure:  none; what does not hold is handed to `find`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::tools {

class CensusCheck {
 public:
  using Find = std::function<void(std::string)>;
  explicit CensusCheck(const format::FileHeader& header) : header_(header) {}

  void Look(const format::Block& block, const Find& find);
  // `counters`: at the end. `is_whole`: all blocks from the start to an ending were there.
  void Close(const format::CensusCounters& counters, bool is_whole, const Find& find) const;

 private:
  const format::FileHeader& header_;
  format::CensusCounters counters_;
  uint64_t walks_ = 0, bytes_ = 0;  // of the totals
};

}  // namespace heaprec::tools
