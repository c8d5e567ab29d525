// Why numbers that are added up of one stream of a recording should not be believed: the reasons of `summary`, found
// out beside another reading.
//
//   StreamTrust trust(header, stream);
//   for (block) trust.Add(block);
//   trust.Reasons(recording);        // after the last block, or the last one so far; empty: none
//
// Threads:  one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/totals/stream_totals.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

class StreamTrust {
 public:
  // `has_design`: the caller has a design of the stream, without strata, that can be handed to Reasons.
  StreamTrust(const format::FileHeader& header, format::Stream stream, bool has_design = false);

  void Add(const format::Block& block, bool by_rows = false);
  std::vector<std::string> Reasons(const Recording& recording, const Design* design = nullptr) const;

 private:
  const format::Stream stream_;
  StreamTotals totals_;
  std::optional<Design> own_;  // of allocations: what was counted is compared with it
};

}  // namespace heaprec::tools
