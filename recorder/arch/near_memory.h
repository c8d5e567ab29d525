// Memory close enough to code for a direct jump.
//
// Units:    addresses and bytes of this process.
// Context:  setup.
// Threads:  any; two callers never get the same page.
// Failure:  nullopt or an Error; nothing stays mapped then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"

namespace heaprec::arch {

struct MemoryRegion {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  int protection = 0;  // PROT_* bits
};

// The mappings of this process, ascending; empty if /proc is not mounted.
std::vector<MemoryRegion> MemoryRegions();

// The mapping that holds `address`.
std::optional<MemoryRegion> RegionOf(uintptr_t address);

// One writable page that begins at most `reach` away from `code`.
format::Result<uint8_t*> MapPageNear(uintptr_t code, uintptr_t reach);

// The kernel's page size: 4096 on x86-64, up to 65536 on aarch64.
size_t PageSize();

}  // namespace heaprec::arch
