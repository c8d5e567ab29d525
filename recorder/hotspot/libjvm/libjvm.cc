#include "recorder/hotspot/libjvm/libjvm.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "base/elf_file.h"

namespace heaprec::hotspot {
namespace {

bool IsLibJvm(const char* path) {
  const std::string_view name(path != nullptr ? path : "");
  constexpr std::string_view kSuffix = "/libjvm.so";
  return name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}

int Visit(dl_phdr_info* info, size_t /*size*/, void* out) {
  if (!IsLibJvm(info->dlpi_name)) return 0;
  LibJvm libjvm;
  libjvm.path = info->dlpi_name;
  libjvm.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && libjvm.text_begin == 0) {
      libjvm.text_begin = begin;
      libjvm.text_end = begin + segment.p_memsz;
    } else if (segment.p_type == PT_GNU_RELRO) {
      libjvm.constants_begin = begin;
      libjvm.constants_end = begin + segment.p_memsz;
    } else if (segment.p_type == PT_NOTE && libjvm.build_id.empty()) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): load bias plus offset
      libjvm.build_id = BuildIdOfNotes({reinterpret_cast<const char*>(begin), segment.p_filesz});
    }
  }
  *static_cast<std::optional<LibJvm>*>(out) = libjvm;
  return 1;
}

}  // namespace

format::Result<LibJvm> LibJvm::Locate() {
  std::optional<LibJvm> found;
  dl_iterate_phdr(Visit, &found);
  if (!found) return format::Error{"no libjvm.so is loaded in this process"};
  if (found->text_begin == 0) return format::Error{found->path + ": no executable segment"};
  return *found;
}

}  // namespace heaprec::hotspot
