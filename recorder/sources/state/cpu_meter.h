// Reads the CPU time of this process, and of those of its threads that collect garbage.
//
// The JVM gives its threads names that the kernel knows: they are looked up rarely, because that reads a file for each
// thread; the clocks of those that were found are read each time.
//
// Units:    ns.
// Context:  drain.
// Threads:  one.
// Failure:  what the kernel does not tell reads as 0. A thread's last time counts on after it has ended.
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
