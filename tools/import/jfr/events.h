// The events of a JFR file that tell of allocations and of the heap, whoever wrote it: fields are found by their names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/model.h"
#include "format/model/process_state.h"
#include "tools/import/jfr/constants.h"
#include "tools/import/jfr/file.h"
#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {

// Which events stand for the allocations of a file: each counts the same bytes in its way.
enum class EventSet : uint8_t {
  kSamples,  // jdk.ObjectAllocationSample: since JDK 16, throttled
  kTlabs,    // jdk.ObjectAllocationInNewTLAB and -OutsideTLAB: all of them, or those that async-profiler took
  // heaprec.AllocationSample: the same samples with all that heaprec knows of them. Its weights are never calibrated.
  kOwnSamples,
};
std::optional<EventSet> EventSetOf(std::string_view event_name);

struct Allocation {
  int64_t ticks = 0;
  uint64_t thread = 0, stack = 0, object_class = 0, labels = 0;  // keys of constants; 0: none
  uint64_t size = 0;                                             // of the object; 0: the file does not say
  uint64_t tlab_size = 0;
  format::Kind kind = format::Kind::kTlab;
  double weight = 0;  // bytes
};

// Reads an event whose EventSetOf is known; nullopt: it cannot be read, or represents no bytes.
std::optional<Allocation> ReadAllocation(const Event& event);

// The events of a chunk of a JFR file that describe the heap: collections, heap summaries and old objects.
//
//   jdk.GCPhasePause       a collection of the recording: when its pause began and ended
//   jdk.GarbageCollection  the cause of these pauses, by their gcId; itself a pause if the file has no event of one
//   jdk.GCHeapSummary      used and committed bytes: before and after the pause if the collection has one pause, else
//                          (concurrent collectors) at its own time
//   jdk.OldObjectSample    an object that was alive when the file was written
//
// Failure:  an event that cannot be read, or lacks a field, is left out; a value that is missing is 0: not known.
struct OldObject {
  int64_t seen_ticks = 0, born_ticks = 0;
  uint64_t thread = 0, stack = 0, object_class = 0, labels = 0;  // keys of constants; 0: none
  uint64_t size = 0;                                             // 0: the file does not say (JDK 17 and before)
  double weight = 0;  // bytes that it represents; 0: unknown, as in files that heaprec did not write
};

bool IsOldObject(std::string_view event_name);
// nullopt: it cannot be read. `constants`: of its chunk.
std::optional<OldObject> ReadOldObject(const Event& event, const Constants& constants);

class Collections {
 public:
  // Ignores events of other kinds.
  void Add(const Event& event, const Constants& constants);
  // The smallest gcId; nullopt: there is none.
  std::optional<uint64_t> FirstId() const;
  // In order of time, without ids; times are since `start_ns`, the start of the recording. `first_id`: of the first
  // collection in the file. What the JVM collected before that is not counted: no object of the file survived it.
  std::vector<format::ProcessState> States(const ChunkHeader& header, int64_t start_ns, uint64_t first_id) const;

 private:
  struct Span {
    int64_t begin = 0, length = 0;  // ticks
    uint64_t paused = 0;            // ticks
  };
  struct Summary {
    int64_t ticks = 0;
    bool is_after = false;
    uint64_t used = 0, committed = 0;
  };
  struct Collection {
    std::string cause;
    std::vector<Span> whole, pauses;
    std::vector<Summary> summaries;
  };
  // `number`: of the collection in the file, from 1.
  static void AddStates(uint64_t number, const Collection& collection, const ChunkHeader& header, int64_t start_ns,
                        std::vector<format::ProcessState>* states);

  std::map<uint64_t, Collection> collections_;  // by gcId
};

}  // namespace heaprec::tools::jfr
