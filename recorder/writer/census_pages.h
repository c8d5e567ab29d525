// The drain's view of the ring's census pages (format/ring/census_pages.h).
//
// Context:  drain.
#pragma once

#include <cstdint>
#include <vector>

#include "format/ring/census_pages.h"

namespace heaprec::writer {

class CensusPages {
 public:
  // null: there is no census.
  explicit CensusPages(format::RingCensusPages* pages) : pages_(pages) {}

  // Number of the last page whose rows are in the file.
  uint64_t written() const { return written_; }
  // Whether there are rows that are not in the file.
  bool has_rows() const;
  // Whether the active page has more than half of its rows or names.
  bool is_filling() const;
  // Returns the pages whose rows go into the next block, in order. Activates another page, if one is free. `is_last`:
  // includes the active page.
  std::vector<const format::RingCensusPage*> Take(bool is_last);
  // Call when the rows of the pages up to `number` are in the file: clears these pages.
  void Written(uint64_t number);

 private:
  format::RingCensusPages* pages_;
  uint64_t written_ = 0;
};

}  // namespace heaprec::writer
