// Is what a census says consistent with itself: its classes with its totals, and both with its books?
//
// Failure:  none; what does not hold is handed to `find`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "format/model.h"
#include "format/reader.h"

namespace heaprec::tools {

class CensusCheck {
 public:
  using Find = std::function<void(std::string)>;
  explicit CensusCheck(const format::FileHeader& header) : header_(header) {}

  void Look(const format::Block& block, const Find& find);
  // `books`: at the end. `is_whole`: all blocks from the start to an ending were there.
  void Close(const format::CensusBooks& books, bool is_whole, const Find& find) const;

 private:
  const format::FileHeader& header_;
  format::CensusBooks books_;
  uint64_t walks_ = 0, bytes_ = 0;  // of the totals
};

}  // namespace heaprec::tools
