// Is the process that writes a recording still alive? Nothing is sent to it.
//
// A process id alone proves nothing: ids are reused, and a container has its own. So it counts only on the same boot,
// in the same container, if it is no zombie and was started before the recording was. In another container the ring's
// heartbeat decides.
#pragma once

#include <cstdint>
#include <optional>

#include "format/model/model.h"

namespace heaprec::tools {

// `heartbeat_ns`: CLOCK_MONOTONIC of the drain's last tick, from a ring that says it is running.
bool WriterIsAlive(const format::FileHeader& header, std::optional<uint64_t> heartbeat_ns);

// Seconds by which the wall clock of this machine has moved against CLOCK_MONOTONIC since the recording started;
// nullopt if the machine was started since, or is another.
std::optional<double> WallClockMoved(const format::FileHeader& header);

}  // namespace heaprec::tools
