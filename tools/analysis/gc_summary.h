// What the states of a recording add up to: pauses, the heap after them, the largest process.
//
// Pauses that only mark free nothing. Treated as such: all pauses of ZGC and Shenandoah, pauses that the JVM does not
// count as a collection (G1's remark), and pauses that free nothing (G1's cleanup).
//
// Units:    bytes, ns. 0: not known.
// Threads:  one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "format/reader/reader.h"

namespace heaprec::tools {

class GcSummary {
 public:
  GcSummary() = default;
  explicit GcSummary(const format::FileHeader& header);

  void Add(const format::Block& block);

  bool empty() const { return states_ == 0; }
  uint64_t pauses = 0, paused_ns = 0;
  uint64_t longest_pause_ns = 0;           // of those that were emitted, not only counted
  bool counted_only = false;               // some pauses the JVM only counts: they have no begin and no heap before
  bool unfinished = false;                 // the last one began and never ended
  std::map<std::string, uint64_t> causes;  // pauses by cause, as HotSpot spells it
  uint64_t first_after = 0, last_after = 0, most_after = 0;  // heap used when a collection had reclaimed
  uint64_t most_used = 0, most_committed = 0, most_rss = 0, most_threads = 0;

 private:
  // Whether the pause that ended then has reclaimed what is dead.
  bool HasReclaimed(const format::ProcessState& ended);

  bool is_concurrent_ = false;
  uint64_t states_ = 0, collections_ = 0;
  uint64_t begun_used_ = 0;  // before the current pause; 0: not known
  uint64_t ended_ns_ = 0;    // the last pause
};

}  // namespace heaprec::tools
