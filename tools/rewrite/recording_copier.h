// Writes all of a recording anew, with what only its ring holds: what recover, dump and attach share.
//
// Events that the counters call written, and that no block has because the file is damaged, are counted as
// LossReason::kWriteFailed, so that the counters of the copy agree with its events.
//
// Threads:  one.
// Failure:  a sentence for the user.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::tools {

struct Rewritten {
  uint64_t events = 0;
  uint64_t missing = 0;  // counted as written, but in no block
};

// `recording` is at its start. The copy keeps its end marker. If it has none, the reason in the copy's is kEndDump if
// the recording is running, kEndNothingRecovered if nothing could be read, else `reason`.
Result<Rewritten> Rewrite(Recording* recording, const std::string& reason, Output* output);
// The same with another header and, unless `names` is null, other names.
Result<Rewritten> Rewrite(Recording* recording, format::FileHeader header, NameMapper* names, const std::string& reason,
                          Output* output);

}  // namespace heaprec::tools
