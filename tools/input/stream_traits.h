// What reports and exports need to know about each stream: one row a stream. A new stream needs a row here, a source in
// recorder/sources and its report; what is the same for all streams reads the row.
//
// Streams:  docs/streams.md
#pragma once

#include <array>

#include "format/model/model.h"
#include "format/model/stream.h"
#include "tools/input/program_recording.h"

namespace heaprec::tools {

// Of what is tracked until it is gone.
struct LifecycleTerms {
  const char* things;            // "objects"
  const char* ended = "";        // "died"; empty: they are not tracked
  const char* option = "";       // of the agent, by which they are tracked
  bool is_collected = true;      // collections find out what died; else each end is known at once
  const char* not_tracked = "";  // said behind the name of a recording that does not track them

  constexpr bool is_tracked() const { return ended[0] != 0; }
};

inline constexpr char kNoCollections[] = "the recording does not say when the JVM collected";

struct StreamTraits {
  format::Stream stream;
  const char* name;          // in SQL and on the report page
  const char* json_path;     // of its members in JSON documents; those of the heap are the document's own
  const char* prefix;        // of sentences about it
  const char* event;         // the type of its samples in `print`
  const char* verb;          // what happened to the bytes or events: "allocated"
  const char* not_recorded;  // said behind the name of a recording without it
  bool counts_calls;         // its candidates are calls of one of the program's functions: malloc, mmap
  bool is_in_jfr;            // JFR has an event for it
  LifecycleTerms lifecycle;
};

inline constexpr std::array<StreamTraits, format::kStreams> kStreamTraits{{
    {.stream = format::Stream::kAllocations,
     .name = "allocations",
     .json_path = "",
     .prefix = "",
     .event = "heaprec.AllocationSample",
     .verb = "allocated",
     .not_recorded = kNoHeap,
     .counts_calls = false,
     .is_in_jfr = true,
     .lifecycle = {.things = "objects", .ended = "died", .option = "live=on", .not_tracked = kNoLive}},
    {.stream = format::Stream::kExceptions,
     .name = "exceptions",
     .json_path = "exceptions.",
     .prefix = "exceptions: ",
     .event = "heaprec.ExceptionSample",
     .verb = "thrown",
     .not_recorded = ": exceptions were not recorded; record with exceptions=on: heaprec record --set exceptions=on -- "
                     "java ...",
     .counts_calls = false,
     .is_in_jfr = true,
     .lifecycle = {.things = "objects", .not_tracked = ": exceptions are not tracked; use another kind"}},
    {.stream = format::Stream::kNative,
     .name = "native",
     .json_path = "malloc.",
     .prefix = "native memory: ",
     .event = "heaprec.NativeSample",
     .verb = "allocated",
     .not_recorded = kNoNative,
     .counts_calls = true,
     .is_in_jfr = false,
     .lifecycle = {.things = "blocks",
                   .ended = "freed",
                   .option = "native=on",
                   .is_collected = false,
                   .not_tracked = kNoNative}},
    {.stream = format::Stream::kMapping,
     .name = "mapped",
     .json_path = "mmap.",
     .prefix = "mappings: ",
     .event = "heaprec.NativeSample",
     .verb = "mapped",
     .not_recorded = kNoNative,
     .counts_calls = true,
     .is_in_jfr = false,
     .lifecycle = {.things = "mappings",
                   .ended = "unmapped",
                   .option = "native=on",
                   .is_collected = false,
                   .not_tracked = kNoNative}},
}};

constexpr const StreamTraits& TraitsOf(format::Stream stream) { return kStreamTraits[static_cast<size_t>(stream)]; }
static_assert([] {
  for (const format::Stream stream : format::kAllStreams) {
    if (TraitsOf(stream).stream != stream) return false;
  }
  return true;
}());

// The kinds of samples, and of what else stands on the time axis, as options, text and exports spell them.
inline constexpr char kCollectionKind[] = "gc", kHeapKind[] = "heap", kMemoryKind[] = "memory", kCpuKind[] = "cpu",
                      kCensusKind[] = "census";

inline const char* LifecycleKindName(format::LifecycleKind kind) {
  switch (kind) {
    case format::LifecycleKind::kDied:
      return "died";
    case format::LifecycleKind::kEvicted:
      return "released";
    case format::LifecycleKind::kUntracked:
      return "not_followed";
    case format::LifecycleKind::kShrunk:
      return "shrunk";
  }
  return "?";
}

inline const char* KindName(format::Kind kind) {
  switch (kind) {
    case format::Kind::kTlab:
      return "tlab";
    case format::Kind::kOutside:
      return "outside";
    case format::Kind::kException:
      return "exception";
    case format::Kind::kNative:
      return "native";
    case format::Kind::kMapping:
      return "mapped";
  }
  return "?";
}

}  // namespace heaprec::tools
