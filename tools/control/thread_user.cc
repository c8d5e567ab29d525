#include "tools/control/thread_user.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace heaprec::tools {
namespace {

using Scope = ThreadUser::Scope;

// setfsuid and setfsgid do not return whether they have succeeded; another call returns the current id.
constexpr auto kNone = static_cast<uid_t>(-1);

uid_t UserIn(Scope scope) { return scope == Scope::kFiles ? static_cast<uid_t>(setfsuid(kNone)) : geteuid(); }
gid_t GroupIn(Scope scope) { return scope == Scope::kFiles ? static_cast<gid_t>(setfsgid(kNone)) : getegid(); }

bool SetUser(Scope scope, uid_t user) {
  scope == Scope::kFiles ? setfsuid(user) : syscall(SYS_setresuid, -1, user, -1);
  return UserIn(scope) == user;
}

bool SetGroup(Scope scope, gid_t group) {
  scope == Scope::kFiles ? setfsgid(group) : syscall(SYS_setresgid, -1, group, -1);
  return GroupIn(scope) == group;
}

bool SetGroups(const std::vector<gid_t>& groups) { return syscall(SYS_setgroups, groups.size(), groups.data()) == 0; }

}  // namespace

ThreadUser::ThreadUser(const Credentials& user, Scope scope)
    : scope_(scope), before_{UserIn(scope), GroupIn(scope), {}} {
  is_active_ = user.uid == before_.uid;
  if (is_active_) return;
  if (const int count = getgroups(0, nullptr); count >= 0) {
    before_.groups.resize(static_cast<size_t>(count));
    has_other_groups_ = getgroups(count, before_.groups.data()) == count && SetGroups(user.groups);
  }
  is_active_ = SetGroup(scope, user.gid) && SetUser(scope, user.uid);
  if (is_active_) return;
  Restore();
  errno = EPERM;
}

ThreadUser::~ThreadUser() {
  if (is_active_) Restore();
}

// Restores the user first, who may have the right to set groups.
void ThreadUser::Restore() {
  SetUser(scope_, before_.uid);
  SetGroup(scope_, before_.gid);
  if (has_other_groups_) SetGroups(before_.groups);
}

}  // namespace heaprec::tools
