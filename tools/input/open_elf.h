// Opens an ELF file that somebody else may have named: a path to a device or a pipe is not opened at all.
//
// Failure:  an Error with the path and the reason.
#pragma once

#include <string>

#include "base/elf_file.h"
#include "base/result.h"

namespace heaprec::tools {

Result<ElfFile> OpenElf(const std::string& path);

}  // namespace heaprec::tools
