// What a JFR file is, found in one pass before it is imported: a recording says it in front.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/reader/reader.h"
#include "tools/import/jfr/allocations.h"

namespace heaprec::tools::jfr {

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

}  // namespace heaprec::tools::jfr
