// Imports a JFR file as a recording: its allocations, with the weights in the file, its collections and heap summaries,
// and the last old objects as survivors of their chunk, with what held them as a search of the heap.
//
// The recording has no windows, no intervals and no counts of unsampled bytes: its header has its origin, and readers
// treat each sample as drawn independently. docs/decisions.md#12-imported-weights
//
// Memory:   the constants of one chunk of the file, and its allocations, at most a million at a time.
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

// Properties of a JFR file, found in one pass before the import; they go into the recording's header.

// The last old objects (jdk.OldObjectSample) in the file: the JVM writes them with each dump.
struct OldObjects {
  uint64_t count = 0;
  uint64_t with_root = 0;  // of these
  uint64_t chunk = 0;      // number in the file, from 1
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
  // Source of the samples in a file that heaprec exported; otherwise empty.
  std::string heaprec_source;
  std::vector<std::string> doubts;  // why heaprec's recording was not trustworthy
  std::optional<format::SkippedRange> damage;

  uint64_t Count(EventSet set) const;
  // Returns the event set to use, because all of them cover the same bytes. `asked`: "sample", "tlab" or "auto".
  EventSet Choose(std::string_view asked) const;
};

JfrScan ScanOf(format::ByteSource* source);

struct Imported {
  uint64_t samples = 0;
  uint64_t collections = 0;
  uint64_t old_objects = 0;
  uint64_t paths = 0;    // of these, objects with what held them
  uint64_t refused = 0;  // events of the set that cannot be read, or represent no bytes
  std::optional<format::SkippedRange> damage;
};

// Returns the header of the recording.
format::FileHeader HeaderOf(const JfrScan& scan, EventSet set);

// Writes all of it. `scan`: of this source. Returns an Error if it cannot be encoded.
Result<Imported> Import(format::ByteSource* source, const format::FileHeader& header, const JfrScan& scan, EventSet set,
                        Output* output);

}  // namespace heaprec::tools::jfr
