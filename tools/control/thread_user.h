// While it lives, this thread is another user, with that user's groups: it has neither more rights than that user, nor
// fewer. The C library's functions would change all threads.
//
// Threads:  the one that made it.
// Failure:  is_active() is false and errno says why; nothing is changed then. Where the kernel refuses only the
//           supplementary groups (no CAP_SETGID, a user namespace that denies setgroups), the thread keeps its own.
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
    kFiles,    // what it creates is that user's; root loses its rights over files meanwhile, and only those
    kSockets,  // the effective user, whom a socket tells to the other end; the real one, who may be root again, stays
  };
  explicit ThreadUser(const Credentials& user, Scope scope = Scope::kFiles);
  ~ThreadUser();
  ThreadUser(const ThreadUser&) = delete;
  ThreadUser& operator=(const ThreadUser&) = delete;
  // Without a change, too, if the thread was that user.
  bool is_active() const { return is_active_; }

 private:
  void Restore();

  const Scope scope_;
  Credentials before_;
  bool has_other_groups_ = false, is_active_ = false;
};

}  // namespace heaprec::tools
