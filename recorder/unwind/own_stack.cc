#include "recorder/arch/machine.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

size_t UnwindFromHere(CfiCache* rules, std::span<uintptr_t> into) {
  const arch::Call call = HEAPREC_CALL;
  return Unwind(rules, {call.pc(), call.cfa, call.frame}, into);
}

}  // namespace heaprec::native
