#include "tools/control/filesystem_user.h"

#include <sys/fsuid.h>

#include <cerrno>

namespace heaprec::tools {
namespace {

// Neither call says whether it worked; the next one says what is in force.
constexpr auto kNone = static_cast<uid_t>(-1);

void Set(uid_t user, gid_t group) {
  setfsgid(group);
  setfsuid(user);
}

}  // namespace

FilesystemUser::FilesystemUser(const Credentials& user)
    : user_before_(static_cast<uid_t>(setfsuid(kNone))), group_before_(static_cast<gid_t>(setfsgid(kNone))) {
  if (user.uid == user_before_) {
    is_active_ = true;
    return;
  }
  groups_.emplace(user);
  Set(user.uid, user.gid);
  is_active_ = static_cast<uid_t>(setfsuid(kNone)) == user.uid && static_cast<gid_t>(setfsgid(kNone)) == user.gid;
  if (is_active_) return;
  Set(user_before_, group_before_);
  groups_.reset();
  errno = EPERM;
}

FilesystemUser::~FilesystemUser() {
  if (is_active_) Set(user_before_, group_before_);
}

}  // namespace heaprec::tools
