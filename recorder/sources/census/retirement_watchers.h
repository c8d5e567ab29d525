// The number of users that walk TLABs before they are retired: probes, and a census. If it is 0, a retirement costs a
// load and a branch.
#pragma once

#include <atomic>
#include <cstdint>

namespace heaprec::sources {

inline std::atomic<uint32_t> retirement_watchers{0};

}  // namespace heaprec::sources
