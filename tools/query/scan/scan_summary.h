// What recordings have been added up, what of them was lost, and whether the sums can be relied on: the last lines of
// every command that adds up.
//
// Units:    as format/model/model.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/design.h"
#include "tools/analysis/totals/stream_totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/query/scan/census_strata.h"
#include "tools/render/value.h"

namespace heaprec::tools {

struct ScannedTotals : LossTotals {
  uint64_t matched = 0;  // points or samples that passed the filters
  double seconds = 0;    // of all recordings together, within --from and --to
  bool complete = true;
};

class ScanSummary {
 public:
  // What estimates were made from: all points of blocks that were read from their rows, samples of others.
  struct Points {
    uint64_t matched = 0, all = 0;
    bool has_rows = false;
    uint64_t calibrated_to = 0;  // points of the rows that samples were calibrated to
    double left_out = 0;         // part of the bytes: of rows without samples that a filter cannot judge
  };
  // A recording that was read to its end. `reasons`: why its numbers should not be believed; empty: they may be.
  void Note(const Recording& recording, double seconds, const Points& points, const CensusStrata& census,
            const std::vector<std::string>& reasons);

  // MergedNames::Text
  void SetMergedNames(std::string text) { merged_names_ = std::move(text); }
  const ScannedTotals& scanned() const { return scanned_; }
  // "# 1,234 samples, 12 dropped to keep the rate (their weight is kept), 0 lost\n"; if a recording is not trustworthy,
  // a second line says so: "# trustworthy: no, because ...\n". Only imports do not know their losses.
  std::string LossLine() const;
  const std::vector<std::string>& trust_reasons() const { return doubts_; }
  // "no, because ..."; empty: all may be believed.
  std::string TrustVerdict() const;
  // {"recordings": [{"recording_id": ..., "file": ..., "losses": {...}}], "events": ..., "seconds": ...}
  render::Object AsObject() const;

 private:
  ScannedTotals scanned_;
  uint64_t points_ = 0;
  double left_out_ = 0;            // the most of all recordings
  size_t sharpened_ = 0;           // recordings, by their census
  std::set<std::string> blunted_;  // what is said of those that have one, but are not
  size_t doubted_ = 0;             // recordings
  std::vector<std::string> doubts_;
  std::string merged_names_;
  render::List recordings_;
};

// Why numbers that are added up of one stream of a recording should not be believed: the reasons of `summary`, found
// out beside another reading.
//
//   StreamTrust trust(header, stream);
//   for (block) trust.Add(block);
//   trust.Reasons(recording);        // after the last block, or the last one so far; empty: none
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
