// What a file says about its recording as a whole: the header before the first chunk, and the end marker.
//
// Units:    time in ns since the start of the recording unless the name says otherwise.
// Format:   docs/format/recording.md#file-header
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/census.h"
#include "format/model/stream.h"

namespace heaprec::format {

// The point of the recording at which a file begins. It is not 0 if older chunks were dropped (maxsize, maxage) or the
// recording continues from another file (rotation).
struct FileStart {
  uint32_t part = 0;                   // number of the file in the recording, from 0
  uint64_t begin_ns = 0;               // earlier data is not in this file
  PerStream<StreamCounters> counters;  // their values at `begin_ns`
  PerStream<uint64_t> next_interval,
      // the first index that may be in the file; how many earlier intervals had points
      intervals_with_points;
  std::vector<uint64_t> lane_positions;  // as in Block, before the first block
  bool operator==(const FileStart&) const = default;
};

// Facts about the source on which readers base decisions: bits of FileHeader::source_facts.
enum class SourceFact : uint32_t {
  // the JVM draws the thresholds, and with wrong rates where objects are allocated outside TLABs
  kBiasedOutsideTlabs = 1,
  kAllocatesInline = 2,      // the JVM has no TLABs, and its compiled code allocates without calling the hooks
  kKeepsYoungReferents = 4,  // only major collections clear weak references to young objects
  kOriginalDoubted = 8,      // import of a recording that was not trustworthy
  kOutsideUncounted = 16,    // the hooks do not count bytes allocated outside TLABs
};

// A label of the service to which the process belongs: docs/format/recording.md#service-labels
struct ServiceLabel {
  std::string key, value;
  bool operator==(const ServiceLabel&) const = default;
};

// A limit or an option of the JVM that decides how much memory it may use: docs/format/recording.md#settings
struct Setting {
  enum class Origin : uint8_t { kUnknown = 0, kDefault = 1, kSet = 2, kChosen = 3 };
  std::string name;   // "MaxHeapSize"
  std::string value;  // a decimal number, "true", "false", or text
  Origin origin = Origin::kUnknown;
  bool operator==(const Setting&) const = default;
};

// The options of the JVM that are settings; of those that run a command or name a path only whether they are set.
inline constexpr std::array<std::string_view, 26> kJvmSettings{"MaxHeapSize",
                                                               "InitialHeapSize",
                                                               "MaxRAMPercentage",
                                                               "MaxRAM",
                                                               "SoftMaxHeapSize",
                                                               "MaxDirectMemorySize",
                                                               "MaxMetaspaceSize",
                                                               "CompressedClassSpaceSize",
                                                               "UseCompressedClassPointers",
                                                               "ReservedCodeCacheSize",
                                                               "ThreadStackSize",
                                                               "UseGCOverheadLimit",
                                                               "GCTimeLimit",
                                                               "GCHeapFreeLimit",
                                                               "ExitOnOutOfMemoryError",
                                                               "CrashOnOutOfMemoryError",
                                                               "HeapDumpOnOutOfMemoryError",
                                                               "OnOutOfMemoryError",
                                                               "OnError",
                                                               "ErrorFile",
                                                               "HeapDumpPath",
                                                               "UseContainerSupport",
                                                               "ActiveProcessorCount",
                                                               "NativeMemoryTracking",
                                                               "ReduceSignalUsage",
                                                               "AlwaysPreTouch"};

// At the start of the file. Does not contain the application's arguments or environment, except the service's labels.
struct FileHeader {
  RecordingId recording_id{};
  uint64_t start_epoch_ns = 0;      // time 0 of the recording, as wall-clock time
  uint64_t start_monotonic_ns = 0;  // the same instant on CLOCK_MONOTONIC
  uint64_t interval_ns = 0;         // as in StreamCap, for the allocations
  uint32_t interval_cap = 0;
  double rate_per_second = 0;
  StreamCap exceptions, native, mapped;
  uint32_t max_tracked_objects = 0;           // maximum objects tracked at a time; 0: none
  uint32_t max_tracked_blocks = 0;            // maximum blocks of native memory tracked at a time; 0: none
  uint32_t max_tracked_mappings = 0;          // maximum mappings tracked at a time; 0: none
  std::string exceptions_unavailable_reason;  // why requested exceptions are not recorded
  std::string native_unavailable_reason;      // why requested native samples are not recorded
  std::string native_not_seen;                // calls that native sampling cannot see; empty: it is off
  CensusMode census = CensusMode::kOff;
  double census_per_second = 0;           // for kDrawn: maximum walks per second, as requested
  std::string census_unavailable_reason;  // why there is no census although it was requested
  uint64_t max_samples = 0;               // maximum samples of allocations in the recording; 0: no limit
  uint64_t duration_ns = 0;               // as requested; 0: until it is stopped
  uint32_t pid = 0;
  std::string boot_id, container_id;
  std::string jvm_name, jvm_version, gc_name;
  std::string agent_version, agent_options;
  // source: "hooks" or "jvmti"; source_reason: why it was chosen, for people to read
  std::string source, source_reason;
  uint32_t source_facts = 0;  // bits of SourceFact
  std::string ring_path;      // empty: no shared ring
  FileStart start;
  std::vector<ServiceLabel> service_labels;
  std::vector<Setting> settings;

  StreamCap CapOf(Stream stream) const {
    const std::array caps{StreamCap{interval_ns, interval_cap, rate_per_second}, exceptions, native, mapped};
    return caps[static_cast<size_t>(stream)];
  }
  uint32_t MaxTracked(Stream stream) const {
    const std::array<uint32_t, kStreams> bounds{max_tracked_objects, 0, max_tracked_blocks, max_tracked_mappings};
    return bounds[static_cast<size_t>(stream)];
  }
  bool Has(SourceFact fact) const { return (source_facts & static_cast<uint32_t>(fact)) != 0; }
  void Note(SourceFact fact) { source_facts |= static_cast<uint32_t>(fact); }
  bool tracks() const { return max_tracked_objects > 0 || max_tracked_blocks > 0 || max_tracked_mappings > 0; }
};

// Reasons of end markers that readers distinguish: docs/format/recording.md#end-marker
inline constexpr char kEndRotated[] = "rotated";                     // continues in the next file
inline constexpr char kEndDump[] = "dump";                           // a copy; the recording continues
inline constexpr char kEndTrim[] = "trim";                           // contains a part of the recording
inline constexpr char kEndRecovered[] = "recovered";                 // a copy of a recording that was cut off
inline constexpr char kEndNothingRecovered[] = "nothing recovered";  // nothing of the recording could be read

// Whether the recording goes on elsewhere after an end marker with this reason.
constexpr bool ContinuesAfter(std::string_view reason) { return reason == kEndRotated || reason == kEndDump; }

// Why and when the recording ended; absent in a recording that was cut off.
struct EndMarker {
  uint64_t time_ns = 0;
  std::string reason;  // "jvm exit", "duration", "stop", ...
};

// What recorder and tools need to know of HotSpot's collectors, named as in FileHeader::gc_name.
//
// Context:  pure functions.

// Whether most collections ignore the old generation, and the JVM counts the others. Only those find dead objects in
// it.
constexpr bool HasOldGeneration(std::string_view gc_name) {
  return gc_name == "Serial" || gc_name == "Parallel" || gc_name == "G1";
}

// Whether the collector reclaims between its pauses.
constexpr bool IsConcurrent(std::string_view gc_name) { return gc_name == "Z" || gc_name == "Shenandoah"; }

}  // namespace heaprec::format
