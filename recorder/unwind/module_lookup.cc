#include "recorder/unwind/module_lookup.h"

#include <dlfcn.h>
#include <elf.h>

#include <bit>
#include <cstring>

#include "recorder/unwind/readable.h"

namespace heaprec::native {
namespace {

bool Find(uintptr_t address, dl_find_object* into) { return _dl_find_object(std::bit_cast<void*>(address), into) == 0; }

}  // namespace

bool FindModuleAt(uintptr_t address, ModuleAt* into) {
  dl_find_object found;
  if (!Find(address, &found)) return false;
  *into = {std::bit_cast<uintptr_t>(found.dlfo_map_start), std::bit_cast<uintptr_t>(found.dlfo_map_end),
           static_cast<const uint8_t*>(found.dlfo_eh_frame)};
  return true;
}

bool DescribeModuleAt(uintptr_t address, dl_phdr_info* into) {
  dl_find_object found;
  if (!Find(address, &found)) return false;
  const auto begin = std::bit_cast<uintptr_t>(found.dlfo_map_start), end = std::bit_cast<uintptr_t>(found.dlfo_map_end);
  ElfW(Ehdr) header;
  if (end - begin < sizeof header || !IsReadable(begin)) return false;
  std::memcpy(&header, found.dlfo_map_start, sizeof header);
  const size_t segments = size_t{header.e_phnum} * sizeof(ElfW(Phdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) || segments == 0 ||
      header.e_phoff > end - begin || segments > end - begin - header.e_phoff) {
    return false;
  }
  *into = {};
  into->dlpi_addr = found.dlfo_link_map->l_addr;
  into->dlpi_name = found.dlfo_link_map->l_name;
  into->dlpi_phdr = std::bit_cast<const ElfW(Phdr)*>(begin + header.e_phoff);
  into->dlpi_phnum = header.e_phnum;
  return HasReadableSegments(*into);
}

bool HasReadableSegments(const dl_phdr_info& info) {
  const auto begin = std::bit_cast<uintptr_t>(info.dlpi_phdr);
  return info.dlpi_phnum > 0 && IsReadable(begin) && IsReadable(begin + info.dlpi_phnum * sizeof(ElfW(Phdr)) - 1);
}

}  // namespace heaprec::native
