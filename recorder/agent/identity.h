// Identifies this process: connects a recording with its ring, its boot and its container.
//
// Context:  setup.
// Failure:  none: what cannot be read is empty (random bytes fall back to clock and pid).
#pragma once

#include <string>

#include "format/model/model.h"

namespace heaprec::agent {

format::RecordingId NewRecordingId();
std::string BootId();       // contents of /proc/sys/kernel/random/boot_id
std::string ContainerId();  // 64 hex digits from /proc/self/cgroup or mountinfo, as container runtimes name them
inline constexpr char kRingFolder[] = "/dev/shm";
std::string DefaultRingPath(const format::RecordingId& id);  // in kRingFolder

}  // namespace heaprec::agent
