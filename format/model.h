// What a recording holds, as values: the reader yields these, the writer takes them.
//
// Units:    time in ns since the start of the recording unless the name says otherwise; sizes in bytes.
// Names:    as HotSpot's symbols have them ("java/lang/String", "[B"); java_names.h turns them into Java's spelling.
// Format:   docs/format.md has a section of the same name for each struct.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heaprec::format {

using RecordingId = std::array<uint8_t, 16>;

// An index into the dictionaries of the chunk in which it was read. 0 is the first entry; kNone means "not known".
using Index = uint32_t;
inline constexpr Index kNone = 0xffffffff;

// Resolution of a sample's time: finer is noise. docs/format.md#conventions
inline constexpr uint64_t kTickNs = 64;

enum class Kind : uint8_t { kTlab = 0, kOutside = 1, kException = 2 };
inline constexpr int kKinds = 3;
inline constexpr std::array kAllocationKinds{Kind::kTlab, Kind::kOutside};

// What is sampled under a throttle of its own: windows, intervals, cap and books are a stream's, and its weights are in
// its unit. docs/format.md#streams
enum class Stream : uint8_t {
  kAllocations = 0,  // the unit is the byte
  kExceptions = 1,   // the unit is the event
};
inline constexpr int kStreams = 2;
inline constexpr std::array kAllStreams{Stream::kAllocations, Stream::kExceptions};
constexpr Stream StreamOf(Kind kind) { return kind == Kind::kException ? Stream::kExceptions : Stream::kAllocations; }

// Windows are numbered across streams: the top bit of an id tells the stream.
inline constexpr uint32_t kWindowStreamBit = 0x80000000;
constexpr Stream StreamOfWindow(uint32_t id) {
  return (id & kWindowStreamBit) != 0 ? Stream::kExceptions : Stream::kAllocations;
}

// What the draws of a stream's second stage depend on, from the first eight bytes of the recording's id (little
// endian): streams draw apart. docs/format.md#intervals
constexpr uint64_t SeedOf(Stream stream, uint64_t recording) {
  return recording ^ uint64_t { static_cast<uint8_t>(stream) } << 63;
}

template <typename T>
struct PerStream {
  std::array<T, kStreams> of{};
  T& operator[](Stream stream) { return of[static_cast<size_t>(stream)]; }
  const T& operator[](Stream stream) const { return of[static_cast<size_t>(stream)]; }
  bool operator==(const PerStream&) const = default;
};

// The bound of a stream.
struct StreamCap {
  uint64_t interval_ns = 0;    // length of a throttle interval; 0: the stream is not recorded
  uint32_t interval_cap = 0;   // most samples an interval may hold
  double rate_per_second = 0;  // as asked for
};

struct Method {
  std::string class_name, name, descriptor;
  bool operator==(const Method&) const = default;
};

// How a frame's code ran when its stack was taken. docs/format.md#dictionaries
enum class FrameType : uint8_t { kUnknown = 0, kInterpreted = 1, kCompiled = 2, kInlined = 3, kNative = 4 };
inline constexpr int kFrameTypes = 5;
const char* FrameTypeName(FrameType type);  // "unknown", "interpreted", "compiled", "inlined", "native"

// The line of a frame without a method that stands for frames that were left out of a stack.
inline constexpr int32_t kGapLine = -2;

struct Frame {
  Index method = kNone;
  int32_t bci = -1;   // -1: native
  int32_t line = -1;  // -1: unknown
  FrameType type = FrameType::kUnknown;
  bool IsGap() const { return method == kNone && line == kGapLine; }
  bool operator==(const Frame&) const = default;
};

// A node of the tree of stacks: the frame, called from `parent` (kNone: the root). A stack is its leaf's index.
struct StackNode {
  Index parent = kNone;
  Index frame = kNone;
  bool truncated = false;  // frames nearer to the root than this node were cut off (set on a root node only)
  bool operator==(const StackNode&) const = default;
};

