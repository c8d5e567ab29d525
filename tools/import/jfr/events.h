// Reads events of a JFR file about allocations and the heap, from any producer: fields are found by name.
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

// Which events are used for the allocations of a file: each kind covers the same bytes.
enum class EventSet : uint8_t {
  kSamples,  // jdk.ObjectAllocationSample: since JDK 16, throttled
  kTlabs,    // jdk.ObjectAllocationInNewTLAB and -OutsideTLAB: all of them, or async-profiler's samples
  // heaprec.AllocationSample: the same samples with all fields of heaprec. Its weights are never calibrated.
  kOwnSamples,
};
std::optional<EventSet> EventSetOf(std::string_view event_name);

struct Allocation {
  int64_t ticks = 0;
  uint64_t thread = 0, stack = 0, object_class = 0, labels = 0;  // keys of constants; 0: none
  uint64_t size = 0;                                             // of the object; 0: not in the file
  uint64_t tlab_size = 0;
  format::Kind kind = format::Kind::kTlab;
  double weight = 0;  // bytes
};

// Reads an event whose EventSetOf is known; nullopt: it cannot be read, or represents no bytes.
std::optional<Allocation> ReadAllocation(const Event& event);

// A jdk.OldObjectSample: an object that was live when the file was written.
struct OldObject {
  int64_t seen_ticks = 0, born_ticks = 0;
  uint64_t thread = 0, stack = 0, object_class = 0, labels = 0;  // keys of constants; 0: none
  uint64_t size = 0;                                             // 0: not in the file (JDK 17 and before)
  double weight = 0;      // bytes that it represents; 0: unknown, as in files that heaprec did not write
  bool has_root = false;  // and references to it, if these are not direct ones
};

bool IsOldObject(std::string_view event_name);
// Returns nullopt if it cannot be read. `constants`: of its chunk.
std::optional<OldObject> ReadOldObject(const Event& event, const Constants& constants);
// Of an event with a root. References of the same field that follow each other are one step, as in a recording; of more
// than 61 steps the first 40 and the last 20 are left.
ObjectPath ReadPath(const Event& event, const Constants& constants);

// The collections of a chunk of a JFR file, from these events:
//
//   jdk.GCPhasePause       a collection of the recording: beginning and end of its pause
//   jdk.GarbageCollection  the cause of these pauses, by their gcId; itself a pause if the file has no event of one
//   jdk.GCHeapSummary      used and committed bytes: before and after the pause if the collection has one pause, else
//                          (concurrent collectors) at its own time
//
// Failure:  an event that cannot be read, or lacks a field, is skipped; a missing value is 0: unknown.
class Collections {
 public:
  // Ignores events of other kinds.
  void Add(const Event& event, const Constants& constants);
  // The smallest gcId; nullopt: none.
  std::optional<uint64_t> FirstId() const;
  // Returns states in order of time, without ids; times are since `start_ns`, the start of the recording. `first_id`:
  // of the first collection in the file. Earlier collections are not counted, because no object in the file survived
  // them.
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
