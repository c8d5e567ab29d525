// What reports and exports say of a recording: its kind, and properties of each stream, one row per stream. A new
// stream needs a row here, a source in recorder/sources and its report; all common code reads the row.
//
// Streams:  docs/streams.md
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "format/model/model.h"
#include "format/model/stream.h"

namespace heaprec::tools {

// The kind of recording that a header describes: of a heap or only of native memory, whole or a later part, imported.

// Recordings of programs without a JVM contain only native memory. docs/format/recording.md#file-header

// Their `source`.
inline constexpr char kPreloaded[] = "preload";

// Printed after the name of a recording without a heap, if a query needs one.
inline constexpr char kNoHeap[] = ": the recording has native memory only, no heap; add --kind malloc";

// The same for a recording without native memory.
inline constexpr char kNoNative[] =
    ": native memory was not sampled; record with native=on: heaprec record --set native=on -- java ...; for a program "
    "without a JVM: heaprec record --native=sampled -- ./program";

// The same for a recording without live objects.
inline constexpr char kNoLive[] =
    ": objects were not tracked; record a JVM without live=off: heaprec record -- java ...";

// Whether allocations of the heap were recorded.
inline bool HasHeap(const format::FileHeader& header) { return header.interval_ns > 0; }

// The stream whose times and rates represent the recording.
inline format::Stream MainStream(const format::FileHeader& header) {
  return HasHeap(header) || header.native.interval_ns == 0 ? format::Stream::kAllocations : format::Stream::kNative;
}

// Whether the recording began before this file: this is a later part, or has dropped its oldest data.
inline bool IsLaterPart(const format::FileHeader& header) {
  format::FileStart only_time;
  only_time.begin_ns = header.start.begin_ns;
  return header.start != only_time;
}

// Returns the time since the recording's start before which the file has no data of the stream. A trimmed file may
// begin within its first interval.
inline uint64_t BeginNs(const format::FileHeader& header, format::Stream stream) {
  if (!IsLaterPart(header)) return header.start.begin_ns;
  return header.start.next_interval[stream] * header.CapOf(stream).interval_ns;
}

// Returns the value of a service label; empty: none.
inline std::string ServiceLabelOf(const format::FileHeader& header, std::string_view key) {
  const auto label = std::ranges::find(header.service_labels, key, &format::ServiceLabel::key);
  return label != header.service_labels.end() ? label->value : "";
}

// Returns the file of a program without a JVM; empty: there is a JVM.
inline std::string ProgramOf(const format::FileHeader& header) {
  return header.source == kPreloaded ? header.jvm_name : "";
}

// Sources of imported recordings, as in their headers. docs/decisions.md#12-imported-weights

// Samples of another recorder: their weights are biased, and their inclusion probabilities unknown.
inline constexpr char kImported[] = "imported";
// Samples of heaprec that were exported to another format: unbiased, but without windows and counts.
inline constexpr char kImportedOwn[] = "imported from heaprec";

// In `source_reason` with SourceFact::kOriginalDoubted; followed by the original's reasons.
inline constexpr std::string_view kWasDoubted = "the exported recording was not trustworthy: ";

// Whether only the old objects of an import were tracked: nothing represents the untracked samples.
inline bool IsImported(std::string_view source) { return source == kImported || source == kImportedOwn; }

// Whether sums of recordings from this source are biased, even with many samples.
inline bool IsBiased(std::string_view source) { return source == kImported; }

// The words for tracked samples of a stream.
struct LifecycleTerms {
  const char* things;            // "objects"
  const char* ended = "";        // "died"; empty: samples of the stream are not tracked
  const char* option = "";       // the agent option that tracks them
  bool is_collected = true;      // collections find dead ones; otherwise each end is known at once
  const char* not_tracked = "";  // follows the name of a recording that does not track them

  constexpr bool is_tracked() const { return ended[0] != 0; }
};

// Why survived collections are unknown.
inline constexpr char kNoCollections[] = "the recording does not say when the JVM collected";
inline constexpr char kNoCheck[] = "the file ends before the agent checked tracked objects after a collection";

struct StreamTraits {
  format::Stream stream;
  const char* name;          // in SQL and on the report page
  const char* json_path;     // of its members in JSON documents; those of the heap are at the top level
  const char* prefix;        // of messages about it
  const char* event;         // the type of its samples in `print`
  const char* verb;          // what happened to the bytes or events: "allocated"
  const char* not_recorded;  // follows the name of a recording without it
  bool counts_calls;         // its candidates are calls of a function of the program: malloc, mmap
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
     .name = "malloc",
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
     .name = "mmap",
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

// How kinds of samples and of states are spelled in options, text and exports.
inline constexpr char kCollectionKind[] = "gc", kHeapKind[] = "heap", kMemoryKind[] = "memory", kCpuKind[] = "cpu",
                      kEventKind[] = "event", kPathKind[] = "path", kCensusKind[] = "census", kRowKind[] = "row";

inline const char* StateKindName(format::ProcessStateKind kind) {
  if (kind == format::ProcessStateKind::kMemory) return kMemoryKind;
  if (kind == format::ProcessStateKind::kCpu) return kCpuKind;
  if (kind == format::ProcessStateKind::kPath) return kPathKind;
  if (format::IsEvent(kind)) return kEventKind;
  return kind == format::ProcessStateKind::kSnapshot ? kHeapKind : kCollectionKind;
}

inline const char* LifecycleKindName(format::LifecycleKind kind) {
  static constexpr std::array kNames{"died", "evicted", "untracked", "shrunk"};
  static_assert(kNames.size() == format::kLifecycleKinds);
  return kNames[static_cast<size_t>(kind)];
}

// A row can have points of any kind: "[unknown]".
inline const char* KindName(format::Kind kind) {
  static constexpr std::array kNames{"tlab", "outside", "exception", "malloc", "mmap", "[unknown]"};
  static_assert(kNames.size() == format::kKinds + 1);
  return kNames[std::min(static_cast<size_t>(kind), kNames.size() - 1)];
}

// What happened, of an event of the process.
inline const char* EventName(format::ProcessStateKind kind) {
  static constexpr std::array kNames{"resource exhausted", "error",     "exit",          "signal", "uncaught exception",
                                     "thread starts",      "heap full", "heap searched", "path"};
  constexpr auto kFirst = static_cast<size_t>(format::ProcessStateKind::kResourceExhausted);
  static_assert(kNames.size() == format::kProcessStateKinds - kFirst);
  return kNames[static_cast<size_t>(kind) - kFirst];
}

}  // namespace heaprec::tools
