// The kind of recording that a header describes: of a heap or only of native memory, whole or a later part, imported.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "format/model/model.h"

namespace heaprec::tools {

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

}  // namespace heaprec::tools
