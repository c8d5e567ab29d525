// Which kind of recording a header describes: of a heap or of native memory alone, whole or a later part, imported.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "format/model/model.h"

namespace heaprec::tools {

// Recordings of programs without a JVM: of native memory alone. docs/format/recording.md#file-header

// Their `source`.
inline constexpr char kPreloaded[] = "preload";

// Said behind the name of such a recording, of whose heap something was asked.
inline constexpr char kNoHeap[] = ": the recording has native memory only, no heap; add --kind malloc";

// Likewise, of whose native memory something was asked.
inline constexpr char kNoNative[] =
    ": native memory was not sampled; record with native=on: heaprec record --set native=on -- java ...; for a program "
    "without a JVM: heaprec record --native=sampled -- ./program";

// Likewise, of which it was asked what is live.
inline constexpr char kNoLive[] =
    ": objects were not tracked; record a JVM without live=off: heaprec record -- java ...";

// Whether allocations of the heap were recorded.
inline bool HasHeap(const format::FileHeader& header) { return header.interval_ns > 0; }

// The stream by which a recording's own times and rates are told.
inline format::Stream MainStream(const format::FileHeader& header) {
  return HasHeap(header) || header.native.interval_ns == 0 ? format::Stream::kAllocations : format::Stream::kNative;
}

// Whether the recording began before this file: a later part of it, or one that has dropped its oldest data.
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

// The value of a service label; empty: there is none.
inline std::string ServiceLabelOf(const format::FileHeader& header, std::string_view key) {
  const auto label = std::ranges::find(header.service_labels, key, &format::ServiceLabel::key);
  return label != header.service_labels.end() ? label->value : "";
}

// The file of a program without a JVM; empty: there is one.
inline std::string ProgramOf(const format::FileHeader& header) {
  return header.source == kPreloaded ? header.jvm_name : "";
}

// Sources of imported recordings, as their headers have them. docs/decisions/0012-imported-weights.md

// Samples of another recorder: their weights are biased, and their chances of inclusion are not known.
inline constexpr char kImported[] = "imported";
// Samples of heaprec's that went through another format: unbiased, but windows and counts are lost.
inline constexpr char kImportedOwn[] = "imported from heaprec";

// In `source_reason` beside SourceFact::kOriginalDoubted; the original's reasons follow it.
inline constexpr std::string_view kWasDoubted = "the exported recording was not trustworthy: ";

// Whether only the old objects of an import were tracked: nothing stands for the samples that were not.
inline bool IsImported(std::string_view source) { return source == kImported || source == kImportedOwn; }

// Whether sums of recordings from this source are biased, however many samples there are.
inline bool IsBiased(std::string_view source) { return source == kImported; }

}  // namespace heaprec::tools
