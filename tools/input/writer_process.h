// Whether the process that writes a recording is still alive, found without contacting it.
//
// A process id alone is not sufficient: ids are reused, and a container has its own. So it is used only on the same
// boot, in the same container, if the process is not a zombie and was started before the recording. For another
// container the ring's heartbeat is used.
#pragma once

#include <cstdint>
#include <optional>

#include "format/model/model.h"

namespace heaprec::tools {

// `heartbeat_ns`: CLOCK_MONOTONIC of the drain's last tick, from a ring whose state is "running".
bool WriterIsAlive(const format::FileHeader& header, std::optional<uint64_t> heartbeat_ns);

// Returns the seconds by which this machine's wall clock has moved relative to CLOCK_MONOTONIC since the recording
// started; nullopt if the machine was rebooted since, or is another one.
std::optional<double> WallClockMoved(const format::FileHeader& header);

}  // namespace heaprec::tools
