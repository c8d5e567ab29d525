// All that is known of a process' end (what `heaprec why` and the report page show), what the ends of several have in
// common, and what to do next.
//
// Failure:  none: what is missing stays empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/input/recording.h"
#include "tools/query/live/live_query.h"
#include "tools/query/why/changes.h"
#include "tools/query/why/end_facts.h"
#include "tools/query/why/owners.h"
#include "tools/query/why/verdict.h"

namespace heaprec::tools {

// What to do after a process has ended: commands that show more, and settings with numbers.
//
// Failure:  none.

// A command or a setting, and what it is for.
struct NextStep {
  std::string text, reason;
};
std::vector<NextStep> NextStepsOf(const EndFacts& facts, const EndVerdict& verdict,
                                  const std::vector<GrownOwner>& grown, const std::vector<LiveSite>& sites,
                                  const std::string& file);

struct Explanation {
  std::string file;
  bool is_alone = false;  // the file contains no other recording, so that it can be read again
  EndFacts facts;
  EndVerdict verdict;
  std::vector<GrownOwner> grown;
  std::vector<LiveSite> sites;   // leaks first
  std::vector<LivePart> filled;  // what was live when the heap was full for the last time
  std::vector<NextStep> advice;
  Changes changes;  // empty: not looked for
};

// Reads the recording to its end, and its file again for the sites. `file`: as given, which "-" is, too. `cgroup`: as
// in ReadSurvivor.
Explanation ExplainEnd(Recording* recording, const std::string& file, bool is_alone, const std::string& cgroup);
// Reads the file again.
void AddChanges(Explanation* into);

// What the ends of several processes have in common: those of a container that is restarted again and again.
//
// Units:    bytes; ns since 1970; ns since the start of a recording.
// Failure:  none.

struct ProcessEnd {
  std::string file;
  uint64_t end_epoch_ns = 0, lived_ns = 0;
  EndVerdict verdict;
  std::string cause;                                 // CauseOf
  std::vector<GrownOwner> grown;                     // the fastest first
  std::string leak;                                  // the fastest growing site; empty: none
  std::optional<uint64_t> heap_limit, memory_limit;  // nullopt: not known, or none

  bool is_over() const;  // whether the recording has the end of the process
};

ProcessEnd EndOf(const Explanation& one);

// The most frequent value among the ends.
template <typename T>
struct Shared {
  T value{};
  size_t ends = 0;  // that have it; 0: there is none
};

struct CrashLoop {
  size_t ends = 0;  // that are over; the others count nowhere
  Shared<std::string> cause, grown, leak;
  Shared<uint64_t> heap_limit, memory_limit;
  std::optional<Estimate> grown_per_second;                // of the owner `grown`: median, lowest, highest
  uint64_t lived_ns = 0, shortest_ns = 0, longest_ns = 0;  // median and range
  const ProcessEnd* typical = nullptr;                     // the latest with this cause
};

// `ends`: in order of time; must outlive the result.
CrashLoop CrashLoopOf(const std::vector<ProcessEnd>& ends);

}  // namespace heaprec::tools
