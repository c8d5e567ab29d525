// While it lives, this thread has no supplementary groups but those of `user`: neither more rights than that user has,
// nor fewer. The C library's setgroups would change all threads.
//
// Threads:  the one that made it.
// Failure:  is_active() is false and errno says why; nothing is changed then. Where the change is refused, it is still
//           active if all groups of this thread are the user's, too.
#pragma once

#include <sys/types.h>

#include <vector>

namespace heaprec::tools {

// With which a process works with files.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary
};

class ThreadGroups {
 public:
  explicit ThreadGroups(const Credentials& user);
  ~ThreadGroups();
  ThreadGroups(const ThreadGroups&) = delete;
  ThreadGroups& operator=(const ThreadGroups&) = delete;
  bool is_active() const { return is_active_; }

 private:
  std::vector<gid_t> before_;
  bool is_changed_ = false, is_active_ = false;
};

}  // namespace heaprec::tools
