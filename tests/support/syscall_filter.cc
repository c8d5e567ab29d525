// Runs a program that may not do what a hardened system forbids:
//   refuse SYSTEM_CALL|writable-code|sealed-slots PROGRAM ARGUMENT...
//
// SYSTEM_CALL:    one of kSystemCalls fails with EPERM, as under a container's seccomp profile.
// writable-code:  mprotect(..., PROT_READ | PROT_WRITE | PROT_EXEC) fails with EACCES, as under SELinux. What a JVM
//                 maps for itself is not touched.
// sealed-slots:   mprotect(..., one page, PROT_READ | PROT_WRITE) fails with EPERM, as where the loader has sealed what
//                 it bound (mseal). Stacks of threads and the heap grow by more.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace {

constexpr unsigned kAllow = SECCOMP_RET_ALLOW;
constexpr unsigned Refuse(unsigned error) { return SECCOMP_RET_ERRNO | error; }

bool Forbid(sock_filter* filter, size_t size) {
  const sock_fprog program{static_cast<unsigned short>(size), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

struct SystemCall {
  const char* name;
  unsigned number;
};
constexpr SystemCall kSystemCalls[] = {{"close_range", SYS_close_range},           {"membarrier", SYS_membarrier},
                                       {"memfd_create", SYS_memfd_create},         {"openat2", SYS_openat2},
                                       {"perf_event_open", SYS_perf_event_open},   {"pidfd_open", SYS_pidfd_open},
                                       {"process_vm_readv", SYS_process_vm_readv}, {"ptrace", SYS_ptrace}};

bool ForbidSystemCall(const char* name) {
  const SystemCall* const call = std::ranges::find_if(
      kSystemCalls, [name](const SystemCall& candidate) { return strcmp(candidate.name, name) == 0; });
  if (call == std::end(kSystemCalls)) return false;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, Refuse(EPERM)),
      BPF_STMT(BPF_RET | BPF_K, kAllow),
  };
  return Forbid(filter, sizeof filter / sizeof *filter);
}

bool ForbidWritableCode() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, Refuse(EACCES)),
      BPF_STMT(BPF_RET | BPF_K, kAllow),
  };
  return Forbid(filter, sizeof filter / sizeof *filter);
}

bool ForbidWritableSlots() {
  constexpr unsigned kPageBytes = 4096;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kPageBytes, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_READ | PROT_WRITE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, Refuse(EPERM)),
      BPF_STMT(BPF_RET | BPF_K, kAllow),
  };
  return Forbid(filter, sizeof filter / sizeof *filter);
}

}  // namespace

int main(int count, char** arguments) {
  const char* const what = count > 2 ? arguments[1] : "";
  const bool forbidden = strcmp(what, "writable-code") == 0  ? ForbidWritableCode()
                         : strcmp(what, "sealed-slots") == 0 ? ForbidWritableSlots()
                                                             : ForbidSystemCall(what);
  if (forbidden) execvp(arguments[2], arguments + 2);
  std::fprintf(stderr, "refuse SYSTEM_CALL|writable-code|sealed-slots PROGRAM ARGUMENT...: %s\n", strerror(errno));
  return 127;
}
