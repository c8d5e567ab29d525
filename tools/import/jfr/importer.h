// A JFR file as a recording: its allocations, with the weights that the file gives them, its collections and heap
// summaries, and the old objects that it lists last (heap_events.h) as survivors of the chunk in which they stand.
//
// The recording has no windows, no intervals and no counts of what was not sampled: its header says where it comes
// from, and readers take each sample as drawn by itself. docs/decisions/0012-imported-weights.md
//
// Memory:   the constants of one chunk of the file, and its allocations, of which a million at most at once.
// Threads:  one.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/import/jfr/allocations.h"
#include "tools/import/jfr/jfr_scan.h"
#include "tools/text/output.h"

namespace heaprec::tools::jfr {

struct Imported {
  uint64_t samples = 0;
  uint64_t collections = 0;
  uint64_t old_objects = 0;
  uint64_t refused = 0;  // events of the set that cannot be read, or stand for no bytes
  std::optional<format::SkippedRange> damage;
};

// The header of the recording.
format::FileHeader HeaderOf(const JfrScan& scan, EventSet set);

// Writes all of it. `scan`: of this source. An error: it cannot be encoded.
Result<Imported> Import(format::ByteSource* source, const format::FileHeader& header, const JfrScan& scan, EventSet set,
                        Output* output);

}  // namespace heaprec::tools::jfr
