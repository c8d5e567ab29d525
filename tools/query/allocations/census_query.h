// Census counts of recordings, within the selection of the options.
//
// Failure:  Read reports unreadable files on stderr.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/estimate/census_table.h"
#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

enum class CensusBy : uint8_t { kClass, kThread, kTime };

struct CensusChoice {
  std::string from, to, thread, class_name;
  CensusBy by = CensusBy::kClass;
};

// The census of one recording.
struct CensusOrigin {
  std::string file, recording_id;
  format::CensusMode mode = format::CensusMode::kOff;
  double per_second = 0;
  format::CensusCounters counters;  // from the start of the recording, independently of the selection
  bool is_later_part = false;       // the start is not in the file
  bool has_all_tlabs = true;        // for census=all: includes the TLABs that were in use at the end
  bool misses_bytes = false;        // as in Recording::misses_bytes
};

class CensusScan {
 public:
  // Parses the selection. The Error is a message for the user.
  static Result<CensusScan> Parse(const CensusChoice& choice);

  // Reads all recordings of the files, in order. kUnreadable: one cannot be read, or has no census.
  ExitCode Read(const std::vector<std::string>& paths);

  // The requested names.
  const std::vector<AskedName>& asked() const { return filter_.asked(); }
  const CensusTable& table() const { return table_; }
  // The sum of everything that the filters match.
  CensusTable::Row total() const { return total_.All(); }
  // Estimator from the walks of all recordings.
  const CensusEstimator& estimator() const { return estimator_; }
  // The bytes of everything that the filters match; if they match everything, as counted by the recorder.
  Estimate TotalBytes() const;
  const std::vector<CensusOrigin>& origins() const { return origins_; }
  CensusBy by() const { return choice_.by; }
  // Whether some candidates were walked and the recorder counted the bytes of all.
  bool is_counted() const { return ChoosesAll() && estimator_.is_drawn_of_known(); }
  // Whether no filter selects a time, thread or class.
  bool ChoosesAll() const;
  // Whether everything was walked and nothing is missing.
  bool is_exact() const;
  // Covers whole recordings, because there are no counters per time, thread or class.
  std::string LossLine() const;

 private:
  CensusScan(const CensusChoice& choice, Filter filter) : choice_(choice), filter_(std::move(filter)) {}
  ExitCode Read(Recording* recording);
  void Add(const format::Block& block, Names* names, Filter* filter);
  std::string GroupOf(const format::CensusRow& row, Names* names) const;

  CensusChoice choice_;
  Filter filter_;
  CensusTable table_, total_;
  CensusEstimator estimator_;
  std::vector<CensusOrigin> origins_;
};

// Totals of a recording's census, for its summary.
class CensusTotals {
 public:
  void Add(const format::Block& block);
  // Call after the last block.
  void End(const Recording& recording);
  Estimate Bytes() const;
  Estimate Objects() const;
  const format::CensusCounters& counters() const { return counters_; }
  // Number of bytes that no walk has counted.
  uint64_t MissingBytes() const;

 private:
  CensusTable table_;
  CensusEstimator estimator_;
  format::CensusCounters counters_;
};

}  // namespace heaprec::tools
