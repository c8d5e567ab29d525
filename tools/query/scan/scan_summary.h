// The recordings that were read, their losses, and their trustworthiness: the last lines of every command that computes
// sums.
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
#include "tools/analysis/totals/totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/query/scan/census_strata.h"
#include "tools/render/value.h"

namespace heaprec::tools {

struct ScannedTotals : LossTotals {
  uint64_t matched = 0;  // points or samples that passed the filters
  double seconds = 0;    // total of all recordings, within --from and --to
  bool complete = true;
};

class ScanSummary {
 public:
  // What estimates were computed from: all points of blocks that were read from their rows, samples of others.
  struct Points {
    uint64_t matched = 0, all = 0;
    bool has_rows = false;
    uint64_t calibrated_to = 0;  // points of the rows that samples were calibrated to
    double left_out = 0;         // share of the bytes in rows without samples to which a filter cannot be applied
  };
  // Adds a recording that was read to its end. `reasons`: why its numbers are not trustworthy; empty: they are.
  void Note(const Recording& recording, double seconds, const Points& points, const CensusStrata& census,
            const std::vector<std::string>& reasons);

  // MergedNames::Text
  void SetMergedNames(std::string text) { merged_names_ = std::move(text); }
  const ScannedTotals& scanned() const { return scanned_; }
  // "# 1,234 samples, 12 dropped to keep the rate (their weight is kept), 0 lost\n"; if a recording is not trustworthy,
  // followed by "# trustworthy: no, because ... ". The losses of imports are unknown.
  std::string LossLine() const;
  const std::vector<std::string>& trust_reasons() const { return doubts_; }
  // "no, because ..."; empty: all are trustworthy.
  std::string TrustVerdict() const;
  // {"recordings": [{"recording_id": ..., "file": ..., "losses": {...}}], "events": ..., "seconds": ...}
  render::Object AsObject() const;

 private:
  ScannedTotals scanned_;
  uint64_t points_ = 0;
  double left_out_ = 0;            // maximum over the recordings
  size_t sharpened_ = 0;           // number of recordings adjusted by their census
  std::set<std::string> blunted_;  // messages for recordings with a census that are not adjusted
  size_t doubted_ = 0;             // number of untrustworthy recordings
  std::vector<std::string> doubts_;
  std::string merged_names_;
  render::List recordings_;
};

// Why sums over one stream of a recording are not trustworthy: the reasons of `summary`, found during another pass.
//
//   StreamTrust trust(header, stream);
//   trust.Add(block);                    // every block
//   trust.Reasons(recording) ...         // after the last block, or the latest so far; empty: none
class StreamTrust {
 public:
  // `has_design`: the caller has a design of the stream, without strata, for Reasons.
  StreamTrust(const format::FileHeader& header, format::Stream stream, bool has_design = false);

  void Add(const format::Block& block, bool by_rows = false);
  std::vector<std::string> Reasons(const Recording& recording, const Design* design = nullptr) const;

 private:
  const format::Stream stream_;
  StreamTotals totals_;
  std::optional<Design> own_;  // for allocations: compared with the counted bytes
};

}  // namespace heaprec::tools
