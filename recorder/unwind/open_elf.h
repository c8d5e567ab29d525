// Opens an ELF file in a process whose program may close descriptors that it did not open.
//
// Context:  setup, drain (it allocates).
// Failure:  an Error with the path and the reason.
#pragma once

#include <string>

#include "base/elf_file.h"
#include "base/result.h"

namespace heaprec::native {

format::Result<ElfFile> OpenElf(const std::string& path);

}  // namespace heaprec::native
