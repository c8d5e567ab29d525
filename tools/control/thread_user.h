// During its lifetime this thread has the identity, groups and rights of another user. The C library's functions would
// change all threads.
//
// Threads:  used by the thread that created it.
// Failure:  is_active() is false, with errno; nothing has changed then. If the kernel refuses only the supplementary
//           groups (no CAP_SETGID, a user namespace that denies setgroups), the thread keeps its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace heaprec::tools {

// The identity that the kernel checks when a process accesses files.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // supplementary
};

class ThreadUser {
 public:
  enum class Scope : uint8_t {
    kFiles,  // created files belong to that user; root loses only its rights over files
    // the effective user, whom a socket reports to the other end; the real one, possibly root, does not change
    kSockets,
  };
  explicit ThreadUser(const Credentials& user, Scope scope = Scope::kFiles);
  ~ThreadUser();
  ThreadUser(const ThreadUser&) = delete;
  ThreadUser& operator=(const ThreadUser&) = delete;
  // Also true without a change, if the thread already had this identity.
  bool is_active() const { return is_active_; }

 private:
  void Restore();

  const Scope scope_;
  Credentials before_;
  bool has_other_groups_ = false, is_active_ = false;
};

}  // namespace heaprec::tools