struct Thread {
  uint64_t java_tid = 0;
  uint32_t os_tid = 0;
  bool is_virtual = false;
  std::string name;
  bool operator==(const Thread&) const = default;
};

// A span of constant probability per byte. docs/sampler.md#windows
struct Window {
  uint32_t id = 0;
  uint64_t start_ns = 0;
  double lambda = 0;  // sample points per byte (exceptions, source tlab: probability per event)
  bool operator==(const Window&) const = default;
};

// What one throttle interval took in and gave out. docs/sampler.md#second-stage
struct Interval {
  uint64_t index = 0;       // [index, index+1) * interval_ns
  uint64_t candidates = 0;  // slow-path allocations, or events, counted
  uint64_t bytes = 0;       // bytes allocated, as counted by the byte clocks; 0 for events
  uint64_t held = 0;        // points that stage 1 put into the ring
  uint64_t kept = 0;        // of these, written as samples
  double tau = 0;           // weights below this were raised to it (0: all were kept)
  Stream stream = Stream::kAllocations;
  bool operator==(const Interval&) const = default;
};

struct Sample {
  uint64_t id = 0;  // unique in the recording
  uint64_t time_ns = 0;
  Kind kind = Kind::kTlab;
  Index thread = kNone, class_id = kNone, stack = kNone;
  uint64_t size = 0;       // of the object; 0 for an exception
  uint64_t tlab_size = 0;  // of the thread's TLAB; 0 outside
  uint32_t window = 0;     // id of the window whose lambda gave the first-stage probability
  double weight = 0;       // what this sample stands for, in its stream's unit (bytes, events): unbiased

  Stream stream() const { return StreamOf(kind); }
  double weight_bytes() const { return stream() == Stream::kAllocations ? weight : 0; }
  // Objects, or events.
  double weight_objects() const {
    if (stream() != Stream::kAllocations) return weight;
    return size > 0 ? weight / static_cast<double>(size) : 0;
  }
  // With which the object, or the event, was included through both stages.
  double probability() const {
    const double own = stream() == Stream::kAllocations ? static_cast<double>(size) : 1;
    return weight > 0 ? own / weight : 0;
  }
};

// What a look at the process showed: heap, collector, threads, memory. A value of 0 is not known.
// docs/format.md#states
enum class StateKind : uint8_t {
  kPeriodic = 0,  // about once a second
  kGcBegin = 1,   // the JVM stands still and begins to collect
  kGcEnd = 2,     // it has, and is about to go on
  kGcCounted = 3  // pauses that the JVM counts but does not announce, since the look before
};
inline constexpr int kStateKinds = 4;

struct HeapState {
  uint64_t id = 0;  // from 1 without gaps: a number that is missing was lost
  uint64_t time_ns = 0;
  StateKind kind = StateKind::kPeriodic;
  uint64_t used = 0, committed = 0;  // bytes of the heap
  uint64_t pauses = 0;               // kGcEnd: 1; kGcCounted: how many
  uint64_t paused_ns = 0;            // in all of them
  uint64_t threads = 0;              // live Java threads
  uint64_t rss = 0;                  // resident bytes of the process
  std::string cause;                 // kGcEnd, and kGcBegin if it is known by then: as HotSpot has it
  bool operator==(const HeapState&) const = default;
};

// Reasons for which a point that fell was not recorded; a counter and a weight for each stand in every block (Books).
enum class Loss : uint8_t {
  kMissed = 0,       // the JVM dropped the event in which the point lay (found afterwards by the byte clock)
  kRingFull = 1,     // no room in any lane
  kLanesBusy = 2,    // every lane was leased
  kNoClock = 3,      // candidates (not points) of threads beyond the number of byte clocks
  kNoStack = 4,      // the JVM gave no stack (still recorded when the rest is known: stack kNone)
  kWriteFailed = 5,  // committed, but the file could not be written (disk full, I/O error)
  kOversized = 6,    // an event too big for a lane
};
inline constexpr int kLosses = 7;
const char* LossName(Loss loss);  // "missed", "ring_full", ... as in summary and docs/format.md

