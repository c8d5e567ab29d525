// Runs the call frame instructions of a function up to one of its addresses (DWARF 5, section 6.4; .eh_frame of the
// Linux Standard Base).
//
// Context:  any: no lock, no heap, no call.
// Failure:  CfiRow::Base::kUnknown for instructions that it does not support, and for tables that leave their module.
#pragma once

#include <cstdint>

#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {

struct ModuleRange {
  uintptr_t begin = 0, end = 0;
};

// `description`: the address of a function's description entry (FDE).
CfiRow ExecuteCfi(ModuleRange module, uintptr_t description, uintptr_t pc);

}  // namespace heaprec::native
