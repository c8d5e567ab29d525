// While it lives, this thread works with files as another user: what it creates is that user's, and it can open and
// remove no more than that user can. Root loses its rights over files meanwhile, and only those.
//
// Threads:  the one that made it.
// Failure:  is_active() is false and errno says why; nothing is changed then. Its own user it is without a change.
#pragma once

#include <sys/types.h>

#include <optional>

#include "tools/control/thread_groups.h"

namespace heaprec::tools {

class FilesystemUser {
 public:
  explicit FilesystemUser(const Credentials& user);
  ~FilesystemUser();
  FilesystemUser(const FilesystemUser&) = delete;
  FilesystemUser& operator=(const FilesystemUser&) = delete;
  bool is_active() const { return is_active_; }

 private:
  const uid_t user_before_;
  const gid_t group_before_;
  std::optional<ThreadGroups> groups_;  // none: nothing is changed
  bool is_active_ = false;
};

}  // namespace heaprec::tools