// Of one stream, cumulative since the start; every block carries them, so a gap is quantified.
// points = committed + thinned + lost[kMissed, kRingFull, kLanesBusy, kOversized];
// committed = written + second_stage + lost[kWriteFailed] once all intervals are closed. Events in flight may be
// missing from the right-hand sides, never the other way round.
struct Books {
  uint64_t candidates = 0;       // slow-path allocations, or events, seen
  uint64_t candidate_bytes = 0;  // counted by the byte clocks; 0 for events
  uint64_t points = 0;           // sample points that fell
  uint64_t thinned = 0;          // points dropped at the hit because lambda had fallen since they were armed
  uint64_t committed = 0;        // samples published in the ring
  uint64_t written = 0;          // samples written to the file
  uint64_t second_stage = 0;     // committed samples whose weight others took over (VarOpt)
  // Stacks of allocations, as of the drain's last tick: walked raw; asked of JVMTI; walked, but not what JVMTI said.
  uint64_t stacks_walked = 0, stacks_asked = 0, stacks_differed = 0;
  std::array<uint64_t, kLosses> lost{};
  std::array<double, kLosses> lost_weight{};  // of the lost points, in the stream's unit

  // What was counted since `earlier`; 0 where that cannot be.
  Books Since(const Books& earlier) const;
  bool operator==(const Books&) const = default;
};

// The counters of the books in the order in which files have them.
inline constexpr std::array kBookCounters{
    &Books::candidates, &Books::candidate_bytes, &Books::points,        &Books::thinned,      &Books::committed,
    &Books::written,    &Books::second_stage,    &Books::stacks_walked, &Books::stacks_asked, &Books::stacks_differed};

// Where a file begins in its recording: not at its start, if older chunks were dropped (maxsize, maxage) or the
// recording goes on from another file (rotation).
struct FileStart {
  uint32_t part = 0;                                  // number of the file in the recording, from 0
  uint64_t begin_ns = 0;                              // what was recorded before is not in this file
  PerStream<Books> books;                             // of what is not in this file
  PerStream<uint64_t> next_interval, held_intervals;  // the first that may be in it; how many before it held points
  std::vector<uint64_t> lane_positions;               // as Block's, before the first block
  bool operator==(const FileStart&) const = default;
};

// Stands at the start of the file; never the application's arguments or environment.
struct FileHeader {
  uint32_t version = 2;  // of the format; what is written is always the newest
  RecordingId recording_id{};
  uint64_t start_epoch_ns = 0;      // time 0 of the recording, as wall-clock time
  uint64_t start_monotonic_ns = 0;  // the same instant on CLOCK_MONOTONIC
  uint64_t interval_ns = 0;         // as StreamCap, of the allocations
  uint32_t interval_cap = 0;
  double rate_per_second = 0;
  StreamCap exceptions;
  std::string exceptions_refused;  // why they are not recorded though they were asked for
  uint64_t max_samples = 0;        // most samples of allocations the recording may hold; 0: no bound
  uint64_t duration_ns = 0;        // as asked for; 0: until it is stopped
  uint32_t pid = 0;
  std::string boot_id, container_id;
  std::string jvm_name, jvm_version, gc_name;
  std::string agent_version, agent_options;
  std::string source, source_reason;  // "hooks" | "jvmti" | "tlab", and why it was chosen
  std::string ring_path;              // empty: no shared ring
  FileStart start;

  StreamCap CapOf(Stream stream) const {
    return stream == Stream::kExceptions ? exceptions : StreamCap{interval_ns, interval_cap, rate_per_second};
  }
};

// Why and when the recording ended; absent in a recording that was cut off.
struct Ending {
  uint64_t time_ns = 0;
  std::string reason;  // "jvm exit", "duration", "stop", ...
};

}  // namespace heaprec::format
