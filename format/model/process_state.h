// The state of the process over time: heap, collections, threads, memory.
//
// Units:    time in ns since the start of the recording unless the name says otherwise; sizes in bytes.
// Format:   docs/format/recording.md#states
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "format/model/names.h"
#include "format/model/process_account.h"

namespace heaprec::format {

// What a snapshot of the process contains. A field of 0 is unknown. docs/format/recording.md#states
enum class ProcessStateKind : uint8_t {
  kSnapshot = 0,   // about once a second
  kGcBegin = 1,    // the JVM has stopped its threads and begins to collect
  kGcEnd = 2,      // the JVM has collected and is about to resume its threads
  kGcCounted = 3,  // pauses since the previous snapshot that the JVM counts but does not announce
  kMemory = 4,     // memory: a category of the JVM's own (NMT), or the process as the kernel sees it
  kCpu = 5,        // CPU time of the process, about once a second
  // Events: what ends a process, or foretells its end. They have names, and `cause` is a message.
  kResourceExhausted = 6,  // the JVM has reported it (JVMTI)
  kError = 7,              // an OutOfMemoryError or StackOverflowError was made
  kExit = 8,               // System.exit or Runtime.halt was called
  kSignal = 9,             // a signal that ends the process was delivered
  kUncaught = 10,          // the main thread ended by an exception
  kThreadStarts = 11,      // threads started at a site since its previous row
  kHeapFull = 12,          // the heap is exhausted: what is live at this time is what filled it
  kPathWalk = 13,          // the heap was searched for what holds the tracked objects
  kPath = 14,              // what held one of them then: its stack
};
inline constexpr int kProcessStateKinds = 15;
inline constexpr bool IsEvent(ProcessStateKind kind) { return kind >= ProcessStateKind::kResourceExhausted; }
// Whether used and committed bytes of a row are those of the heap.
inline constexpr bool IsOfHeap(ProcessStateKind kind) { return kind < ProcessStateKind::kMemory; }

// What ProcessState::used and ::committed are of an event. docs/format/recording.md#events
//                      used                                             committed
// kResourceExhausted   flags of JVMTI's ResourceExhausted               0
// kError               errors of this class so far, this one included   1: the JVM then ended itself (an option)
// kExit                the exit code as 32 bits, plus 1; 0: not known   1: halt, 0: exit
// kSignal              number of the signal                             pid of the sender; 0: none or not known
// kUncaught            0                                                0
// kThreadStarts        threads that started                             starts that failed
// kHeapFull            used bytes of the old generation, or the heap    its largest size
// kPathWalk            objects that were searched                       WalkEnd, and 256 times the number of the walk
// kPath                id of the sample; 0: of a holder                 PathStrength, and the same
//
// Of kPathWalk, `pauses` is the number of samples with a path. Of kPath it has a bit for each holder without which the
// sample would be garbage; of a holder, its own bit. docs/format/recording.md#paths

// Why a search ended.
enum class WalkEnd : uint8_t {
  kComplete = 0,
  kTime = 1,    // paths.pause was over
  kMemory = 2,  // paths.memory was used
  kRoots = 3,   // paths.pause was over before all roots were known
  kFailed = 4,  // the search could not be made; the reason is the row's text
};

// The weakest reference on the way from a root to an object.
enum class PathStrength : uint8_t { kStrong = 0, kSoft = 1, kFinal = 2 };

// What a path begins with: the bci of the last frame of its stack.
enum class RootKind : uint8_t {
  kUnknown = 0,
  kStatic = 1,    // a class that is never unloaded; the frame is one of its static fields, or its constants
  kLocal = 2,     // a local variable; the frame is its method
  kJniLocal = 3,  // a local reference of native code; the frame is its native method
  kJniGlobal = 4,
  kThread = 5,  // a thread that runs
  kMonitor = 6,
  kJvm = 7,  // the JVM itself
};
inline constexpr uint64_t kWalkNumber = 256;

// Names of a path's frames that are not fields.
inline constexpr char kElementStep[] = "[]", kClassStep[] = "<class>", kConstantsStep[] = "<constants>",
                      kHiddenStep[] = "<hidden>";

struct ProcessState {
  uint64_t id = 0;  // from 1 without gaps: if a number is missing, the row was lost
  uint64_t time_ns = 0;
  ProcessStateKind kind = ProcessStateKind::kSnapshot;
  // Bytes of the heap. kMemory of a category: its reserved bytes (used) and committed bytes. kMemory of the process:
  // its proportional share of resident memory (PSS), and its private memory. kCpu: CPU time in ns since the start of
  // the process, of all its threads, and of the collector's threads.
  uint64_t used = 0, committed = 0;
  uint64_t pauses = 0;       // kGcEnd: 1; kGcCounted: their number; kPathWalk: of paths; kPath: bits
  uint64_t paused_ns = 0;    // total duration of these pauses; kPathWalk: of the search's pause
  uint64_t threads = 0;      // live Java threads
  uint64_t rss = 0;          // resident bytes of the process
  uint64_t collections = 0;  // collections since the start of the JVM; each counts from its beginning
  // How many of these also searched the old generation for dead objects; nullopt: unknown, or there is no old
  // generation.
  std::optional<uint64_t> old_collections;
  // kGcEnd, and kGcBegin if it is known by then: as HotSpot spells it; kMemory: category, or empty. kResourceExhausted,
  // kError, kUncaught: the message; kSignal: the sender's program; kHeapFull: why; kThreadStarts: the thread's name
  std::string cause;
  Index thread = kNone, stack = kNone, class_id = kNone;  // of an event; the class of kError and kUncaught
  ProcessAccount account;                                 // of kSnapshot
  bool operator==(const ProcessState&) const = default;
};

}  // namespace heaprec::format
