// Reads the CPU time of this process, and of its threads that collect garbage.
//
// The JVM's names of its threads are known to the kernel. They are read rarely, because that reads a file for each
// thread; the clocks of the collector's threads are read each time.
//
// Units:    ns.
// Context:  drain.
// Threads:  one.
// Failure:  what the kernel does not report reads as 0. A thread's last time still counts after it has ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heaprec::sources {

struct CpuTimes {
  uint64_t process_ns = 0;    // since the start of the process
  uint64_t collector_ns = 0;  // of its threads that collect; never falls
};

class CpuMeter {
 public:
  CpuTimes Read(uint64_t now_ns);

  // Whether HotSpot gives this name, as the kernel has it (15 bytes), to a thread that collects.
  static bool IsCollector(std::string_view thread_name);

 private:
  struct Thread {
    pid_t id = 0;
    uint64_t cpu_ns = 0;
    bool has_ended = false;
  };
  void FindCollectors();

  std::vector<Thread> collectors_;
  uint64_t next_search_ns_ = 0, search_period_ns_ = 0;
};

}  // namespace heaprec::sources
