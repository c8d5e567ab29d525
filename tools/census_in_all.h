// What a recording's census comes to, for its summary.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "format/model.h"
#include "format/reader.h"
#include "tools/analysis/census_table.h"

namespace heaprec::tools {

class CensusInAll {
 public:
  void Add(const format::Block& block);
  // "19.2 GiB in 80,000,000 objects, all counted"; empty: there is none, and none was asked for.
  std::string Text(const format::FileHeader& header) const;
  // null: there is none.
  nlohmann::json AsJson(const format::FileHeader& header) const;

 private:
  CensusTable table_;
  TypicalWeight typical_;
  format::CensusBooks books_;
};

}  // namespace heaprec::tools
