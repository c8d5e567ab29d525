#include "recorder/arch/detour.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "recorder/arch/code_patch.h"

namespace heaprec::arch {
namespace {

std::mutex& Serial() {
  static auto* const mutex = new std::mutex;  // never destroyed: agents are stopped while the process exits
  return *mutex;
}

}  // namespace

Result<Detour> Detour::Prepare(uintptr_t target, const void* replacement) {
  const std::lock_guard lock(Serial());
  const auto mapping = RegionOf(target);
  if (!mapping || (mapping->protection & (PROT_READ | PROT_EXEC)) != (PROT_READ | PROT_EXEC))
    return Error{"the function is not in readable code"};
  Detour detour;
  detour.protection_ = mapping->protection;
  auto built = detour.BuildThunk(target, mapping->end - target, replacement);
  if (built && mprotect(detour.thunk_, PageSize(), PROT_READ | PROT_EXEC) != 0)
    built = Error{std::string("executable memory is refused: ") + strerror(errno)};
  if (built) return detour;
  if (detour.thunk_ != nullptr) munmap(detour.thunk_, PageSize());  // no thread has seen it
  return built.error();
}

Status Detour::Install(GracePeriod grace) {
  const std::lock_guard lock(Serial());
  if (installed_) return {};
  return Replace(before_, jump_, thunk_, grace);
}

Status Detour::Remove() {
  const std::lock_guard lock(Serial());
  if (!installed_) return {};
  // Needs no grace period: the jump is one instruction, so no thread can be inside it.
  return Replace(jump_, before_, original_, {});
}

}  // namespace heaprec::arch
