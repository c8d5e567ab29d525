// A folder of a random name in a process's files, for what the two have to exchange.
//
// It is 0700 and belongs to the process's user, and everything in it is done as that user, below the folder that was
// opened once: whatever that user, or its container, puts in the way meanwhile, nothing else is touched. Nothing is
// followed, no FIFO, socket or device is opened. The folder and what is in it go with this object.
//
// Failure:  Make: an Error with the system's reason alone. Open: none is open; errno says why.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

class PrivateFolder {
 public:
  // `parent`: opened below the process's root; `parent_path`: as the process sees it.
  static Result<std::unique_ptr<PrivateFolder>> Make(const Process& process, const Descriptor& parent,
                                                     const std::string& parent_path);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }  // as the process sees it
  std::vector<std::string> Names() const;
  // A plain file, to be read.
  Descriptor Open(const std::string& name) const;
  // A new file, to be written.
  Descriptor Create(const std::string& name) const;
  // The target of a link, or nothing.
  std::string LinkTarget(const std::string& name) const;
  void Remove(const std::string& name) const;
  // Leaves the folder where it is.
  void Keep() { is_kept_ = true; }

 private:
  PrivateFolder(const Process& process, Descriptor parent, const std::string& parent_path);

  const Credentials user_;
  const Descriptor parent_;
  const std::string name_, path_;
  Descriptor folder_;
  bool is_kept_ = false;
};

// Whether it is the path of a file in a folder that this class has made.
bool IsInPrivateFolder(const std::string& path);

// Whether the process, with its user's rights, can open that file of ours to read it; create one in that folder.
bool CanRead(const Process& process, const std::string& file);
bool CanWriteIn(const Process& process, const std::string& folder);

// For JVMs of another user, or with other files (containers, chroot): where they can load the agent, and write their
// recording. Places are tried in this order: /tmp, /var/tmp, /dev/shm, the JVM's working folder. The error has the
// reason for each place.
//
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
