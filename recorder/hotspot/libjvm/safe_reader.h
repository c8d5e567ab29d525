// Reads words that another thread may be freeing: unmapped memory gives no value instead of a fault.
//
// Containers often refuse process_vm_readv (seccomp), so Probe looks for a way that works here.
//
// Context:  Probe: setup. Word: setup, drain (it may open a pipe). IsReadable: any, one system call.
// Threads:  any.
// Failure:  Word returns nullopt for unmapped memory, and always with Way::kNone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace heaprec::hotspot {

class SafeReader {
 public:
  enum class Way { kProcessVm, kPipe, kNone };

  static SafeReader Probe();

  Way way() const { return way_; }
  // The way, and why not a better one: "process_vm_readv", "a pipe (process_vm_readv: Operation not permitted)".
  std::string Description() const;
  std::optional<uint64_t> Word(const void* address) const;

  // Whether the word at `address`, a multiple of 8, can be loaded now. Needs no probe.
  static bool IsReadable(const void* address);

 private:
  Way way_ = Way::kNone;
  int error_ = 0;  // of process_vm_readv, unless it works
};

}  // namespace heaprec::hotspot
