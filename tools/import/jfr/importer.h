// A JFR file as a recording: its allocations, with the weights that the file gives them, its collections and heap
// summaries, and the old objects that it lists last as survivors of the chunk in which they stand.
//
// The recording has no windows, no intervals and no counts of what was not sampled: its header says where it comes
// from, and readers take each sample as drawn by itself. docs/decisions/0012-imported-weights.md
//
// Memory:   the constants of one chunk of the file, and its allocations, of which a million at most at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/import/jfr/events.h"
#include "tools/text/output.h"

namespace heaprec::tools::jfr {

// What a JFR file is, found in one pass before it is imported: a recording says it in front.

// The last time that old objects (jdk.OldObjectSample) were written: the JVM writes them with each dump.
struct OldObjects {
  uint64_t count = 0;
  uint64_t chunk = 0;  // of the file, from 1
  int64_t seen_ticks = 0;
};

struct JfrScan {
  std::map<EventSet, uint64_t> events;
  uint64_t chunks = 0;
  int64_t start_ns = 0;  // of the first chunk
  OldObjects old_objects;
  uint64_t lost_bytes = 0;  // of events that the JVM dropped (jdk.DataLoss)
  std::string jvm_name, jvm_version;
  uint64_t pid = 0;
  std::string producer = "JFR";  // or "async-profiler"
  // The source of the samples in a file that heaprec exported; else empty.
  std::string heaprec_source;
  std::vector<std::string> doubts;  // why heaprec's recording was not trustworthy
  std::optional<format::SkippedRange> damage;

  uint64_t Count(EventSet set) const;
  // Returns the event set to use: all of them count the same bytes. `asked`: "sample", "tlab" or "auto".
  EventSet Choose(std::string_view asked) const;
};

JfrScan ScanOf(format::ByteSource* source);

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
