// A folder with a random name in a process's files, for exchanging files with it.
//
// It is 0700 and belongs to the process's user, and all operations run as that user, below a folder that is opened only
// once. So nothing else is touched, whatever that user or its container changes meanwhile. No link is followed, and no
// FIFO, socket or device is opened. The destructor removes the folder and its contents.
//
// Failure:  Make: an Error with the system's reason only. Open: returns no descriptor, with errno.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/control/process.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {

class PrivateFolder {
 public:
  // `parent`: opened below the process's root; `parent_path`: its path inside the process.
  static Result<std::unique_ptr<PrivateFolder>> Make(const Process& process, const Descriptor& parent,
                                                     const std::string& parent_path);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }  // path inside the process
  std::vector<std::string> Names() const;
  // Opens a regular file for reading.
  Descriptor Open(const std::string& name) const;
  // Creates a file for writing.
  Descriptor Create(const std::string& name) const;
  // Returns the target of a link; empty: it is not a link.
  std::string LinkTarget(const std::string& name) const;
  void Remove(const std::string& name) const;
  // The destructor then does not remove the folder.
  void Keep() { is_kept_ = true; }

 private:
  PrivateFolder(const Process& process, Descriptor parent, const std::string& parent_path);

  const Credentials user_;
  const Descriptor parent_;
  const std::string name_, path_;
  Descriptor folder_;
  bool is_kept_ = false;
};

// Whether it is the path of a file in a folder created by this class.
bool IsInPrivateFolder(const std::string& path);

// Whether the process, with its user's rights, can open our `file` for reading; or create a file in `folder`.
bool CanRead(const Process& process, const std::string& file);
bool CanWriteIn(const Process& process, const std::string& folder);

// For JVMs of another user, or with other files (containers, chroot): finds folders from which they can load the agent,
// and into which they can write their recording. The folders are tried in this order: /tmp, /var/tmp, /dev/shm, the
// JVM's working folder. The error has the reason for each folder.
//
// Returns a folder with a copy of `agent`, named libheaprec.so, which was read back through the process's own root and
// compared. Folders that are mounted noexec, or have no space, are skipped.
Result<std::unique_ptr<PrivateFolder>> StageAgent(const Process& process, const std::string& agent);

// Returns a folder in which the process can write.
Result<std::unique_ptr<PrivateFolder>> StageOutput(const Process& process);

// Copies a small file of ours into such a folder.
Status StageFile(const PrivateFolder& folder, const std::string& from, const std::string& name);

// Returns why the process' C library cannot load the agent; nullopt: it can, or that is unknown.
std::optional<std::string> WhyNoAgent(const Process& process);

}  // namespace heaprec::tools
