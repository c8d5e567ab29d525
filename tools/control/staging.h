// Puts the agent where a JVM can load it, and finds a place where it can write its recording: for JVMs of another user,
// or with other files (containers, chroot).
//
// Places are tried in this order: /tmp, /var/tmp, /dev/shm, the JVM's working folder.
//
// Failure:  a sentence for the user, with the reason for each place.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "tools/control/private_folder.h"
#include "tools/control/process.h"

namespace heaprec::tools {

// Whether the process, with its user's rights, can open that file of ours to read it; create one in that folder.
bool CanRead(const Process& process, const std::string& file);
bool CanWriteIn(const Process& process, const std::string& folder);

// A folder with a copy of `agent`, under the name libheaprec.so, which was read back through the process's own root and
// is the same byte for byte. Places that are mounted noexec, or have no room, are passed over.
Result<std::unique_ptr<PrivateFolder>> StageAgent(const Process& process, const std::string& agent);

// A folder in which the process can write.
Result<std::unique_ptr<PrivateFolder>> StageOutput(const Process& process);

// A small file of ours into such a folder.
Status StageFile(const PrivateFolder& folder, const std::string& from, const std::string& name);

// Why the agent cannot be loaded into this process, from the C library that it uses; nullopt: it can, or nobody knows.
std::optional<std::string> WhyNoAgent(const Process& process);

}  // namespace heaprec::tools
