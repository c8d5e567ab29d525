// How much CPU time a process had while it was recorded, in all or within a part of that time.
//
//   CpuTimeline cpu;
//   for (block) cpu.Add(block);
//   const auto used = cpu.Between(from_ns, to_ns);
//
// The recorder reads the CPU time about once a second and at the end. Between two looks it is taken to grow evenly, and
// beyond the first and the last of them (the end of a recording that was cut off) as it did on average.
//
// Units:    ns since the start of the recording; seconds of CPU time.
// Threads:  one.
// Failure:  nothing without two looks at different times.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::tools {

struct CpuSeconds {
  double process = 0;
  double collector = 0;  // of it, by threads that collect; 0: not known
};

class CpuTimeline {
 public:
  void Add(const format::Block& block);
  std::optional<CpuSeconds> Between(uint64_t from_ns, uint64_t to_ns) const;

 private:
  struct Look {
    uint64_t time_ns, process_ns, collector_ns;
  };
  CpuSeconds At(uint64_t time_ns) const;

  std::vector<Look> looks_;  // in order of time
};

}  // namespace heaprec::tools
