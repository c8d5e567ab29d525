// Opens files below a root that somebody else controls, such as "/proc/PID/root" of a process in a container. Whatever
// symbolic links are there, or are put there meanwhile, no path leads out of that root.
//
// `root` empty stands for our own root; paths are then resolved as usual. Other paths are absolute, as the process
// sees them.
//
// Threads:  any.
// Failure:  none is open; errno says why. ELOOP: the path has a symbolic link, and the kernel has no openat2 (before
//           5.6, or forbidden by seccomp), without which links cannot be tracked safely.
#pragma once

#include <sys/types.h>

#include <string>

#include "tools/input/descriptor.h"

namespace heaprec::tools {

// As open(2) with these flags, O_CLOEXEC added.
Descriptor OpenBelow(const std::string& root, const std::string& path, int flags);

// For reading. A FIFO, a socket or a device is not opened at all: EINVAL.
Descriptor OpenRegularBelow(const std::string& root, const std::string& path);

// The same, of a file in an open folder; a link is not followed: EINVAL.
Descriptor OpenRegularIn(const Descriptor& folder, const std::string& name);

// The same, of a file of that owner; a last component that is a symbolic link is not tracked: EINVAL. EPERM: it is
// somebody else's.
Descriptor OpenRegularOf(uid_t owner, const std::string& path);

}  // namespace heaprec::tools
