// While it lives, this thread has no supplementary groups but those of `user`: neither more rights than that user has,
// nor fewer. The C library's setgroups would change all threads.
//
// Threads:  the one that made it.
// Failure:  where the kernel refuses (no CAP_SETGID, a user namespace that denies setgroups), nothing is changed.
#pragma once

#include <sys/types.h>

#include <vector>

namespace heaprec::tools {

// The identity that the kernel checks when a process accesses files.
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

 private:
  std::vector<gid_t> before_;
  bool is_changed_ = false;
};

}  // namespace heaprec::tools
