#include "recorder/unwind/module_lookup.h"

#include <dlfcn.h>
#include <elf.h>

#include <bit>
#include <cstring>

#include "base/elf_file.h"
#include "base/memory.h"
#include "recorder/unwind/module_snapshot.h"

namespace heaprec::native {
namespace {

// Looked up with dlsym, because a direct reference would prevent the library from loading with a glibc before 2.35.
// dlsym takes the loader's lock, so a constructor does this before any hook runs; until then there are no stacks.
using FindObject = int(void*, dl_find_object*);
constinit FindObject* find_object = nullptr;
constinit ModuleSnapshot snapshot;

__attribute__((constructor(101))) void Prepare() {
  find_object = reinterpret_cast<FindObject*>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

struct Found {
  ModuleUnwindInfo module;
  uintptr_t bias = 0;
  const char* name = nullptr;  // null: must be read from /proc
};

bool Find(uintptr_t address, Found* into) {
  if (find_object == nullptr) {
    ModuleSnapshot::Module module;
    if (!snapshot.Find(address, &module)) return false;
    *into = {{module.begin, module.end, std::bit_cast<const uint8_t*>(module.index)}, module.bias};
    return true;
  }
  dl_find_object found;
  if (find_object(std::bit_cast<void*>(address), &found) != 0) return false;
  *into = {{std::bit_cast<uintptr_t>(found.dlfo_map_start), std::bit_cast<uintptr_t>(found.dlfo_map_end),
            static_cast<const uint8_t*>(found.dlfo_eh_frame)},
           found.dlfo_link_map->l_addr,
           found.dlfo_link_map->l_name};
  return true;
}

}  // namespace

bool LookUpModule(uintptr_t address, ModuleUnwindInfo* into) {
  Found found;
  if (!Find(address, &found)) return false;
  *into = found.module;
  return true;
}

bool DescribeModuleAt(uintptr_t address, dl_phdr_info* into, std::span<char> name) {
  Found found;
  if (!Find(address, &found)) return false;
  const auto [begin, end, index] = found.module;
  ElfW(Ehdr) header;
  if (end - begin < sizeof header || !IsReadable(begin)) return false;
  std::memcpy(&header, std::bit_cast<const void*>(begin), sizeof header);
  const size_t segments = size_t{header.e_phnum} * sizeof(ElfW(Phdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) || segments == 0 ||
      header.e_phoff > end - begin || segments > end - begin - header.e_phoff) {
    return false;
  }
  if (found.name == nullptr) MappedFileAt(begin, name);
  *into = {};
  into->dlpi_addr = found.bias;
  into->dlpi_name = found.name != nullptr ? found.name : name.data();
  into->dlpi_phdr = std::bit_cast<const ElfW(Phdr)*>(begin + header.e_phoff);
  into->dlpi_phnum = header.e_phnum;
  return HasReadableSegments(*into);
}

void RenewModules() {
  if (find_object == nullptr) snapshot.Renew();
}

bool HasReadableSegments(const dl_phdr_info& info) {
  const auto begin = std::bit_cast<uintptr_t>(info.dlpi_phdr);
  return info.dlpi_phnum > 0 && IsReadable(begin) && IsReadable(begin + info.dlpi_phnum * sizeof(ElfW(Phdr)) - 1);
}

AddressRange MappedRange(const dl_phdr_info& info) {
  AddressRange range;
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    range = {std::min(range.begin, begin), std::max(range.end, begin + segment.p_memsz)};
  }
  return range;
}

std::span<const char> BuildIdOf(const dl_phdr_info& info) {
  for (const ElfW(Phdr) & segment : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_NOTE || segment.p_memsz == 0) continue;
    if (!IsReadable(begin) || !IsReadable(begin + segment.p_memsz - 1)) continue;
    const auto id = BuildIdIn({std::bit_cast<const char*>(begin), segment.p_memsz});
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace heaprec::native
