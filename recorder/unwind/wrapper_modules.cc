#include "recorder/unwind/wrapper_modules.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "recorder/unwind/module_lookup.h"

namespace heaprec::native {
namespace {

constexpr std::array<std::string_view, 4> kNames{"libc.so.", "libstdc++.so.", "libgcc_s.so.", "libheaprec-native.so"};

struct Range {
  uintptr_t begin = 0, end = 0;
};
Range ranges[2 * kNames.size()];
size_t count = 0;

int Note(dl_phdr_info* info, size_t, void*) {
  std::string_view name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  name.remove_prefix(name.rfind('/') + 1);
  const bool is_one = std::ranges::any_of(kNames, [&](std::string_view one) { return name.starts_with(one); });
  if (!is_one || !HasReadableSegments(*info) || count == std::size(ranges)) return 0;
  Range range{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    range.begin = std::min<uintptr_t>(range.begin, info->dlpi_addr + segment.p_vaddr);
    range.end = std::max<uintptr_t>(range.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  ranges[count++] = range;
  return 0;
}

}  // namespace

void FindWrapperModules() { dl_iterate_phdr(Note, nullptr); }

bool IsAllocatorWrapper(uintptr_t pc) {
  return std::any_of(ranges, ranges + count, [pc](const Range& range) { return range.begin <= pc && pc < range.end; });
}

}  // namespace heaprec::native
