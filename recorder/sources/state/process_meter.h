// What the kernel says of the process: its container's limits and use, the host's memory, its own resident memory,
// descriptors and threads. Items of a snapshot's account.
//
// Units:    as AccountItem; ns of CLOCK_MONOTONIC.
// Context:  drain (files are read). MappingsMeter: the memory thread.
// Threads:  one for each object.
// Failure:  what the kernel or the container does not have is never taken; what it hides is "not known".
// Format:   docs/format/recording.md#account
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/process_account.h"
#include "recorder/hotspot/usage/jvm_meter.h"

namespace heaprec::sources {

// The cgroups of this process, version 1 or 2. Limits of outer cgroups count, too: of each controller the one with the
// smallest limit is reported. Which one that is, is looked up every ten seconds.
class CgroupMeter {
 public:
  // `root`: where "/" is, for tests.
  explicit CgroupMeter(std::string root = {});

  // Of its controller of memory; 0: there is none.
  int version() const { return memory_.version; }
  // The number of the folder that is read for memory, the same in all containers of the host; 0: not known.
  uint64_t inode() const;
  void Read(uint64_t now_ns, format::ProcessAccount* account);

 private:
  struct Controller {
    int version = 0;
    std::string mount, mount_root;  // the mount point, and what of the hierarchy it shows
    std::string folder;             // that is read; empty: there is none
  };
  void FindMounts();
  // The process' own cgroup first, then those around it.
  std::vector<std::string> FoldersOf(const Controller& controller, std::string_view name, std::string_view own) const;
  void Choose();
  void ReadMemory1(format::ProcessAccount* account) const;
  void ReadMemory2(format::ProcessAccount* account) const;
  void ReadThreads(format::ProcessAccount* account) const;
  void ReadCpu(format::ProcessAccount* account) const;

  const std::string root_;
  Controller memory_, pids_, cpu_;
  uint64_t next_choice_ns_ = 0;
};

class ProcessMeter {
 public:
  explicit ProcessMeter(std::string root = {}) : cgroup_(root), root_(std::move(root)) {}

  const CgroupMeter& cgroup() const { return cgroup_; }
  void Read(uint64_t now_ns, format::ProcessAccount* account);

 private:
  void CountDescriptors(uint64_t now_ns, format::ProcessAccount* account);

  CgroupMeter cgroup_;
  const std::string root_;
  uint64_t descriptors_ = 0, next_count_ns_ = 0;
};

// Resident bytes by owner, from the process' mappings. The kernel holds a lock of the process for each mapping while it
// is read, so this is for once a minute.
class MappingsMeter {
 public:
  MappingsMeter(hotspot::JvmMeter::Range heap, hotspot::JvmMeter::Range code, std::string root = {})
      : heap_(heap), code_(code), root_(std::move(root)) {}

  void Read(format::ProcessAccount* account);
  // The bytes that no owner explains so far, direct buffers and metaspace included.
  std::optional<uint64_t> rest() const { return rest_; }

 private:
  void FindStacks();

  const hotspot::JvmMeter::Range heap_, code_;
  const std::string root_;
  std::map<pid_t, uintptr_t> stacks_;  // an address in the stack of each thread
  std::optional<uint64_t> rest_;
};

}  // namespace heaprec::sources
