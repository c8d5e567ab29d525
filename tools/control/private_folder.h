// A folder of a random name in a process's files, for what the two have to exchange.
//
// It is 0700 and belongs to the process's user, and everything in it is done as that user, below the folder that was
// opened once: whatever that user, or its container, puts in the way meanwhile, nothing else is touched. Nothing is
// followed, no FIFO, socket or device is opened. The folder and what is in it go with this object.
//
// Threads:  one.
// Failure:  Make: an Error with the system's reason alone. Open: none is open; errno says why.
#pragma once

#include <sys/types.h>

#include <memory>
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

}  // namespace heaprec::tools
