#include "tools/control/thread_groups.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace heaprec::tools {
namespace {

bool Set(const std::vector<gid_t>& groups) { return syscall(SYS_setgroups, groups.size(), groups.data()) == 0; }

}  // namespace

ThreadGroups::ThreadGroups(const Credentials& user) {
  const int count = getgroups(0, nullptr);
  if (count < 0) return;
  before_.resize(static_cast<size_t>(count));
  if (getgroups(count, before_.data()) != count) return;
  is_changed_ = Set(user.groups);
}

ThreadGroups::~ThreadGroups() {
  if (is_changed_) Set(before_);
}

}  // namespace heaprec::tools
